// SPDX-License-Identifier: Apache-2.0
// cp.async as a copy that is done at once, and mbarrier on words of shared memory.

#include <algorithm>
#include <cstring>

#include "emulator/exec/mbarrier.h"
#include "emulator/exec/memory_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::Space;

// The two ends of a cp.async. The source's element_bytes are what is read, the rest is zeros.
struct AsyncCopy {
  MemoryAccess* destination = nullptr;
  MemoryAccess* source = nullptr;
  RowOffset source_bytes = 0;
  bool has_source_bytes = false;
  RowOffset ignore = 0;  // predicate of .ignore_src
  bool has_ignore = false;
};

void tell_hook(const Op* op, WarpContext& warp, const AsyncCopy& copy, std::uint32_t reading,
               const std::uint64_t* from, const std::uint64_t* to) {
  if (!hooked(warp, Space::kGlobal) || reading == 0) return;
  WarpAccess event;
  event.pc = pc_of(warp, op);
  event.mask = reading;
  event.flags = kRead;
  event.size = copy.source->element_bytes;
  event.kind = AccessKind::kAsyncCopy;
  event.space = Space::kGlobal;
  event.addresses = from;
  event.shared_destinations = to;
  warp.worker->launch->config->hook->on_access(warp, event);
}

const Op* copy_async(const Op* op, WarpContext& warp) {
  const auto& copy = *static_cast<const AsyncCopy*>(op->extra);
  const unsigned bytes = copy.destination->element_bytes;
  std::uint64_t from[kLanes], to[kLanes];
  std::byte* sources[kLanes];
  std::byte* targets[kLanes];
  fill_addresses(warp, *copy.source, from);
  fill_addresses(warp, *copy.destination, to);
  const std::uint32_t all = warp.mask;
  std::uint32_t reading = all;
  if (copy.has_ignore) reading &= ~*warp.source<std::uint32_t>(copy.ignore);
  if (copy.has_source_bytes) {
    const auto* length = warp.source<std::uint32_t>(copy.source_bytes);
    for_lanes(reading, [&](unsigned i) {
      if (length[i] == 0) reading &= ~(1u << i);
    });
  }
  tell_hook(op, warp, copy, reading, from, to);
  if (!resolve_addresses(warp, op, *copy.destination, to, targets)) return nullptr;
  warp.mask = reading;
  const bool readable = resolve_addresses(warp, op, *copy.source, from, sources);
  warp.mask = all;
  if (!readable) return nullptr;
  for_lanes(all, [&](unsigned i) {
    unsigned count = ((reading >> i) & 1) != 0 ? bytes : 0;
    if (count != 0 && copy.has_source_bytes)
      count = std::min(bytes, warp.source<std::uint32_t>(copy.source_bytes)[i]);
    std::memcpy(targets[i], sources[i], count);
    std::memset(targets[i] + count, 0, bytes - count);
  });
  return op + 1;
}

const Op* nothing(const Op* op, WarpContext&) {
  return op + 1;
}

// cp.async.ca.shared.global [dst], [src], size{, source size or ignore predicate};
bool lower_copy(Builder& builder, const ptx::Instruction& in) {
  const auto addresses = addresses_of(in);
  const auto values = values_of(in);
  if (addresses.size() < 2 || values.empty()) return false;
  const auto bytes = static_cast<std::uint8_t>(values[0]->bits);
  auto copy = std::make_shared<AsyncCopy>();
  builder.out().others.push_back(copy);
  copy->destination = &lower_address(builder, in, *addresses[0], Space::kShared);
  copy->source = &lower_address(builder, in, *addresses[1], Space::kGlobal);
  copy->destination->element_bytes = copy->source->element_bytes = bytes;
  copy->destination->flags = kWrite;
  copy->source->flags = kRead;
  if (values.size() > 1) {
    const ptx::Operand& last = *values[1];
    const bool predicate = last.kind == ptx::OperandKind::kRegister &&
                           builder.function().registers[last.index].type == ptx::Type::kPred;
    copy->has_ignore = predicate;
    copy->has_source_bytes = !predicate;
    if (predicate)
      copy->ignore = builder.predicate(last);
    else
      copy->source_bytes = builder.source(last, 4);
  }
  builder.emit(copy_async).extra = copy.get();
  return true;
}

// mbarrier ----------------------------------------------------------------------------------------

enum class Action : std::uint8_t {
  kInit,
  kInvalidate,
  kArrive,
  kArriveDrop,
  kArriveExpect,  // expects as many bytes as it is given, and arrives once
  kExpect,
  kComplete,
  kTestWait,
  kTestParity
};

void change(Mbarrier& state, Action what, std::uint32_t value) {
  switch (what) {
    case Action::kInit:
      state = {value, value, 0, 0};
      return;
    case Action::kArriveDrop:
      state.expected -= std::min(value, state.expected);
      state.arrive(value);
      break;
    case Action::kArrive:
      state.arrive(value);
      break;
    case Action::kArriveExpect:
      state.bytes += static_cast<std::int32_t>(value);
      state.arrive(1);
      break;
    case Action::kExpect:
      state.bytes += static_cast<std::int32_t>(value);
      return;
    case Action::kComplete:
      state.bytes -= static_cast<std::int32_t>(value);
      break;
    default:
      return;
  }
  state.settle();
}

// a: count, bytes or parity; b: token; dst: token or predicate (immediate: its row + 1).
const Op* mbarrier(const Op* op, WarpContext& warp) {
  const auto& access = *static_cast<const MemoryAccess*>(op->extra);
  const auto what = static_cast<Action>(op->detail);
  if (!resolve_access(warp, op, access)) return nullptr;
  std::uint32_t done = 0;
  std::uint64_t tokens[kLanes] = {};
  for_lanes(warp.mask, [&](unsigned i) {
    std::byte* at = warp.pointers[i];
    Mbarrier state = Mbarrier::read(at);
    if (what == Action::kTestWait) {
      const auto token = Mbarrier::of_word(warp.source<std::uint64_t>(op->b)[i]);
      done |= static_cast<std::uint32_t>(state.phase != token.phase) << i;
    } else if (what == Action::kTestParity) {
      const std::uint32_t parity = warp.source<std::uint32_t>(op->a)[i] & 1;
      done |= static_cast<std::uint32_t>((state.phase & 1) != parity) << i;
    } else {
      std::memcpy(&tokens[i], at, sizeof tokens[i]);
      change(state, what, warp.source<std::uint32_t>(op->a)[i]);
      state.write(at);
    }
  });
  if (what == Action::kTestWait || what == Action::kTestParity) {
    if (op->immediate != 0) warp.write_predicate(static_cast<RowOffset>(op->immediate - 1), done);
  } else if (op->immediate != 0) {
    store_lanes<std::uint64_t>(warp, op, [&](unsigned i) { return tokens[i]; });
  }
  return op + 1;
}

Action action_of(const ptx::Instruction& in, bool parity) {
  if (has_word(in, "init")) return Action::kInit;
  if (has_word(in, "inval")) return Action::kInvalidate;
  const bool expects = has_word(in, "expect_tx");
  if (has_word(in, "arrive_drop")) return Action::kArriveDrop;
  if (has_word(in, "arrive")) return expects ? Action::kArriveExpect : Action::kArrive;
  if (expects) return Action::kExpect;
  if (has_word(in, "complete_tx")) return Action::kComplete;
  return parity ? Action::kTestParity : Action::kTestWait;
}

MemoryAccess& barrier_word(Builder& builder, const ptx::Instruction& in,
                           const ptx::Operand& address) {
  const bool shared = in.space == Space::kShared;
  MemoryAccess& access =
      lower_address(builder, in, address, shared ? Space::kShared : Space::kGeneric);
  access.element_bytes = 8;
  access.flags = kRead | kWrite | kAtomic;
  access.synchronising = true;
  return access;
}

bool lower_mbarrier(Builder& builder, const ptx::Instruction& in) {
  const auto addresses = addresses_of(in);
  if (addresses.empty() || (has_word(in, "arrive_drop") && has_word(in, "expect_tx"))) return false;
  MemoryAccess& access = barrier_word(builder, in, *addresses[0]);
  const bool wait = has_word(in, "test_wait") || has_word(in, "try_wait");
  const bool parity = has_word(in, "parity");
  const ptx::Operand* value = nullptr;  // the operand after the address
  for (std::size_t i = 0; i < in.sources.size(); ++i)
    if (in.sources[i].kind == ptx::OperandKind::kAddress && i + 1 < in.sources.size())
      value = &in.sources[i + 1];
  RowOffset a = builder.constant(1, 4), b = 0;
  if (value != nullptr && wait && !parity)
    b = builder.source(*value, 8);
  else if (value != nullptr)
    a = builder.source(*value, 4);
  Op& op = builder.emit(mbarrier, 0, a, b);
  op.extra = &access;
  const Action what = action_of(in, parity);
  op.detail = static_cast<std::uint32_t>(what);
  if (in.destinations.empty() || in.destinations[0].kind != ptx::OperandKind::kRegister)
    return true;
  if (wait) {
    op.immediate = static_cast<std::uint64_t>(builder.predicate(in.destinations[0])) + 1;
  } else {
    op.dst = builder.destination(in.destinations[0], 8);
    op.immediate = 1;
  }
  return true;
}

}  // namespace

bool lower_async(Builder& builder, const ptx::Instruction& in) {
  switch (in.opcode) {
    case Opcode::kCpAsync:
      return lower_copy(builder, in);
    case Opcode::kCpAsyncCommitGroup:
    case Opcode::kCpAsyncWaitGroup:
    case Opcode::kCpAsyncWaitAll:
      builder.emit(nothing);
      return true;
    case Opcode::kMbarrier:
      return lower_mbarrier(builder, in);
    default:
      return lower_bulk(builder, in);
  }
}

}  // namespace drgpum::emulator::exec

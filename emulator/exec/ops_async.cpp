// SPDX-License-Identifier: Apache-2.0
// cp.async as a copy that is done at once, and mbarrier on words of shared memory.

#include <algorithm>
#include <cstring>

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

// The state word in shared memory: arrivals still missing in this phase, arrivals per phase (20
// bits each), and the number of the phase. Programs see it only as an opaque token.
struct State {
  std::uint32_t missing, expected, phase;
};

State read_state(const std::byte* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return {static_cast<std::uint32_t>(word & 0xfffff),
          static_cast<std::uint32_t>((word >> 20) & 0xfffff),
          static_cast<std::uint32_t>(word >> 40)};
}

std::uint64_t write_state(std::byte* at, State state) {
  const std::uint64_t word = (std::uint64_t{state.phase & 0xffffff} << 40) |
                             (std::uint64_t{state.expected & 0xfffff} << 20) |
                             (state.missing & 0xfffff);
  std::memcpy(at, &word, sizeof word);
  return word;
}

enum class Mbarrier : std::uint8_t {
  kInit,
  kInvalidate,
  kArrive,
  kArriveDrop,
  kTestWait,
  kTestParity
};

void arrive(std::byte* at, std::uint32_t count, bool drop) {
  State state = read_state(at);
  if (drop) state.expected -= std::min(count, state.expected);
  state.missing -= std::min(count, state.missing);
  if (state.missing == 0) {
    ++state.phase;
    state.missing = state.expected;
  }
  write_state(at, state);
}

// a: count, token or parity; dst: token or predicate (immediate: its row + 1).
const Op* mbarrier(const Op* op, WarpContext& warp) {
  const auto& access = *static_cast<const MemoryAccess*>(op->extra);
  const auto what = static_cast<Mbarrier>(op->detail);
  if (!resolve_access(warp, op, access)) return nullptr;
  std::uint32_t done = 0;
  std::uint64_t tokens[kLanes] = {};
  for_lanes(warp.mask, [&](unsigned i) {
    std::byte* at = warp.pointers[i];
    const State state = read_state(at);
    switch (what) {
      case Mbarrier::kInit: {
        const std::uint32_t count = warp.source<std::uint32_t>(op->a)[i];
        write_state(at, {count, count, 0});
        break;
      }
      case Mbarrier::kArrive:
      case Mbarrier::kArriveDrop:
        std::memcpy(&tokens[i], at, sizeof tokens[i]);
        arrive(at, warp.source<std::uint32_t>(op->a)[i], what == Mbarrier::kArriveDrop);
        break;
      case Mbarrier::kTestWait: {
        const auto phase = static_cast<std::uint32_t>(warp.source<std::uint64_t>(op->b)[i] >> 40);
        done |= static_cast<std::uint32_t>((state.phase & 0xffffff) != phase) << i;
        break;
      }
      case Mbarrier::kTestParity:
        done |= static_cast<std::uint32_t>((state.phase & 1) !=
                                           (warp.source<std::uint32_t>(op->a)[i] & 1))
                << i;
        break;
      default:
        break;
    }
  });
  if (what == Mbarrier::kTestWait || what == Mbarrier::kTestParity) {
    if (op->immediate != 0) warp.write_predicate(static_cast<RowOffset>(op->immediate - 1), done);
  } else if (op->immediate != 0) {
    store_lanes<std::uint64_t>(warp, op, [&](unsigned i) { return tokens[i]; });
  }
  return op + 1;
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
  if (addresses.empty() || has_word(in, "expect_tx") || has_word(in, "complete_tx")) return false;
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
  const Mbarrier what = has_word(in, "init")          ? Mbarrier::kInit
                        : has_word(in, "inval")       ? Mbarrier::kInvalidate
                        : has_word(in, "arrive_drop") ? Mbarrier::kArriveDrop
                        : has_word(in, "arrive")      ? Mbarrier::kArrive
                        : parity                      ? Mbarrier::kTestParity
                                                      : Mbarrier::kTestWait;
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
      return false;
  }
}

}  // namespace drgpum::emulator::exec

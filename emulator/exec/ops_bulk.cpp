// SPDX-License-Identifier: Apache-2.0
// cp.async.bulk and cp.reduce.async.bulk: whole ranges between global and shared memory, at once;
// the barrier that waits for them hears of their bytes at once too. Tensor maps are not served.

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "emulator/exec/cluster.h"
#include "emulator/exec/half.h"
#include "emulator/exec/mbarrier.h"
#include "emulator/exec/memory_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::Space;

enum class Reduction : std::uint8_t { kNone, kAdd, kMin, kMax, kInc, kDec, kAnd, kOr, kXor };

struct BulkCopy {
  bool to_global = false;    // else to shared memory
  bool from_shared = false;  // else from global memory
  MemoryAccess* destination = nullptr;
  MemoryAccess* source = nullptr;
  MemoryAccess* barrier = nullptr;  // nullptr: a bulk group waits for it
  RowOffset bytes = 0;
  Reduction reduction = Reduction::kNone;
  ptx::Type type = ptx::Type::kNone;  // of the reduction
  bool is_multicast = false;
  RowOffset blocks = 0;  // u16 mask of ranks
};

// Bytes go 16 at a time; the host's pointer to all of them, or nullptr after a fault.
std::byte* whole_range(WarpContext& warp, const Op* op, unsigned lane, std::uint64_t address,
                       std::uint32_t bytes, const char* what) {
  std::byte* host = resolve_generic(warp, lane, address, bytes);
  if (host != nullptr && address % 16 == 0 && bytes % 16 == 0) return host;
  const bool misaligned = address % 16 != 0 || bytes % 16 != 0;
  raise(warp, op, misaligned ? FaultKind::kMisalignedAddress : FaultKind::kIllegalAddress, lane,
        fmt::format("Invalid bulk {} of {} bytes: address {:#x} {}", what, bytes, address,
                    misaligned ? "or the size is no multiple of 16" : "is out of bounds"));
  return nullptr;
}

void tell_hook(WarpContext& warp, const Op* op, unsigned lane, std::uint64_t address,
               std::uint32_t bytes, std::uint32_t flags) {
  if (!hooked(warp, Space::kGlobal)) return;
  WarpAccess event;
  event.pc = pc_of(warp, op);
  event.mask = 1u << lane;
  event.flags = flags;
  event.size = bytes;
  event.space = Space::kGlobal;
  std::array<std::uint64_t, kLanes> addresses{};
  addresses[lane] = address;
  event.addresses = addresses.data();
  const std::uint32_t all = warp.mask;
  warp.mask = event.mask;
  warp.worker->launch->config->hook->on_access(warp, event);
  warp.mask = all;
}

template <typename T>
T combine(Reduction reduction, T a, T b) {
  switch (reduction) {
    case Reduction::kMin:
      return std::min(a, b);
    case Reduction::kMax:
      return std::max(a, b);
    default:
      return static_cast<T>(a + b);
  }
}

template <typename T>
T combine_bits(Reduction reduction, T a, T b) {
  switch (reduction) {
    case Reduction::kAnd:
      return a & b;
    case Reduction::kOr:
      return a | b;
    case Reduction::kXor:
      return a ^ b;
    case Reduction::kInc:
      return a >= b ? T{0} : static_cast<T>(a + 1);
    case Reduction::kDec:
      return a == 0 || a > b ? b : static_cast<T>(a - 1);
    default:
      return combine(reduction, a, b);
  }
}

template <typename T, typename Combine>
void reduce_as(std::byte* to, const std::byte* from, std::uint32_t bytes, Combine combine_two) {
  for (std::uint32_t at = 0; at < bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + at, sizeof a);
    std::memcpy(&b, from + at, sizeof b);
    a = combine_two(a, b);
    std::memcpy(to + at, &a, sizeof a);
  }
}

void reduce(const BulkCopy& copy, std::byte* to, const std::byte* from, std::uint32_t bytes) {
  const Reduction r = copy.reduction;
  const auto whole = [r](auto a, auto b) { return combine_bits(r, a, b); };
  const auto real = [r](auto a, auto b) { return combine(r, a, b); };
  switch (copy.type) {
    case ptx::Type::kF32:
      return reduce_as<float>(to, from, bytes, real);
    case ptx::Type::kF64:
      return reduce_as<double>(to, from, bytes, real);
    case ptx::Type::kS32:
      return reduce_as<std::int32_t>(to, from, bytes, whole);
    case ptx::Type::kS64:
      return reduce_as<std::int64_t>(to, from, bytes, whole);
    case ptx::Type::kU64:
    case ptx::Type::kB64:
      return reduce_as<std::uint64_t>(to, from, bytes, whole);
    case ptx::Type::kF16:
      return reduce_as<std::uint16_t>(to, from, bytes, [r](std::uint16_t a, std::uint16_t b) {
        return to_f16(combine(r, f16_to_float(a), f16_to_float(b)));
      });
    case ptx::Type::kBf16:
      return reduce_as<std::uint16_t>(to, from, bytes, [r](std::uint16_t a, std::uint16_t b) {
        return to_bf16(combine(r, bf16_to_float(a), bf16_to_float(b)));
      });
    default:
      return reduce_as<std::uint32_t>(to, from, bytes, whole);
  }
}

std::uint64_t generic_address(const WarpContext& warp, const MemoryAccess& access, unsigned lane) {
  std::array<std::uint64_t, kLanes> addresses;
  fill_addresses(warp, access, addresses.data());
  return access.where == Where::kShared ? kSharedWindow | addresses[lane] : addresses[lane];
}

// One lane's copy to one block; false: faulted.
bool copy_range(const Op* op, WarpContext& warp, const BulkCopy& copy, unsigned lane,
                std::uint64_t destination, std::uint64_t barrier) {
  const std::uint32_t bytes = warp.source<std::uint32_t>(copy.bytes)[lane];
  const std::uint64_t source = generic_address(warp, *copy.source, lane);
  const std::byte* from = whole_range(warp, op, lane, source, bytes, "read");
  std::byte* to =
      from == nullptr ? nullptr : whole_range(warp, op, lane, destination, bytes, "write");
  if (to == nullptr) return false;
  const bool reduces = copy.reduction != Reduction::kNone;
  if (!copy.from_shared) tell_hook(warp, op, lane, source, bytes, kRead);
  if (copy.to_global)
    tell_hook(warp, op, lane, destination, bytes, reduces ? kRead | kWrite | kAtomic : kWrite);
  if (reduces)
    reduce(copy, to, from, bytes);
  else
    std::memcpy(to, from, bytes);
  warp.worker->work.global_bytes += bytes;
  warp.worker->work.global_sectors += (bytes + 31) / 32;
  if (copy.barrier == nullptr) return true;
  std::byte* word = resolve_generic(warp, lane, barrier, 8);
  if (word == nullptr) {
    raise(warp, op, FaultKind::kSharedOutOfRange, lane,
          fmt::format("Invalid mbarrier at {:#x}: it is out of bounds", barrier));
    return false;
  }
  complete_transaction(word, bytes);
  return true;
}

// The same offset in the block of a rank of the cluster.
std::uint64_t at_rank(std::uint64_t address, unsigned rank) {
  constexpr std::uint64_t kOffset = (std::uint64_t{1} << kClusterRankShift) - 1;
  return kSharedWindow | (address & kOffset) | std::uint64_t{rank + 1} << kClusterRankShift;
}

bool copy_lane(const Op* op, WarpContext& warp, const BulkCopy& copy, unsigned lane) {
  const std::uint64_t destination = generic_address(warp, *copy.destination, lane);
  const std::uint64_t barrier =
      copy.barrier == nullptr ? 0 : generic_address(warp, *copy.barrier, lane);
  if (!copy.is_multicast) return copy_range(op, warp, copy, lane, destination, barrier);
  const std::uint32_t blocks = warp.source<std::uint16_t>(copy.blocks)[lane];
  for (unsigned rank = 0; rank < 16; ++rank)
    if (((blocks >> rank) & 1) != 0 &&
        !copy_range(op, warp, copy, lane, at_rank(destination, rank), at_rank(barrier, rank)))
      return false;
  return true;
}

const Op* copy_bulk(const Op* op, WarpContext& warp) {
  const auto& copy = *static_cast<const BulkCopy*>(op->extra);
  for (std::uint32_t left = warp.mask; left != 0; left &= left - 1)
    if (!copy_lane(op, warp, copy, static_cast<unsigned>(std::countr_zero(left)))) return nullptr;
  return op + 1;
}

const Op* nothing(const Op* op, WarpContext&) {
  return op + 1;
}

// cp.async.mbarrier.arrive: the copies are done already. Without .noinc the arrival that it makes
// is one that it has added itself.
const Op* arrive_for_copies(const Op* op, WarpContext& warp) {
  if (!resolve_access(warp, op, *static_cast<const MemoryAccess*>(op->extra))) return nullptr;
  for_lanes(warp.mask, [&](unsigned lane) {
    Mbarrier state = Mbarrier::read(warp.pointers[lane]);
    state.arrive(1);
    state.settle();
    state.write(warp.pointers[lane]);
  });
  return op + 1;
}

Reduction reduction_of(const ptx::Instruction& in) {
  constexpr std::pair<std::string_view, Reduction> kWords[] = {
      {"add", Reduction::kAdd}, {"min", Reduction::kMin}, {"max", Reduction::kMax},
      {"inc", Reduction::kInc}, {"dec", Reduction::kDec}, {"and", Reduction::kAnd},
      {"or", Reduction::kOr},   {"xor", Reduction::kXor}};
  for (const auto& [word, reduction] : kWords)
    if (has_word(in, word)) return reduction;
  return Reduction::kNone;
}

// The first two words that are state spaces: destination, source.
bool take_spaces(const ptx::Instruction& in, BulkCopy& copy) {
  std::vector<bool> shared;
  for (const std::string& word : in.modifiers)
    if (const auto space = ptx::space_of_word(word)) shared.push_back(*space == Space::kShared);
  if (shared.size() < 2) return false;
  copy.to_global = !shared[0];
  copy.from_shared = shared[1];
  return true;
}

// [dst], [src], size {, [mbar]} {, ctaMask} {, cache policy}
bool lower_bulk_copy(Builder& builder, const ptx::Instruction& in) {
  auto copy = std::make_shared<BulkCopy>();
  const auto addresses = addresses_of(in);
  const auto values = values_of(in);
  copy->is_multicast = has_word(in, "multicast::cluster");
  const bool has_barrier = has_word(in, "mbarrier::complete_tx::bytes");
  if (!take_spaces(in, *copy) || addresses.size() != (has_barrier ? 3u : 2u) || values.empty())
    return false;
  if (has_word(in, "reduce") || in.spelling.starts_with("cp.reduce")) {
    copy->reduction = reduction_of(in);
    copy->type = in.type;
    if (copy->reduction == Reduction::kNone || ptx::bytes_of(in.type) == 0) return false;
  }
  copy->destination =
      &lower_address(builder, in, *addresses[0], copy->to_global ? Space::kGlobal : Space::kShared);
  copy->source = &lower_address(builder, in, *addresses[1],
                                copy->from_shared ? Space::kShared : Space::kGlobal);
  if (has_barrier) copy->barrier = &lower_address(builder, in, *addresses[2], Space::kShared);
  copy->bytes = builder.source(*values[0], 4);
  if (copy->is_multicast) {
    if (values.size() < 2) return false;
    copy->blocks = builder.source(*values[1], 2);
  }
  builder.out().others.push_back(copy);
  builder.emit(copy_bulk).extra = copy.get();
  return true;
}

bool lower_copies_arrive(Builder& builder, const ptx::Instruction& in) {
  const auto addresses = addresses_of(in);
  if (addresses.size() != 1) return false;
  if (!has_word(in, "noinc")) {
    builder.emit(nothing);
    return true;
  }
  const bool shared = in.space == Space::kShared;
  MemoryAccess& access =
      lower_address(builder, in, *addresses[0], shared ? Space::kShared : Space::kGeneric);
  access.element_bytes = 8;
  access.flags = kRead | kWrite | kAtomic;
  builder.emit(arrive_for_copies).extra = &access;
  return true;
}

}  // namespace

bool lower_bulk(Builder& builder, const ptx::Instruction& in) {
  if (in.opcode != Opcode::kOther || !in.spelling.starts_with("cp.") || !has_word(in, "async"))
    return false;
  if (has_word(in, "mbarrier") && has_word(in, "arrive")) return lower_copies_arrive(builder, in);
  if (!has_word(in, "bulk") || has_word(in, "tensor")) return false;
  const bool is_order = has_word(in, "commit_group") || has_word(in, "wait_group");
  if (is_order || has_word(in, "prefetch")) {
    builder.emit(nothing);
    return true;
  }
  return lower_bulk_copy(builder, in);
}

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
// Scattered addresses and partial masks: one vector pass over the bounds of the op's allocation,
// and the careful path when that does not settle it.

#include "emulator/exec/fast_memory.h"

#include <algorithm>

namespace drgpum::emulator::exec {
namespace {

// Inactive lanes repeat an active one, so that whole vectors can be checked.
void fill_inactive(std::uint64_t* addresses, std::uint32_t mask) {
  const std::uint64_t some = addresses[std::countr_zero(mask)];
  for (unsigned i = 0; i < kLanes; ++i)
    addresses[i] = ((mask >> i) & 1) != 0 ? addresses[i] : some;
}

// All of [address, address + bytes) within [begin, end) and aligned. Addresses are below 2^63.
bool all_within(const std::uint64_t* addresses, std::uint64_t begin, std::uint64_t end,
                std::uint64_t bytes) {
  if (end - begin < bytes) return false;
  const std::uint64_t room = end - begin - bytes;
  std::uint64_t outside = 0, low = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const std::uint64_t at = addresses[i] - begin;
    outside |= at | (room - at);
    low |= addresses[i];
  }
  const std::uint64_t alignment = std::min<std::uint64_t>(bytes, 16) - 1;
  return (outside >> 63) == 0 && (low & alignment) == 0;
}

Reach scattered(WarpContext& warp, const std::uint64_t* addresses, std::uint64_t to_host) {
  for (unsigned i = 0; i < kLanes; ++i)
    warp.pointers[i] = reinterpret_cast<std::byte*>(addresses[i] + to_host);
  return {Pattern::kScattered, nullptr};
}

}  // namespace

void notify_access(const Op* op, WarpContext& warp, const MemoryAccess& access) {
  if (!hooked(warp, access.space) && access.where != Where::kGeneric) return;
  std::uint64_t* addresses = warp.addresses.data();
  fill_addresses(warp, access, addresses);
  notify_hook(warp, op, access, addresses);
}

Reach reach_any(const Op* op, WarpContext& warp, const MemoryAccess& access) {
  std::uint64_t* addresses = warp.addresses.data();
  const std::uint32_t bytes = static_cast<std::uint32_t>(access.element_bytes) * access.count;
  if (access.synchronising) {
    warp.budget -= kSpinCharge;
    warp.spin_seen = true;
  }
  fill_addresses(warp, access, addresses);
  fill_inactive(addresses, warp.mask);
  if (access.where == Where::kGeneric) {
    const CachedAllocation& cached = warp.worker->cached(op);
    const bool allowed = !cached.read_only || (access.flags & kWrite) == 0;
    if (allowed && all_within(addresses, cached.begin, cached.end, bytes)) {
      count_sectors(warp, addresses, bytes);
      return scattered(warp, addresses, static_cast<std::uint64_t>(cached.alias));
    }
  } else if (access.where == Where::kShared) {
    if (all_within(addresses, 0, warp.worker->launch->shared_bytes, bytes)) {
      count_wavefronts(warp, addresses, bytes);
      return scattered(warp, addresses, reinterpret_cast<std::uint64_t>(warp.block->shared.data()));
    }
  }
  if (!resolve_addresses(warp, op, access, addresses, warp.pointers.data()))
    return {Pattern::kFault, nullptr};
  return {Pattern::kScattered, nullptr};
}

}  // namespace drgpum::emulator::exec

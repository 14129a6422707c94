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
  return {Pattern::kScattered};
}

constexpr unsigned kHalf = kLanes / 2;

bool half_steps(const std::uint64_t* addresses, std::uint64_t step) {
  std::uint64_t differs = 0;
  for (unsigned i = 0; i < kHalf; ++i)
    differs |= (addresses[i] - addresses[0]) ^ (step * i);
  return differs == 0;
}

// The step within both halves, if there is one: `bytes` or 0. Nothing: kLanes.
std::uint64_t step_of_halves(const std::uint64_t* addresses, std::uint64_t bytes) {
  const std::uint64_t step = addresses[1] - addresses[0];
  if ((step != 0 && step != bytes) || addresses[kHalf + 1] - addresses[kHalf] != step)
    return ~std::uint64_t{0};
  const bool both = half_steps(addresses, step) && half_steps(addresses + kHalf, step);
  return both ? step : ~std::uint64_t{0};
}

void count_half_sectors(Work& work, const std::uint64_t* addresses, std::uint64_t extent,
                        std::uint64_t bytes) {
  const std::uint64_t a = addresses[0], b = addresses[kHalf];
  const auto sectors = [&](std::uint64_t at) { return ((at + extent - 1) >> 5) - (at >> 5) + 1; };
  work.global_sectors += sectors(a) + (a == b ? 0 : sectors(b));
  work.global_bytes += bytes * kLanes;
}

void count_half_wavefronts(Work& work, std::uint64_t first, std::uint64_t second,
                           std::uint64_t step, std::uint64_t bytes) {
  const std::uint64_t distance = (second - first) % 128;
  const bool conflict = first != second && (step == 0 ? distance == 0 : distance != 64);
  work.shared_wavefronts += (conflict ? 2 : 1) * ((bytes + 3) / 4);
}

// Exact for the first accesses of a worker, then one of kSampling stands for all.
constexpr std::uint64_t kExact = 256, kSampling = 16;

void count_scattered(WarpContext& warp, const MemoryAccess& access, const std::uint64_t* addresses,
                     std::uint32_t bytes) {
  Worker& worker = *warp.worker;
  const std::uint64_t number = worker.scattered++;
  if (number >= kExact && number % kSampling != 0) return;
  const Work before = worker.work;
  if (access.where == Where::kShared)
    count_wavefronts(warp, addresses, bytes);
  else
    count_sectors(warp, addresses, bytes);
  const std::uint64_t times = number < kExact ? 0 : kSampling - 1;
  Work& work = worker.work;
  work.global_sectors += times * (work.global_sectors - before.global_sectors);
  work.global_bytes += times * (work.global_bytes - before.global_bytes);
  work.shared_wavefronts += times * (work.shared_wavefronts - before.shared_wavefronts);
}

// All lanes within [begin, end), which is mapped at + to_host.
Reach reach_within(WarpContext& warp, const MemoryAccess& access, const std::uint64_t* addresses,
                   std::uint32_t bytes, std::uint64_t to_host) {
  if (warp.mask == kFullMask && access.count == 1) {
    const std::uint64_t step = step_of_halves(addresses, bytes);
    if (step != ~std::uint64_t{0}) {
      Work& work = warp.worker->work;
      if (access.where == Where::kShared)
        count_half_wavefronts(work, addresses[0], addresses[kHalf], step, bytes);
      else
        count_half_sectors(work, addresses, step * (kHalf - 1) + bytes, bytes);
      return {Pattern::kHalves, reinterpret_cast<std::byte*>(addresses[0] + to_host),
              reinterpret_cast<std::byte*>(addresses[kHalf] + to_host),
              static_cast<std::uint32_t>(step)};
    }
  }
  count_scattered(warp, access, addresses, bytes);
  return scattered(warp, addresses, to_host);
}

}  // namespace

bool find_shared_halves(WarpContext& warp, const MemoryAccess& access, const std::uint32_t* row,
                        std::uint32_t bytes, Reach& reach) {
  const std::uint32_t step = row[1] - row[0];
  if ((step != 0 && step != bytes) || row[kHalf + 1] - row[kHalf] != step) return false;
  std::uint32_t differs = 0;
  for (unsigned i = 0; i < kHalf; ++i)
    differs |= ((row[i] - row[0]) ^ (step * i)) | ((row[kHalf + i] - row[kHalf]) ^ (step * i));
  const std::uint32_t first = row[0] + static_cast<std::uint32_t>(access.offset);
  const std::uint32_t second = row[kHalf] + static_cast<std::uint32_t>(access.offset);
  const std::uint64_t extent = std::uint64_t{step} * (kHalf - 1) + bytes;
  if (differs != 0 || std::max(first, second) + extent > warp.worker->launch->shared_bytes ||
      (first | second) % bytes != 0)
    return false;
  count_half_wavefronts(warp.worker->work, first, second, step, bytes);
  std::byte* shared = warp.block->shared.data();
  reach = {Pattern::kHalves, shared + first, shared + second, step};
  return true;
}

void notify_pattern(const Op* op, WarpContext& warp, const MemoryAccess& access,
                    AccessPattern pattern) {
  const ptx::Space space =
      access.space == ptx::Space::kGeneric ? ptx::Space::kGlobal : access.space;
  if (!hooked(warp, space)) return;
  const std::uint64_t* addresses = warp.source<std::uint64_t>(access.base);
  if (access.offset != 0) {
    fill_addresses(warp, access, warp.addresses.data());
    addresses = warp.addresses.data();
  }
  call_hook(warp, op, access, space, warp.mask, addresses, pattern);
}

bool refill(const Op* op, WarpContext& warp, std::uint64_t address) {
  if (address >> (kWindowBits + 4) == kSharedWindow >> (kWindowBits + 4)) return false;
  return look_up(*warp.worker, warp.worker->cached(op), address);
}

Reach reach_any(const Op* op, WarpContext& warp, const MemoryAccess& access) {
  std::uint64_t* addresses = warp.addresses.data();
  const std::uint32_t bytes = static_cast<std::uint32_t>(access.element_bytes) * access.count;
  if (access.synchronising) {
    warp.budget -= kSpinCharge;
    warp.spin_seen = true;
  }
  fill_addresses(warp, access, addresses);
  if (warp.mask != kFullMask) fill_inactive(addresses, warp.mask);
  if (warp.hooked_spaces != 0) notify_hook(warp, op, access, addresses);
  if (access.where == Where::kGeneric) {
    const CachedAllocation& cached = warp.worker->cached(op);
    const bool allowed = !cached.read_only || (access.flags & kWrite) == 0;
    if (allowed && all_within(addresses, cached.begin, cached.end, bytes))
      return reach_within(warp, access, addresses, bytes, static_cast<std::uint64_t>(cached.alias));
  } else if (access.where == Where::kShared) {
    if (all_within(addresses, 0, warp.worker->launch->shared_bytes, bytes))
      return reach_within(warp, access, addresses, bytes,
                          reinterpret_cast<std::uint64_t>(warp.block->shared.data()));
  }
  if (!resolve_addresses(warp, op, access, addresses, warp.pointers.data()))
    return {Pattern::kFault};
  return {Pattern::kScattered};
}

}  // namespace drgpum::emulator::exec

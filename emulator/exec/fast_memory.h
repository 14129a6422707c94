// SPDX-License-Identifier: Apache-2.0
#pragma once
// Short paths for whole warps: contiguous and uniform addresses in one allocation or in shared
// memory are found by vector compares and need one bounds check.

#include "emulator/exec/memory_ops.h"

namespace drgpum::emulator::exec {

// kHalves: each half of the warp is contiguous or uniform by itself, as in blocks 16 threads wide.
enum class Pattern : std::uint8_t { kContiguous, kUniform, kHalves, kScattered, kFault };

// Where the lanes' bytes are on the host: at `host` + lane * bytes, all at `host`, the halves from
// `host` and `other` with `step` bytes between lanes, or at warp.pointers[lane].
struct Reach {
  Pattern pattern;
  std::byte* host = nullptr;
  std::byte* other = nullptr;
  std::uint32_t step = 0;
};

inline const MemoryAccess& access_of(const Op* op) {
  return *static_cast<const MemoryAccess*>(op->extra);
}

// Whether row[i] == row[0] + i * step for all lanes.
template <typename T>
[[gnu::always_inline]] inline bool is_stepping(const T* row, T step) {
  T differs = 0;
  for (unsigned i = 0; i < kLanes; ++i)
    differs |= static_cast<T>(row[i] - row[0]) ^ static_cast<T>(step * i);
  return differs == 0;
}

inline bool holds(const CachedAllocation& cached, std::uint64_t first, std::uint64_t bytes) {
  return first >= cached.begin && first + bytes <= cached.end;
}

inline std::byte* host_pointer(const CachedAllocation& cached, std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(cached.alias));
}

// Looks up the allocation of an address for the op's next accesses; false: none, or a window.
bool refill(const Op* op, WarpContext& warp, std::uint64_t address);
// Any mask, any addresses, any space: the paths that are not short. Tells the hook too.
Reach reach_any(const Op* op, WarpContext& warp, const MemoryAccess& access);
// Halves of a shared access by all lanes, from its row of 32-bit addresses; false: no such pattern.
bool find_shared_halves(WarpContext& warp, const MemoryAccess& access, const std::uint32_t* row,
                        std::uint32_t bytes, Reach& reach);
// The hook hears of an access of all lanes whose pattern is known.
void notify_pattern(const Op* op, WarpContext& warp, const MemoryAccess& access,
                    AccessPattern pattern);

template <unsigned bytes, bool write>
[[gnu::always_inline]] inline Reach reach_global(const Op* op, WarpContext& warp,
                                                 const MemoryAccess& access) {
  if (warp.mask != kFullMask) [[unlikely]]
    return reach_any(op, warp, access);
  const auto* row = warp.source<std::uint64_t>(access.base);
  const std::uint64_t first = row[0] + static_cast<std::uint64_t>(access.offset);
  const std::uint64_t span = row[kLanes - 1] - row[0];
  Worker& worker = *warp.worker;
  const CachedAllocation& cached = worker.cached(op);
  const bool aligned = first % bytes == 0;
  // A store into read-only memory takes the careful path, which faults.
  const auto found = [&](std::uint64_t extent) {
    const bool held =
        holds(cached, first, extent) || (refill(op, warp, first) && holds(cached, first, extent));
    return held && !(write && cached.read_only);
  };
  if (span == bytes * (kLanes - 1) && aligned && is_stepping<std::uint64_t>(row, bytes) &&
      found(bytes * kLanes)) {
    worker.work.global_sectors += ((first + bytes * kLanes - 1) >> 5) - (first >> 5) + 1;
    worker.work.global_bytes += bytes * kLanes;
    std::byte* host = host_pointer(cached, first);  // a hook's own accesses may take the cache
    if (warp.hooked_spaces != 0 &&
        !worker.take_path(op, &ShortPath::contiguous, first, bytes * kLanes))
      notify_pattern(op, warp, access, AccessPattern::kContiguous);
    return {Pattern::kContiguous, host};
  }
  if (span == 0 && aligned && is_stepping<std::uint64_t>(row, 0) && found(bytes)) {
    worker.work.global_sectors += 1;
    worker.work.global_bytes += bytes * kLanes;
    std::byte* host = host_pointer(cached, first);
    if (warp.hooked_spaces != 0 && !worker.take_path(op, &ShortPath::uniform, first, bytes))
      notify_pattern(op, warp, access, AccessPattern::kUniform);
    return {Pattern::kUniform, host};
  }
  return reach_any(op, warp, access);
}

template <unsigned bytes>
[[gnu::always_inline]] inline Reach reach_shared(const Op* op, WarpContext& warp,
                                                 const MemoryAccess& access) {
  if (warp.mask != kFullMask || access.base_is_wide || hooked(warp, ptx::Space::kShared))
      [[unlikely]]
    return reach_any(op, warp, access);
  const auto* row = warp.source<std::uint32_t>(access.base);
  const std::uint32_t first = row[0] + static_cast<std::uint32_t>(access.offset);
  const std::uint32_t span = row[kLanes - 1] - row[0];
  const std::uint64_t size = warp.worker->launch->shared_bytes;
  if (first % bytes == 0) {
    if (span == bytes * (kLanes - 1) && std::uint64_t{first} + bytes * kLanes <= size &&
        is_stepping<std::uint32_t>(row, bytes)) {
      warp.worker->work.shared_wavefronts += (bytes + 3) / 4;
      return {Pattern::kContiguous, warp.block->shared.data() + first};
    }
    if (span == 0 && std::uint64_t{first} + bytes <= size && is_stepping<std::uint32_t>(row, 0)) {
      warp.worker->work.shared_wavefronts += 1;
      return {Pattern::kUniform, warp.block->shared.data() + first};
    }
  }
  if (Reach halves{Pattern::kHalves};
      access.count == 1 && find_shared_halves(warp, access, row, bytes, halves))
    return halves;
  return reach_any(op, warp, access);
}

template <Where where, unsigned bytes, bool write>
[[gnu::always_inline]] inline Reach reach(const Op* op, WarpContext& warp,
                                          const MemoryAccess& access) {
  if constexpr (where == Where::kGeneric)
    return reach_global<bytes, write>(op, warp, access);
  else if constexpr (where == Where::kShared)
    return reach_shared<bytes>(op, warp, access);
  else
    return reach_any(op, warp, access);
}

}  // namespace drgpum::emulator::exec

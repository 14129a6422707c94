// SPDX-License-Identifier: Apache-2.0
#include "offline/order/pool_use.h"

#include <algorithm>

#include "offline/order/memory_timeline.h"

namespace drgpum {
namespace {

struct Level {
  std::uint64_t peak = 0;
  std::uint64_t then = 0;
};

Level level_of(const std::vector<LivePoint>& curve, std::uint32_t at) {
  Level level;
  for (const LivePoint& point : curve) {
    level.peak = std::max(level.peak, point.bytes);
    if (point.api <= at) level.then = point.bytes;
  }
  return level;
}

}  // namespace

std::optional<PoolUse> pool_use(const Evidence& evidence, std::uint16_t device, std::uint32_t at) {
  const auto is_block = [&](const Object& o) {
    return o.device == device && o.has_children && holds_memory(o, MemoryLevel::kAllocation);
  };
  // A part of a part is counted once: within the outermost.
  const auto is_handed_out = [&](const Object& o) {
    return o.device == device && o.parent != kNone && evidence.objects[o.parent].parent == kNone;
  };
  PoolUse use;
  use.blocks = static_cast<std::uint32_t>(
      std::count_if(evidence.objects.begin(), evidence.objects.end(), is_block));
  if (use.blocks == 0) return std::nullopt;
  const Level reserved = level_of(curve_where(evidence, is_block), at);
  const Level allocated = level_of(curve_where(evidence, is_handed_out), at);
  use.reserved_peak_bytes = reserved.peak;
  use.reserved_bytes = reserved.then;
  use.allocated_peak_bytes = allocated.peak;
  use.allocated_bytes = allocated.then;
  return use;
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "profiler/map_plan.h"

#include <algorithm>
#include <numeric>

#include "profiler/map_reduction.h"

namespace drgpum::profiler {
namespace {

constexpr std::uint32_t kWidestCellShift = 12;
constexpr std::uint64_t kMostCells = 0xffffffffu;  // as the layout says

bool gets_a_map(trace::ObjectKind kind) {
  return kind != trace::ObjectKind::kHostPinned && kind != trace::ObjectKind::kArray;
}

std::uint64_t aligned(std::uint64_t bytes) {
  return (bytes + 15) & ~std::uint64_t{15};
}

std::uint64_t bytes_of(const PlannedMap& map) {
  return 2 * map.bit_bytes + map.count_bytes;
}

PlannedMap sized(std::uint32_t index, std::uint64_t object_bytes, std::uint32_t cell_shift,
                 bool counts) {
  const std::uint64_t cells = cells_of(object_bytes, cell_shift);
  PlannedMap map;
  map.index = index;
  map.cell_shift = cell_shift;
  map.counts = counts;
  map.bit_bytes = aligned((cells + 31) / 32 * sizeof(std::uint32_t));
  map.count_bytes = counts ? aligned(cells * sizeof(std::uint32_t)) : 0;
  return map;
}

// The best map of at most `room` bytes; one of no cells when there is none.
PlannedMap best_map(std::uint32_t index, std::uint64_t object_bytes, std::uint32_t cell_shift,
                    std::uint64_t room) {
  for (std::uint32_t shift = cell_shift; shift <= kWidestCellShift; ++shift) {
    if (cells_of(object_bytes, shift) > kMostCells) continue;
    for (const bool counts : {true, false}) {
      if (counts && shift != cell_shift) continue;
      const PlannedMap map = sized(index, object_bytes, shift, counts);
      if (bytes_of(map) <= room) return map;
    }
  }
  return {};
}

}  // namespace

MapPlan plan_maps(const ObjectTable& table, std::uint32_t cell_shift, std::uint64_t limit,
                  const std::function<bool(ObjectId)>& is_likely) {
  std::vector<std::uint32_t> order(table.ranges.size());
  std::iota(order.begin(), order.end(), 0u);
  const auto size_of = [&](std::uint32_t i) { return table.ranges[i].end - table.ranges[i].begin; };
  std::vector<char> likely(order.size());
  for (const std::uint32_t i : order)
    likely[i] = is_likely(table.ids[i]) ? 1 : 0;
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return likely[a] != likely[b] ? likely[a] > likely[b] : size_of(a) < size_of(b);
  });
  MapPlan plan;
  for (const std::uint32_t i : order) {
    if (!gets_a_map(table.kinds[i])) continue;
    // What parts leave of their pool is hardly ever touched: the coarsest map says so.
    const std::uint32_t finest = table.is_rest(i) ? kWidestCellShift : cell_shift;
    PlannedMap map = best_map(i, size_of(i), finest, limit - plan.bytes);
    if (map.bit_bytes == 0) continue;
    map.offset = plan.bytes;
    plan.bytes += bytes_of(map);
    plan.maps.push_back(map);
  }
  return plan;
}

std::vector<device::ObjectMap> device_maps(const MapPlan& plan, std::size_t objects,
                                           std::uint64_t region) {
  std::vector<device::ObjectMap> maps(objects);
  for (const PlannedMap& planned : plan.maps) {
    device::ObjectMap& map = maps[planned.index];
    map.read_bits = region + planned.offset;
    map.write_bits = map.read_bits + planned.bit_bytes;
    map.counts = planned.counts ? map.write_bits + planned.bit_bytes : 0;
    map.cell_shift = planned.cell_shift;
  }
  return maps;
}

}  // namespace drgpum::profiler

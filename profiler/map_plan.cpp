// SPDX-License-Identifier: Apache-2.0
#include "profiler/map_plan.h"

#include <algorithm>

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

// How many maps there are to choose from for an object.
std::uint32_t levels_of(std::uint32_t finest_shift) {
  return (finest_shift < kWidestCellShift ? kWidestCellShift - finest_shift : 0) + 2;
}

// An object's maps from the least one up: ever finer cells, and at last counts. One of no cells where
// there would be too many.
PlannedMap map_at(std::uint32_t level, std::uint32_t index, std::uint64_t object_bytes,
                  std::uint32_t finest_shift) {
  const std::uint32_t levels = levels_of(finest_shift);
  const bool counts = level + 1 == levels;
  const std::uint32_t shift = counts ? finest_shift : finest_shift + levels - 2 - level;
  if (cells_of(object_bytes, shift) > kMostCells) return {};
  return sized(index, object_bytes, shift, counts);
}

// Objects that may be touched, those first that come first when room is short.
struct Candidates {
  std::vector<std::uint32_t> order;
  std::vector<std::uint32_t> finest_shift;  // of each in `order`
};

Candidates candidates_of(const ObjectTable& table, std::uint32_t cell_shift,
                         const std::function<bool(ObjectId)>& is_likely) {
  Candidates found;
  for (std::uint32_t i = 0; i < table.ranges.size(); ++i) {
    if (gets_a_map(table.kinds[i])) found.order.push_back(i);
  }
  const auto size_of = [&](std::uint32_t i) { return table.ranges[i].end - table.ranges[i].begin; };
  std::vector<char> likely(table.ranges.size());
  for (const std::uint32_t i : found.order)
    likely[i] = is_likely(table.ids[i]) ? 1 : 0;
  std::stable_sort(found.order.begin(), found.order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return likely[a] != likely[b] ? likely[a] > likely[b] : size_of(a) < size_of(b);
  });
  // What parts leave of their pool is hardly ever touched: the coarsest map says so.
  for (const std::uint32_t i : found.order)
    found.finest_shift.push_back(table.is_rest(i) ? kWidestCellShift : cell_shift);
  return found;
}

// Each object in turn takes the next better map, as long as there is room.
std::vector<PlannedMap> share_out(const ObjectTable& table, const Candidates& candidates,
                                  std::uint64_t limit) {
  std::vector<PlannedMap> maps(candidates.order.size());
  std::uint64_t left = limit;
  for (std::uint32_t level = 0, taken = 1; taken != 0; ++level) {
    taken = 0;
    for (std::size_t k = 0; k < maps.size(); ++k) {
      if (level >= levels_of(candidates.finest_shift[k])) continue;
      const device::ObjectRange& range = table.ranges[candidates.order[k]];
      const PlannedMap better = map_at(level, candidates.order[k], range.end - range.begin,
                                       candidates.finest_shift[k]);
      if (better.bit_bytes == 0 || bytes_of(better) > left + bytes_of(maps[k])) continue;
      left = left + bytes_of(maps[k]) - bytes_of(better);
      maps[k] = better;
      ++taken;
    }
  }
  std::erase_if(maps, [](const PlannedMap& map) { return map.bit_bytes == 0; });
  return maps;
}

// The best map of each object, or none when there is not room for all of them.
std::vector<PlannedMap> all_at_their_best(const ObjectTable& table, const Candidates& candidates,
                                          std::uint64_t limit) {
  std::vector<PlannedMap> maps;
  std::uint64_t bytes = 0;
  for (std::size_t k = 0; k < candidates.order.size(); ++k) {
    const device::ObjectRange& range = table.ranges[candidates.order[k]];
    const std::uint64_t size = range.end - range.begin;
    maps.push_back(sized(candidates.order[k], size, candidates.finest_shift[k], true));
    bytes += bytes_of(maps.back());
    if (bytes > limit || cells_of(size, candidates.finest_shift[k]) > kMostCells) return {};
  }
  return maps;
}

}  // namespace

MapPlan plan_maps(const ObjectTable& table, std::uint32_t cell_shift, std::uint64_t limit,
                  const std::function<bool(ObjectId)>& is_likely) {
  const Candidates candidates = candidates_of(table, cell_shift, is_likely);
  MapPlan plan;
  plan.maps = all_at_their_best(table, candidates, limit);
  if (plan.maps.empty()) plan.maps = share_out(table, candidates, limit);
  for (PlannedMap& map : plan.maps) {
    map.offset = plan.bytes;
    plan.bytes += bytes_of(map);
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

// SPDX-License-Identifier: Apache-2.0
#include "profiler/map_reduction.h"

#include <algorithm>
#include <bit>

namespace drgpum::profiler {
namespace {

constexpr std::uint64_t kWordBits = 32;

// First cell at or after `cell` whose bit is `value`; `end` when there is none.
std::uint64_t next_cell(std::span<const std::uint32_t> bits, std::uint64_t cell, std::uint64_t end,
                        bool value) {
  while (cell < end) {
    std::uint32_t word = bits[cell / kWordBits];
    if (!value) word = ~word;
    word &= ~std::uint32_t{0} << (cell % kWordBits);
    if (word != 0) {
      const auto offset = static_cast<std::uint64_t>(std::countr_zero(word));
      return std::min(cell / kWordBits * kWordBits + offset, end);
    }
    cell = (cell / kWordBits + 1) * kWordBits;
  }
  return end;
}

bool is_set(std::span<const std::uint32_t> bits, std::uint64_t cell) {
  return (bits[cell / kWordBits] >> (cell % kWordBits) & 1) != 0;
}

// Welford would be exact in one pass; two passes over memory are simpler and as exact.
void fill_statistics(const RawMap& map, trace::AccessMapRecord* record) {
  std::uint64_t sum = 0;
  record->count_histogram.assign(kWordBits, 0);
  for (const std::uint32_t count : map.counts) {
    if (count == 0) continue;
    ++record->counted_cells;
    sum += count;
    ++record->count_histogram[static_cast<std::size_t>(std::bit_width(count) - 1)];
  }
  if (record->counted_cells == 0) {
    record->count_histogram.clear();
    return;
  }
  while (record->count_histogram.back() == 0)
    record->count_histogram.pop_back();
  const auto cells = static_cast<double>(record->counted_cells);
  record->count_mean = static_cast<double>(sum) / cells;
  double squares = 0;
  for (const std::uint32_t count : map.counts) {
    if (count == 0) continue;
    const double distance = count - record->count_mean;
    squares += distance * distance;
  }
  record->count_variance = squares / cells;
}

trace::ByteRange bytes_of(const RawMap& map, std::uint64_t first, std::uint64_t end) {
  return {first << map.cell_shift, std::min(end << map.cell_shift, map.object_bytes)};
}

trace::ByteRange hot_range(const RawMap& map) {
  std::uint64_t total = 0;
  for (const std::uint32_t count : map.counts)
    total += count;
  if (total == 0) return {};
  const std::uint64_t wanted = (total + 1) / 2;
  std::uint64_t sum = 0, first = 0, best_first = 0, best_cells = map.counts.size() + 1;
  for (std::uint64_t last = 0; last < map.counts.size(); ++last) {
    sum += map.counts[last];
    while (sum - map.counts[first] >= wanted)
      sum -= map.counts[first++];
    if (sum >= wanted && last + 1 - first < best_cells) {
      best_first = first;
      best_cells = last + 1 - first;
    }
  }
  return bytes_of(map, best_first, best_first + best_cells);
}

std::vector<std::uint32_t> heat_strip(const RawMap& map, std::uint64_t cells) {
  const std::uint64_t per_part = (cells + kHeatStripCells - 1) / kHeatStripCells;
  if (per_part == 0) return {};
  std::vector<std::uint64_t> sums((cells + per_part - 1) / per_part);
  for (std::uint64_t cell = 0; cell < cells; ++cell) {
    const bool accessed = is_set(map.read_bits, cell) || is_set(map.write_bits, cell);
    if (accessed) sums[cell / per_part] += map.counts.empty() ? 1 : map.counts[cell];
  }
  std::vector<std::uint32_t> strip;
  strip.reserve(sums.size());
  for (const std::uint64_t sum : sums) {
    strip.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, UINT32_MAX)));
  }
  return strip;
}

}  // namespace

std::vector<trace::ByteRange> ranges_of(std::span<const std::uint32_t> bits,
                                        std::uint32_t cell_shift, std::uint64_t object_bytes) {
  const std::uint64_t cells = cells_of(object_bytes, cell_shift);
  std::vector<trace::ByteRange> ranges;
  for (std::uint64_t cell = next_cell(bits, 0, cells, true); cell < cells;) {
    const std::uint64_t end = next_cell(bits, cell, cells, false);
    ranges.push_back({cell << cell_shift, std::min(end << cell_shift, object_bytes)});
    cell = next_cell(bits, end, cells, true);
  }
  return ranges;
}

trace::AccessMapRecord reduce_map(const RawMap& map, std::uint32_t narrowest_access) {
  trace::AccessMapRecord record;
  record.cell_bytes = 1u << map.cell_shift;
  record.exact = narrowest_access != 0 && record.cell_bytes <= narrowest_access;
  record.read_ranges = ranges_of(map.read_bits, map.cell_shift, map.object_bytes);
  record.written_ranges = ranges_of(map.write_bits, map.cell_shift, map.object_bytes);
  if (!map.counts.empty()) {
    fill_statistics(map, &record);
    record.hot_range = hot_range(map);
  }
  record.heat_strip = heat_strip(map, cells_of(map.object_bytes, map.cell_shift));
  return record;
}

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#include "profiler/table_pieces.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "profiler/map_reduction.h"

namespace drgpum::profiler {
namespace {

using trace::AccessMapRecord;
using trace::ByteRange;

void append(std::vector<ByteRange>* to, const std::vector<ByteRange>& from) {
  for (const ByteRange& range : from) {
    if (!to->empty() && to->back().end == range.begin) {
      to->back().end = range.end;
    } else {
      to->push_back(range);
    }
  }
}

// Each cell of the range's strip falls into the cell of the object's strip where its middle lies.
std::vector<std::uint32_t> spread(const std::vector<std::uint32_t>& strip, std::uint64_t offset,
                                  std::uint64_t bytes, std::uint64_t object_bytes) {
  if (strip.empty() || object_bytes == 0) return {};
  const std::uint64_t cells = std::min<std::uint64_t>(kHeatStripCells, object_bytes);
  std::vector<std::uint32_t> wide(cells);
  for (std::size_t i = 0; i < strip.size(); ++i) {
    if (strip[i] == 0) continue;
    const double middle = static_cast<double>(offset) + (static_cast<double>(i) + 0.5) *
                                                            static_cast<double>(bytes) /
                                                            static_cast<double>(strip.size());
    const double place = middle / static_cast<double>(object_bytes) * static_cast<double>(cells);
    std::uint32_t& cell = wide[std::min(static_cast<std::uint64_t>(place), cells - 1)];
    cell = static_cast<std::uint32_t>(
        std::min<std::uint64_t>(std::uint64_t{cell} + strip[i], UINT32_MAX));
  }
  return wide;
}

// Mean and variance of both sides' cells together, from those of each.
void join_counts(const AccessMapRecord& from, AccessMapRecord* into) {
  const auto n = static_cast<double>(into->counted_cells);
  const auto m = static_cast<double>(from.counted_cells);
  if (n + m == 0) return;
  const double mean = (n * into->count_mean + m * from.count_mean) / (n + m);
  const auto around = [&](double variance, double own_mean) {
    return variance + (own_mean - mean) * (own_mean - mean);
  };
  into->count_variance = (n * around(into->count_variance, into->count_mean) +
                          m * around(from.count_variance, from.count_mean)) /
                         (n + m);
  into->count_mean = mean;
  if (from.counted_cells > into->counted_cells) into->hot_range = from.hot_range;
  into->counted_cells += from.counted_cells;
  if (into->count_histogram.size() < from.count_histogram.size())
    into->count_histogram.resize(from.count_histogram.size());
  for (std::size_t i = 0; i < from.count_histogram.size(); ++i)
    into->count_histogram[i] += from.count_histogram[i];
}

void join(const AccessMapRecord& from, AccessMapRecord* into) {
  into->cell_bytes = std::max(into->cell_bytes, from.cell_bytes);
  into->exact = into->exact && from.exact;
  append(&into->read_ranges, from.read_ranges);
  append(&into->written_ranges, from.written_ranges);
  if (into->accessed_bytes && from.accessed_bytes) *into->accessed_bytes += *from.accessed_bytes;
  into->largest_unaccessed_bytes.reset();  // a run may go on in the next range
  join_counts(from, into);
  if (into->heat_strip.size() < from.heat_strip.size())
    into->heat_strip.resize(from.heat_strip.size());
  for (std::size_t i = 0; i < from.heat_strip.size(); ++i)
    into->heat_strip[i] += from.heat_strip[i];
}

std::uint64_t first_byte(const AccessMapRecord& map) {
  const std::uint64_t read = map.read_ranges.empty() ? UINT64_MAX : map.read_ranges[0].begin;
  return std::min(read, map.written_ranges.empty() ? UINT64_MAX : map.written_ranges[0].begin);
}

}  // namespace

std::vector<std::uint32_t> object_marks(const ObjectTable& table, const unsigned char* words) {
  std::vector<std::uint32_t> marks(table.ids.size());
  if (!marks.empty()) std::memcpy(marks.data(), words, marks.size() * sizeof marks[0]);
  if (table.pieces.empty()) return marks;
  std::unordered_map<std::uint32_t, std::size_t> first;  // range of each object
  for (std::size_t i = 0; i < marks.size(); ++i) {
    if (marks[i] == 0 || !table.is_rest(i)) continue;
    const std::size_t at = first.try_emplace(table.ids[i].value, i).first->second;
    if (at == i) continue;
    marks[at] |= marks[i];
    marks[i] = 0;
  }
  return marks;
}

void place_in_object(const ObjectTable& table, std::size_t i, AccessMapRecord* map) {
  if (!table.is_rest(i)) return;
  const ObjectTable::Piece& piece = table.pieces[i];
  for (auto* ranges : {&map->read_ranges, &map->written_ranges}) {
    for (ByteRange& range : *ranges)
      range = {range.begin + piece.offset, range.end + piece.offset};
  }
  if (map->hot_range.end != 0) {
    map->hot_range.begin += piece.offset;
    map->hot_range.end += piece.offset;
  }
  map->heat_strip = spread(map->heat_strip, piece.offset,
                           table.ranges[i].end - table.ranges[i].begin, piece.object_bytes);
}

void drop_partial(const ObjectTable& table, const unsigned char* words,
                  const std::vector<char>& has_map, std::vector<AccessMapRecord>* maps) {
  std::vector<ObjectId> partial;
  for (std::size_t i = 0; i < table.pieces.size(); ++i) {
    std::uint32_t mark = 0;
    std::memcpy(&mark, words + i * sizeof mark, sizeof mark);
    if (table.is_rest(i) && mark != 0 && has_map[i] == 0) partial.push_back(table.ids[i]);
  }
  std::erase_if(*maps, [&](const AccessMapRecord& map) {
    return std::find(partial.begin(), partial.end(), map.object) != partial.end();
  });
}

std::vector<AccessMapRecord> join_maps(std::vector<AccessMapRecord> maps) {
  std::stable_sort(maps.begin(), maps.end(), [](const auto& a, const auto& b) {
    return a.object != b.object ? a.object < b.object : first_byte(a) < first_byte(b);
  });
  std::vector<AccessMapRecord> joined;
  for (AccessMapRecord& map : maps) {
    if (!joined.empty() && joined.back().object == map.object) {
      join(map, &joined.back());
    } else {
      joined.push_back(std::move(map));
    }
  }
  return joined;
}

}  // namespace drgpum::profiler

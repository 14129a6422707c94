// SPDX-License-Identifier: Apache-2.0
#include "profiler/map_reduction.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <utility>

#include "proto/device/layout.h"

namespace drgpum::profiler {
namespace {

constexpr std::uint64_t kWordBits = 32;

// First cell at or after `cell` whose bit is `value`; `end` when there is none.
std::uint64_t next_cell(std::span<const std::uint32_t> bits, std::uint64_t cell, std::uint64_t end,
                        bool value) {
  constexpr std::uint64_t kBlock = 16;  // words without such a cell, passed at once
  const std::uint32_t flip = value ? 0 : ~std::uint32_t{0};
  if (cell >= end) return end;
  const std::uint64_t words = (end + kWordBits - 1) / kWordBits;
  std::uint64_t at = cell / kWordBits;
  std::uint32_t word = (bits[at] ^ flip) & ~std::uint32_t{0} << (cell % kWordBits);
  while (word == 0) {
    ++at;
    for (std::uint32_t any = 0; at + kBlock <= words; at += kBlock) {
      for (std::uint64_t i = 0; i < kBlock; ++i)
        any |= bits[at + i] ^ flip;
      if (any != 0) break;
    }
    if (at >= words) return end;
    word = bits[at] ^ flip;
  }
  return std::min(at * kWordBits + static_cast<std::uint64_t>(std::countr_zero(word)), end);
}

// Sums of counts, where neighbours mostly have the same.
class CountSums {
 public:
  explicit CountSums(device::MapSummary* summary) : summary_(summary) {}
  ~CountSums() { flush(); }
  CountSums(const CountSums&) = delete;
  CountSums& operator=(const CountSums&) = delete;

  // Their sum.
  std::uint64_t add(std::span<const std::uint32_t> counts) {
    std::uint64_t sum = 0;
    for (; counts.size() >= kBlock; counts = counts.subspan(kBlock))
      sum += add_block(counts.data());
    for (const std::uint32_t count : counts)
      sum += add_cells(count, 1);
    return sum;
  }

 private:
  static constexpr std::size_t kBlock = 16;

  std::uint64_t add_block(const std::uint32_t* counts) {
    std::uint32_t differs = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
      differs |= counts[i] ^ counts[0];
    if (differs == 0) return add_cells(counts[0], kBlock);
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < kBlock; ++i)
      sum += add_cells(counts[i], 1);
    return sum;
  }

  std::uint64_t add_cells(std::uint32_t count, std::uint64_t cells) {
    if (count != count_) {
      flush();
      count_ = count;
    }
    cells_ += cells;
    return count * cells;
  }

  void flush() {
    if (count_ != 0 && cells_ != 0) {
      const std::uint64_t square = std::uint64_t{count_} * count_;
      summary_->counted_cells += cells_;
      summary_->full_cells += count_ >= device::kFullCount ? cells_ : 0;
      summary_->count_sum += cells_ * count_;
      summary_->square_low += cells_ * (square & 0xffffffffu);
      summary_->square_high += cells_ * (square >> 32);
      summary_->histogram[static_cast<std::size_t>(std::bit_width(count_) - 1)] += cells_;
    }
    cells_ = 0;
  }

  device::MapSummary* summary_;
  std::uint32_t count_ = 0;  // of cells_ cells that are not in the summary yet
  std::uint64_t cells_ = 0;
};

// Accessed cells among [begin, end).
std::uint64_t accessed_cells(const RawMap& map, std::uint64_t begin, std::uint64_t end) {
  std::uint64_t sum = 0;
  for (std::uint64_t word = begin / kWordBits; word * kWordBits < end; ++word) {
    std::uint32_t bits = map.read_bits[word] | map.write_bits[word];
    if (word == begin / kWordBits) bits &= ~std::uint32_t{0} << (begin % kWordBits);
    if (end - word * kWordBits < kWordBits) bits &= ~(~std::uint32_t{0} << (end % kWordBits));
    sum += static_cast<std::uint64_t>(std::popcount(bits));
  }
  return sum;
}

// Sums of the parts; without counts, of accessed cells. The counts go into the summary as well.
std::vector<std::uint64_t> sum_parts(const RawMap& map, std::uint64_t cells, const MapParts& parts,
                                     device::MapSummary* summary) {
  CountSums counts(summary);
  std::vector<std::uint64_t> sums(parts.parts);
  for (std::uint64_t part = 0; part < parts.parts; ++part) {
    const std::uint64_t begin = part * parts.cells_per_part;
    const std::uint64_t end = std::min(begin + parts.cells_per_part, cells);
    sums[part] = map.counts.empty() ? accessed_cells(map, begin, end)
                                    : counts.add(map.counts.subspan(begin, end - begin));
  }
  return sums;
}

void find_hot(const std::vector<std::uint64_t>& sums, device::MapSummary* summary) {
  std::uint64_t total = 0;
  for (const std::uint64_t sum : sums)
    total += sum;
  if (total == 0) return;
  const std::uint64_t wanted = total / 2 + total % 2;
  std::uint64_t sum = 0;
  std::size_t first = 0, best_first = 0, best = sums.size() + 1;
  for (std::size_t last = 0; last < sums.size(); ++last) {
    sum += sums[last];
    while (sum - sums[first] >= wanted)
      sum -= sums[first++];
    if (sum >= wanted && last + 1 - first < best) {
      best_first = first;
      best = last + 1 - first;
    }
  }
  summary->hot_begin = static_cast<std::uint32_t>(best_first);
  summary->hot_end = static_cast<std::uint32_t>(best_first + best);
}

// Runs that nothing accessed.
void find_rest(const RawMap& map, std::uint64_t cells, device::MapSummary* summary) {
  std::vector<std::uint32_t> rest(map.read_bits.size());
  for (std::size_t word = 0; word < rest.size(); ++word)
    rest[word] = ~(map.read_bits[word] | map.write_bits[word]);
  summary->accessed_cells = cells;
  for (std::uint64_t cell = next_cell(rest, 0, cells, true); cell < cells;) {
    const std::uint64_t end = next_cell(rest, cell, cells, false);
    ++summary->unaccessed_runs;
    summary->accessed_cells -= end - cell;
    summary->largest_unaccessed =
        std::max(summary->largest_unaccessed, static_cast<std::uint32_t>(end - cell));
    cell = next_cell(rest, end, cells, true);
  }
}

trace::ByteRange bytes_of(std::uint64_t first, std::uint64_t end, std::uint32_t cell_shift,
                          std::uint64_t object_bytes) {
  return {first << cell_shift, std::min(end << cell_shift, object_bytes)};
}

// Population variance, from sums that are exact.
double variance_of(const device::MapSummary& summary) {
  __extension__ using Wide = unsigned __int128;
  const Wide squares = (Wide{summary.square_high} << 32) + summary.square_low;
  const Wide cells = summary.counted_cells;
  const Wide sum = summary.count_sum;
  const auto n = static_cast<double>(summary.counted_cells);
  return static_cast<double>(cells * squares - sum * sum) / (n * n);
}

}  // namespace

MapParts parts_of(std::uint64_t cells) {
  constexpr std::uint64_t kLarge = 1 << 22;  // cells
  const std::uint64_t most = cells >= kLarge ? device::kMostParts : kHeatStripCells;
  MapParts parts;
  parts.cells_per_part = std::max<std::uint64_t>((cells + most - 1) / most, 1);
  parts.parts = (cells + parts.cells_per_part - 1) / parts.cells_per_part;
  return parts;
}

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

std::vector<trace::ByteRange> ranges_of(std::span<const device::CellRun> runs,
                                        std::uint32_t cell_shift, std::uint64_t object_bytes) {
  std::vector<trace::ByteRange> ranges;
  ranges.reserve(runs.size());
  for (const device::CellRun& run : runs)
    ranges.push_back(bytes_of(run.begin, run.end, cell_shift, object_bytes));
  return ranges;
}

ReducedMap reduce_map(const RawMap& map) {
  const std::uint64_t cells = cells_of(map.object_bytes, map.cell_shift);
  ReducedMap reduced;
  reduced.read_ranges = ranges_of(map.read_bits, map.cell_shift, map.object_bytes);
  reduced.written_ranges = ranges_of(map.write_bits, map.cell_shift, map.object_bytes);
  reduced.summary.read_runs = static_cast<std::uint32_t>(reduced.read_ranges.size());
  reduced.summary.written_runs = static_cast<std::uint32_t>(reduced.written_ranges.size());
  find_rest(map, cells, &reduced.summary);
  const std::vector<std::uint64_t> sums =
      sum_parts(map, cells, parts_of(cells), &reduced.summary);
  if (!map.counts.empty()) find_hot(sums, &reduced.summary);
  reduced.strip.reserve(sums.size());
  for (const std::uint64_t sum : sums)
    reduced.strip.push_back(static_cast<std::uint32_t>(std::min<std::uint64_t>(sum, UINT32_MAX)));
  return reduced;
}

trace::AccessMapRecord record_of(ReducedMap map, std::uint32_t cell_shift,
                                 std::uint64_t object_bytes, std::uint32_t narrowest_access) {
  const device::MapSummary& summary = map.summary;
  trace::AccessMapRecord record;
  record.cell_bytes = 1u << cell_shift;
  record.exact = narrowest_access != 0 && record.cell_bytes <= narrowest_access;
  record.read_ranges = std::move(map.read_ranges);
  record.written_ranges = std::move(map.written_ranges);
  record.counted_cells = summary.counted_cells;
  if (summary.counted_cells != 0) {
    const auto cells = static_cast<double>(summary.counted_cells);
    record.count_mean = static_cast<double>(summary.count_sum) / cells;
    record.count_variance = variance_of(summary);
    record.count_histogram.assign(std::begin(summary.histogram), std::end(summary.histogram));
    while (record.count_histogram.back() == 0)
      record.count_histogram.pop_back();
    const std::uint64_t part = parts_of(cells_of(object_bytes, cell_shift)).cells_per_part;
    record.hot_range =
        bytes_of(summary.hot_begin * part, summary.hot_end * part, cell_shift, object_bytes);
  }
  record.heat_strip = std::move(map.strip);
  // The last cell may reach beyond the object.
  const std::uint64_t cells = cells_of(object_bytes, cell_shift);
  record.accessed_bytes = bytes_of(0, summary.accessed_cells, cell_shift, object_bytes).end;
  record.largest_unaccessed_bytes =
      std::min(std::uint64_t{summary.largest_unaccessed} << cell_shift, object_bytes);
  const bool last_accessed = (!record.read_ranges.empty() &&
                              record.read_ranges.back().end == object_bytes) ||
                             (!record.written_ranges.empty() &&
                              record.written_ranges.back().end == object_bytes);
  const std::uint64_t beyond = (cells << cell_shift) - object_bytes;
  if (last_accessed && summary.accessed_cells != cells) *record.accessed_bytes -= beyond;
  return record;
}

}  // namespace drgpum::profiler

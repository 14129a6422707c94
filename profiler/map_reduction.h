// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is kept of an access map: runs of accessed cells, and how the accesses spread over them. The
// host's own reduction of a map that was read back, and what both it and the pattern kernels'
// (proto/device/map_summary.h) become in the trace.

#include <cstdint>
#include <span>
#include <vector>

#include "proto/device/map_summary.h"
#include "proto/trace/record.h"

namespace drgpum::profiler {

// The map of one object in one launch, read back. `counts` may be empty.
struct RawMap {
  std::span<const std::uint32_t> read_bits;  // one bit a cell, as ObjectMap has them
  std::span<const std::uint32_t> write_bits;
  std::span<const std::uint32_t> counts;  // one word a cell
  std::uint32_t cell_shift = 0;
  std::uint64_t object_bytes = 0;  // the last cell may reach beyond; ranges do not
};

// Cells of an object of this size.
constexpr std::uint64_t cells_of(std::uint64_t bytes, std::uint32_t cell_shift) {
  return (bytes + (std::uint64_t{1} << cell_shift) - 1) >> cell_shift;
}

// The equal parts that a map's heat strip sums up: at most 512, of very large maps 4,096, so that a
// launch's record stays small beside its map.
inline constexpr std::size_t kHeatStripCells = 512;
struct MapParts {
  std::uint64_t cells_per_part = 1;
  std::uint64_t parts = 0;
};
MapParts parts_of(std::uint64_t cells);

// What is kept: the numbers, the strip, and the runs as byte ranges.
struct ReducedMap {
  device::MapSummary summary{};
  std::vector<std::uint32_t> strip;
  std::vector<trace::ByteRange> read_ranges;
  std::vector<trace::ByteRange> written_ranges;
};

// The runs of set bits, as byte ranges of the object.
std::vector<trace::ByteRange> ranges_of(std::span<const std::uint32_t> bits,
                                        std::uint32_t cell_shift, std::uint64_t object_bytes);
// Runs of cells as byte ranges of the object.
std::vector<trace::ByteRange> ranges_of(std::span<const device::CellRun> runs,
                                        std::uint32_t cell_shift, std::uint64_t object_bytes);

// The strip sums the counts (without counts: accessed cells) of the parts; the hot range is the
// shortest run of parts that holds at least half of all accesses.
ReducedMap reduce_map(const RawMap& map);

// Everything but `api` and `object`. Statistics are over the cells that were accessed.
// `narrowest_access`: in bytes; decides whether the cells tell every access apart.
trace::AccessMapRecord record_of(ReducedMap map, std::uint32_t cell_shift,
                                 std::uint64_t object_bytes, std::uint32_t narrowest_access);

}  // namespace drgpum::profiler

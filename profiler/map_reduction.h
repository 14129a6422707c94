// SPDX-License-Identifier: Apache-2.0
#pragma once
// What is kept of an access map: runs of accessed cells, and how the accesses spread over them.

#include <cstdint>
#include <span>
#include <vector>

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

inline constexpr std::size_t kHeatStripCells = 512;  // keeps a launch's record small

// Cells of an object of this size.
constexpr std::uint64_t cells_of(std::uint64_t bytes, std::uint32_t cell_shift) {
  return (bytes + (std::uint64_t{1} << cell_shift) - 1) >> cell_shift;
}

// The runs of set bits, as byte ranges of the object.
std::vector<trace::ByteRange> ranges_of(std::span<const std::uint32_t> bits,
                                        std::uint32_t cell_shift, std::uint64_t object_bytes);

// Fills in everything but `api` and `object`. Statistics are over the cells that were accessed. The
// hot range is the shortest run of cells that holds at least half of all accesses. The heat strip
// sums the counts (without counts: accessed cells) of equal parts of the object.
// `narrowest_access`: in bytes; decides whether the cells tell every access apart.
trace::AccessMapRecord reduce_map(const RawMap& map, std::uint32_t narrowest_access);

}  // namespace drgpum::profiler

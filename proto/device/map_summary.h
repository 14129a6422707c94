// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the pattern kernels (gpu_analysis/pattern_kernels.cu) make of access maps where they lie, so
// that a map itself need not cross to the host. Plain structs for both compilers. All numbers are
// sums of integers: they do not depend on the order in which threads add, and the host's own
// reduction (profiler/map_reduction.h) gives the same.

#include <cstdint>

namespace drgpum::device {

// A run of cells [begin, end).
struct CellRun {
  std::uint32_t begin;
  std::uint32_t end;
};

inline constexpr std::uint32_t kCountBins = 32;  // bin k: counts in [2^k, 2^(k+1))
inline constexpr std::uint32_t kMostParts = 4096;

struct MapSummary {
  std::uint64_t accessed_cells;  // read or written
  std::uint64_t counted_cells;   // with a count above 0
  std::uint64_t full_cells;      // whose count reached kFullCount
  std::uint64_t count_sum;
  std::uint64_t square_low;   // the sum of the squares is square_low + 2^32 * square_high
  std::uint64_t square_high;
  std::uint64_t histogram[kCountBins];
  std::uint32_t read_runs;  // in all; as many as have room are listed
  std::uint32_t written_runs;
  std::uint32_t unaccessed_runs;
  std::uint32_t largest_unaccessed;  // cells of the longest run that nothing accessed
  std::uint32_t hot_begin;  // the shortest run of parts with half of the accesses
  std::uint32_t hot_end;
};

// One map to reduce. The summary and the sums are zero before.
struct MapJob {
  std::uint64_t read_bits;   // u32 words, as ObjectMap has them
  std::uint64_t write_bits;  // likewise
  std::uint64_t counts;      // u32 a cell, or 0
  std::uint64_t summary;     // MapSummary
  std::uint64_t sums;        // u64[parts]: accesses, or accessed cells where there are no counts
  std::uint64_t strip;       // u32[parts]: the same, but never above 2^32 - 1
  std::uint64_t runs;        // CellRun[2 * run_room]: of reads, then of writes
  std::uint32_t cells;
  std::uint32_t cells_per_part;
  std::uint32_t parts;
  std::uint32_t run_room;
};

static_assert(sizeof(CellRun) == 8);
static_assert(sizeof(MapSummary) == 328 && alignof(MapSummary) == 8);
static_assert(sizeof(MapJob) == 72 && alignof(MapJob) == 8);

// Names and shapes: drgpum_sum_cells over a grid of (any, jobs) blocks, then drgpum_find_runs over
// (jobs) blocks, both of kPatternThreads threads and with (const MapJob*) as parameters.
inline constexpr std::uint32_t kPatternThreads = 256;
inline constexpr const char* kSumCellsKernel = "drgpum_sum_cells";
inline constexpr const char* kFindRunsKernel = "drgpum_find_runs";

}  // namespace drgpum::device

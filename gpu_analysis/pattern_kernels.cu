// SPDX-License-Identifier: Apache-2.0
// Reduces access maps on the device; proto/device/map_summary.h says what comes out. No kernel
// waits for another: drgpum_find_runs is launched behind drgpum_sum_cells on one stream.

#include <cstdint>

#include "proto/device/layout.h"
#include "proto/device/map_summary.h"

namespace {

using drgpum::device::CellRun;
using drgpum::device::kCountBins;
using drgpum::device::kPatternThreads;
using drgpum::device::MapJob;
using drgpum::device::MapSummary;

constexpr std::uint32_t kWarp = 32;
constexpr std::uint32_t kAllLanes = 0xffffffffu;

template <typename T>
__device__ T* at(std::uint64_t address) {
  return reinterpret_cast<T*>(address);
}

__device__ void add(std::uint64_t* to, std::uint64_t value) {
  if (value != 0) atomicAdd(reinterpret_cast<unsigned long long*>(to), value);
}

__device__ std::uint64_t warp_sum(std::uint64_t value) {
  for (std::uint32_t offset = kWarp / 2; offset != 0; offset /= 2)
    value += __shfl_down_sync(kAllLanes, value, offset);
  return value;
}

__device__ bool is_set(const std::uint32_t* bits, std::uint32_t cell) {
  return (bits[cell / 32] >> (cell % 32) & 1u) != 0;
}

// What one thread saw of the counts.
struct Counts {
  std::uint64_t cells = 0, full = 0, sum = 0, low = 0, high = 0;

  __device__ void take(std::uint32_t count) {
    const std::uint64_t square = std::uint64_t{count} * count;
    cells += 1;
    full += count >= drgpum::device::kFullCount ? 1 : 0;
    sum += count;
    low += square & 0xffffffffu;
    high += square >> 32;
  }
  __device__ void give(MapSummary* summary) const {
    add(&summary->counted_cells, cells);
    add(&summary->full_cells, full);
    add(&summary->count_sum, sum);
    add(&summary->square_low, low);
    add(&summary->square_high, high);
  }
};

// The sum of one part, by one warp.
__device__ std::uint64_t sum_part(const MapJob& job, std::uint32_t part, Counts* counts,
                                  std::uint32_t* bins) {
  const auto* counted = at<const std::uint32_t>(job.counts);
  const auto* reads = at<const std::uint32_t>(job.read_bits);
  const auto* writes = at<const std::uint32_t>(job.write_bits);
  const std::uint32_t begin = part * job.cells_per_part;
  const std::uint32_t left = job.cells - begin;
  const std::uint32_t size = left < job.cells_per_part ? left : job.cells_per_part;
  std::uint64_t sum = 0;
  for (std::uint32_t i = threadIdx.x % kWarp; i < size; i += kWarp) {
    const std::uint32_t cell = begin + i;
    if (counted == nullptr) {
      sum += is_set(reads, cell) || is_set(writes, cell) ? 1 : 0;
      continue;
    }
    const std::uint32_t count = counted[cell];
    if (count == 0) continue;
    sum += count;
    counts->take(count);
    atomicAdd(&bins[31 - __clz(static_cast<int>(count))], 1u);
  }
  return warp_sum(sum);
}

enum class Kind { kRead, kWritten, kUnaccessed };

// The bits of a kind, 32 cells at a time; none beyond the last cell.
template <Kind kind>
__device__ std::uint32_t word_of(const MapJob& job, std::uint32_t word) {
  std::uint32_t bits = 0;
  if (kind != Kind::kWritten) bits |= at<const std::uint32_t>(job.read_bits)[word];
  if (kind != Kind::kRead) bits |= at<const std::uint32_t>(job.write_bits)[word];
  if (kind != Kind::kUnaccessed) return bits;
  const std::uint32_t last = job.cells - word * 32;
  return ~bits & (last >= 32 ? kAllLanes : (1u << last) - 1u);
}

// The words that a thread looks at, [begin, end).
struct Share {
  std::uint32_t begin, end, words;
};

__device__ Share share_of(const MapJob& job) {
  const std::uint32_t words = (job.cells - 1) / 32 + 1;
  const std::uint32_t each = (words - 1) / kPatternThreads + 1;
  const std::uint32_t begin = threadIdx.x * each < words ? threadIdx.x * each : words;
  return {begin, begin + each < words ? begin + each : words, words};
}

// Calls `with_bit(cell, is_end)` for the first cell of every run that begins in the share and for
// the last of every run that ends in it.
template <Kind kind, typename With>
__device__ void for_each_edge(const MapJob& job, const Share& share, With with_edges) {
  if (share.begin == share.end) return;
  std::uint32_t before = share.begin == 0 ? 0 : word_of<kind>(job, share.begin - 1) >> 31;
  std::uint32_t bits = word_of<kind>(job, share.begin);
  for (std::uint32_t word = share.begin; word < share.end; ++word) {
    const std::uint32_t next = word + 1 < share.words ? word_of<kind>(job, word + 1) : 0;
    with_edges(word * 32, bits & ~(bits << 1 | before), bits & ~(bits >> 1 | next << 31));
    before = bits >> 31;
    bits = next;
  }
}

// Sum of the values of the threads before this one; `all` gets the sum of all.
__device__ std::uint32_t sum_before(std::uint32_t value, std::uint32_t* shared,
                                    std::uint32_t* all) {
  shared[threadIdx.x] = value;
  __syncthreads();
  for (std::uint32_t offset = 1; offset < kPatternThreads; offset *= 2) {
    const std::uint32_t more = threadIdx.x >= offset ? shared[threadIdx.x - offset] : 0;
    __syncthreads();
    shared[threadIdx.x] += more;
    __syncthreads();
  }
  *all = shared[kPatternThreads - 1];
  const std::uint32_t before = shared[threadIdx.x] - value;
  __syncthreads();
  return before;
}

// Counts the runs of a kind and lists those that have room, in order.
template <Kind kind>
__device__ std::uint32_t list_runs(const MapJob& job, CellRun* runs, std::uint32_t* shared) {
  const Share share = share_of(job);
  std::uint32_t begins = 0, ends = 0, all = 0;
  for_each_edge<kind>(job, share, [&](std::uint32_t, std::uint32_t first, std::uint32_t last) {
    begins += __popc(first);
    ends += __popc(last);
  });
  std::uint32_t at_begin = sum_before(begins, shared, &all);
  std::uint32_t at_end = sum_before(ends, shared, &all);
  if (runs == nullptr) return all;
  for_each_edge<kind>(job, share,
                      [&](std::uint32_t cell, std::uint32_t first, std::uint32_t last) {
                        for (; first != 0; first &= first - 1, ++at_begin) {
                          if (at_begin < job.run_room) runs[at_begin].begin = cell + __ffs(first) - 1;
                        }
                        for (; last != 0; last &= last - 1, ++at_end) {
                          if (at_end < job.run_room) runs[at_end].end = cell + __ffs(last);
                        }
                      });
  return all;
}

// Runs of a stretch of cells: the longest, and those that touch its two ends.
struct Stretch {
  std::uint32_t cells = 0, first = 0, last = 0, longest = 0;

  __device__ void append(const Stretch& next) {
    const std::uint32_t joint = last + next.first;
    longest = max(max(longest, next.longest), joint);
    first = first == cells ? cells + next.first : first;
    last = next.last == next.cells ? last + next.cells : next.last;
    cells += next.cells;
  }
};

// The run lengths of one word's `size` cells, bit by bit only where the word is mixed.
__device__ Stretch stretch_of(std::uint32_t bits, std::uint32_t size) {
  Stretch stretch;
  const std::uint32_t all = size == 32 ? kAllLanes : (1u << size) - 1u;
  stretch.cells = size;
  if (bits == all) {
    stretch.first = stretch.last = stretch.longest = size;
    return stretch;
  }
  if (bits == 0) return stretch;
  stretch.first = __ffs(~bits) - 1;
  stretch.last = __clz(~(bits << (32 - size)));
  std::uint32_t rest = bits;
  for (; rest != 0; rest &= rest << 1)  // each round takes one cell off every run
    ++stretch.longest;
  return stretch;
}

__device__ std::uint32_t longest_unaccessed(const MapJob& job, std::uint64_t* accessed) {
  __shared__ Stretch stretches[kPatternThreads];
  const Share share = share_of(job);
  Stretch mine;
  std::uint64_t cells = 0;
  for (std::uint32_t word = share.begin; word < share.end; ++word) {
    const std::uint32_t left = job.cells - word * 32;
    const std::uint32_t size = left < 32 ? left : 32;
    const std::uint32_t bits = word_of<Kind::kUnaccessed>(job, word);
    cells += size - __popc(bits);
    mine.append(stretch_of(bits, size));
  }
  add(accessed, cells);
  stretches[threadIdx.x] = mine;
  __syncthreads();
  Stretch all;
  if (threadIdx.x == 0) {
    for (std::uint32_t thread = 0; thread < kPatternThreads; ++thread)
      all.append(stretches[thread]);
  }
  return all.longest;
}

// The shortest run of parts that holds half of the sum or more, the first of equals.
__device__ void find_hot(const MapJob& job, MapSummary* summary) {
  const auto* sums = at<const std::uint64_t>(job.sums);
  std::uint64_t total = 0;
  for (std::uint32_t part = 0; part < job.parts; ++part)
    total += sums[part];
  if (total == 0) return;
  const std::uint64_t wanted = total / 2 + total % 2;
  std::uint64_t sum = 0;
  std::uint32_t first = 0, best = job.parts + 1, best_first = 0;
  for (std::uint32_t last = 0; last < job.parts; ++last) {
    sum += sums[last];
    while (sum - sums[first] >= wanted)
      sum -= sums[first++];
    if (sum >= wanted && last + 1 - first < best) {
      best_first = first;
      best = last + 1 - first;
    }
  }
  summary->hot_begin = best_first;
  summary->hot_end = best_first + best;
}

}  // namespace

// Sums of the parts, and over all cells their number, sum, squares and histogram.
extern "C" __global__ void __launch_bounds__(kPatternThreads)
    drgpum_sum_cells(const MapJob* jobs) {
  __shared__ std::uint32_t bins[kCountBins];
  const MapJob& job = jobs[blockIdx.y];
  if (threadIdx.x < kCountBins) bins[threadIdx.x] = 0;
  __syncthreads();
  auto* summary = at<MapSummary>(job.summary);
  auto* sums = at<std::uint64_t>(job.sums);
  Counts counts;
  constexpr std::uint32_t kWarps = kPatternThreads / kWarp;
  const std::uint32_t warp = blockIdx.x * kWarps + threadIdx.x / kWarp;
  for (std::uint32_t part = warp; part < job.parts; part += gridDim.x * kWarps) {
    const std::uint64_t sum = sum_part(job, part, &counts, bins);
    if (threadIdx.x % kWarp == 0) sums[part] = sum;
  }
  counts.give(summary);
  __syncthreads();
  if (threadIdx.x < kCountBins) add(&summary->histogram[threadIdx.x], bins[threadIdx.x]);
}

// Runs of cells, the hot parts and the strip.
extern "C" __global__ void __launch_bounds__(kPatternThreads)
    drgpum_find_runs(const MapJob* jobs) {
  __shared__ std::uint32_t shared[kPatternThreads];
  const MapJob& job = jobs[blockIdx.x];
  auto* summary = at<MapSummary>(job.summary);
  auto* runs = at<CellRun>(job.runs);
  const std::uint32_t reads = list_runs<Kind::kRead>(job, runs, shared);
  const std::uint32_t writes = list_runs<Kind::kWritten>(job, runs + job.run_room, shared);
  const std::uint32_t rest = list_runs<Kind::kUnaccessed>(job, nullptr, shared);
  const std::uint32_t longest = longest_unaccessed(job, &summary->accessed_cells);
  const auto* sums = at<const std::uint64_t>(job.sums);
  for (std::uint32_t part = threadIdx.x; part < job.parts; part += kPatternThreads) {
    const std::uint64_t sum = sums[part];
    at<std::uint32_t>(job.strip)[part] = sum < kAllLanes ? static_cast<std::uint32_t>(sum) : kAllLanes;
  }
  if (threadIdx.x != 0) return;
  summary->read_runs = reads;
  summary->written_runs = writes;
  summary->unaccessed_runs = rest;
  summary->largest_unaccessed = longest;
  if (job.counts != 0) find_hot(job, summary);
}

// SPDX-License-Identifier: Apache-2.0
#pragma once
// What allocators without a plan would need for the same sequence of allocations.

#include <cstdint>

#include "offline/plan/problem.h"

namespace drgpum {

// Bytes that each allocator has taken from the device at its peak.
struct Baselines {
  // NVIDIA's CnMem: best fit in blocks of 512 B, neighbours merged. Its device chunks are taken to
  // be one arena that grows at its end, which is kinder than the real one.
  std::int64_t cnmem = 0;
  // TensorFlow's BFC: 256 B, bins of powers of two, best fit within a bin; a chunk is split when it
  // is twice the request or leaves 128 MiB. One arena that grows at its end.
  std::int64_t bfc = 0;
  // PyTorch's caching allocator, default settings: 512 B; requests up to 1 MiB from segments of
  // 2 MiB, up to 10 MiB from segments of 20 MiB, larger ones from segments rounded to 2 MiB; best
  // fit; what remains of a large block is split off when it is more than 1 MiB. Reserved bytes.
  std::int64_t pytorch = 0;
};

// Replays the allocations and frees in the order of the planning axis; frees go before allocations
// at the same time. An object with gaps is freed and allocated again.
Baselines simulate_baselines(const Problem& problem);

}  // namespace drgpum

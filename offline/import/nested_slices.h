// SPDX-License-Identifier: Apache-2.0
#pragma once
// What went on in a thread at a moment: the slices of its timeline that hold it, the innermost
// first. Profilers that write no stacks with an event write such slices: operators and functions.

#include <cstdint>
#include <functional>
#include <vector>

namespace drgpum {

struct OpenSlice {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::uint32_t frame = 0;
};

struct AskedMoment {
  std::int64_t time = 0;
  std::uint64_t asker = 0;  // whose it is
};

// Calls `take` for each moment, with the frames of the slices that hold it; at most the 256 inner
// ones. Linear in slices and moments after sorting, whatever they are.
using TakeFrames = std::function<void(std::uint64_t asker, const std::vector<std::uint32_t>& frames)>;
void find_frames(std::vector<OpenSlice> slices, std::vector<AskedMoment> moments, const TakeFrames& take);

}  // namespace drgpum

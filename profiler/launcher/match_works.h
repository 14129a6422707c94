// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the works of one run again in another run of the same program.

#include <cstdint>
#include <span>
#include <vector>

#include "profiler/launcher/works_of_trace.h"

namespace drgpum::profiler {

inline constexpr std::size_t kNoWork = SIZE_MAX;

// Per work of `calls`, the place of the same one in `again`, or kNoWork; each is used once. Both
// are ordered lane by lane. Streams are paired by what they hold, for numbers differ from run to run;
// within a pair the longest common sequence counts. Works of the device that are left over are
// paired across streams in order of time: the nodes of a graph run wherever there is room.
std::vector<std::size_t> match_works(std::span<const Work> calls, std::span<const Work> again);

}  // namespace drgpum::profiler

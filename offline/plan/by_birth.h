// SPDX-License-Identifier: Apache-2.0
#pragma once
// The plan of one pass in the order of births, for problems on which every other planner is slow.

#include <cstdint>
#include <vector>

#include "offline/plan/problem.h"

namespace drgpum {

// Each object goes into the smallest hole that holds it when it is born, of equals the lowest, else on
// top, as an allocator does that knows nothing of the future. Offsets and sizes are multiples of the
// largest alignment. Gaps are not used, fixed offsets not kept. n log n, whatever lives together.
std::vector<std::int64_t> place_by_birth(const Problem& problem);

// How many pairs of objects live together: what the other one-pass planners look at. n log n.
std::uint64_t pairs_together(const Problem& problem);

}  // namespace drgpum

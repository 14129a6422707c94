// SPDX-License-Identifier: Apache-2.0
#pragma once
// The referee: says whether a plan is right, from the problem alone. Shares no code with planners.

#include <cstdint>
#include <span>

#include "offline/plan/problem.h"

namespace drgpum {

// Offsets in bytes, one per object of the problem, in its order. Fails with kInvalidArgument and
// one line that names the objects when an offset is negative, misaligned or not the fixed one, when
// two objects share bytes at one time, or when an object's end is above `capacity` (if that is not
// negative). Sweeps over time with the live objects ordered by offset: O(n log n).
Status check_layout(const Problem& problem, std::span<const std::int64_t> offsets,
                    std::int64_t capacity = -1);

// The largest end of any object: how many bytes the plan needs.
std::int64_t footprint_of(const Problem& problem, std::span<const std::int64_t> offsets);

}  // namespace drgpum

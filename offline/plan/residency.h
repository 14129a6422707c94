// SPDX-License-Identifier: Apache-2.0
#pragma once
// The combined plan: what stays on the device while a schedule of swaps is played, to be laid out.

#include <cstdint>
#include <vector>

#include "offline/plan/problem.h"
#include "offline/plan/swap_problem.h"
#include "offline/plan/swap_schedule.h"

namespace drgpum {

// An object that comes back may come back elsewhere, so each of its stays is one to lay out. The
// iterations of the unrolled timeline follow one another, so that what reaches over their border is
// laid out as well.
struct Residency {
  struct Stay {
    std::uint32_t object = 0;  // index into the source's objects
    TimeRange time;            // nanoseconds on the unrolled timeline, stalls included
  };
  Problem problem;          // of the stays; lifetimes are ranks of the changes, in their order
  std::vector<Stay> stays;  // of each of the problem's objects
};

Residency residency_of(const SwapProblem& problem, const Problem& source,
                       const SwapSchedule& schedule);

}  // namespace drgpum

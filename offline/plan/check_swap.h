// SPDX-License-Identifier: Apache-2.0
#pragma once
// The referee for swaps. Shares no code with the planners.

#include "offline/plan/swap_problem.h"
#include "offline/plan/swap_schedule.h"

namespace drgpum {

// Fails with kInvalidArgument and one line when: events come closer together than measured; a copy
// takes less time than the link needs, starts before the access it follows is over, or ends after
// the access that needs it; an object is touched while it is away; two copies share a stream; more
// than the limit is resident at any instant, the first included; or the overhead and the peak are
// not the ones claimed.
Status check_swaps(const SwapProblem& problem, const SwapSchedule& schedule);

}  // namespace drgpum

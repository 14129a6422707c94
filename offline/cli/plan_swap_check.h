// SPDX-License-Identifier: Apache-2.0
#pragma once
// A printed swap plan, read back and refereed.

#include <string>

#include "offline/plan/problem.h"

namespace drgpum {

// Nothing is wrong with a plan without swaps. kCorrupt when the JSON lacks something or means other
// events than the problem's; kInvalidArgument when the referee (check_swap.h) finds the plan broken,
// or its pool (check_plan.h), or the swaps and stays that it lists are not those of its schedule.
Status check_swap_plan(const Problem& problem, const std::string& json, const std::string& source);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of a printed plan that are about swapping and iterations.

#include <string>

#include "offline/cli/plan_output.h"

namespace drgpum {

// The members of the array `swaps`: those of the iteration that is shown.
std::string listed_swaps_as_json(const SwapOutcome& swap, const Problem& source);

// The members of the array `pool.objects`: what stays on the device and where, in nanoseconds.
std::string listed_stays_as_json(const SwapOutcome& swap, const Problem& source);

std::string swap_as_text(const SwapOutcome& swap);
// `,"autoswap":{...}` and `,"iteration":{...}`, to follow the fields of the plan.
std::string swap_as_json(const SwapOutcome& swap, const Problem& source);
std::string iteration_as_text(const IterationOutcome& iteration);
std::string iteration_as_json(const IterationOutcome& iteration);

}  // namespace drgpum

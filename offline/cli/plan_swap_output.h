// SPDX-License-Identifier: Apache-2.0
#pragma once
// The parts of a printed plan that are about swapping and iterations.

#include <string>

#include "offline/cli/plan_output.h"

namespace drgpum {

std::string swap_as_text(const SwapOutcome& swap);
// `,"autoswap":{...}` and `,"iteration":{...}`, to follow the fields of the plan.
std::string swap_as_json(const SwapOutcome& swap, const Problem& source);
std::string iteration_as_text(const IterationOutcome& iteration);
std::string iteration_as_json(const IterationOutcome& iteration);

}  // namespace drgpum

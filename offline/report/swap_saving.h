// SPDX-License-Identifier: Apache-2.0
#pragma once
// What planned swapping to host memory would take off the peak without slowing the program down.

#include <optional>

#include "offline/plan/problem.h"
#include "offline/report/report.h"

namespace drgpum {

// A short search for the lowest limit that costs no time, over one iteration where there are
// iterations and the whole run otherwise, on a PCIe 3 link; `drgpum plan --autoswap` searches on.
// Nothing without device times, without an object of at least 1 MiB that is idle in between, or for
// a run too long to plan in a moment.
std::optional<SwapSaving> swap_saving(const Problem& problem);

}  // namespace drgpum

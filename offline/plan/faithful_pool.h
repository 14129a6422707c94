// SPDX-License-Identifier: Apache-2.0
#pragma once
// SmartPool as published (arXiv 1903.06631 and its authors' code): weighted interval colouring.

#include <cstdint>
#include <vector>

#include "offline/plan/layout.h"
#include "offline/plan/problem.h"

namespace drgpum {

// Blocks that outlive the window (never freed in it) are coloured first and keep the lowest part of
// the pool for themselves; the others follow above it. Within each group largest first, ties by
// time of allocation; each block takes the first or the best hole between its coloured neighbours.
// One offset per object, in bytes.
std::vector<std::int64_t> plan_faithfully(const Problem& problem, Fit fit);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// How low a peak swapping can reach without a stall, at the very best.

#include <cstdint>
#include <span>

#include "offline/plan/swap_problem.h"

namespace drgpum {

// Lets parts of objects be swapped, and looks at one instant at a time: what can be away then has
// to have left between its access and the instant, and to come back between the instant and the
// next access, over the two streams. That is a flow through two chains of nested time windows; its
// maximum bounds what any schedule without stalls can have away. Bytes: the largest, over the
// instants, of the load less the flow. No plan over `among` without stalls has a lower peak.
std::int64_t zero_stall_bound(const SwapProblem& problem, std::span<const std::uint32_t> among);

}  // namespace drgpum

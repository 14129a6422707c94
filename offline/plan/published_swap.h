// SPDX-License-Identifier: Apache-2.0
#pragma once
// AutoSwap's own scheduler, as published, to compare with.

#include <cstdint>
#include <span>

#include "offline/plan/swap_problem.h"

namespace drgpum {

struct PublishedLags {  // events between an access and the moment its object may leave
  std::int32_t after_read = 1;
  std::int32_t after_write = 10;
};

// "Stick to limit" (swap_gpu.cc of the authors' pull request, and their prototype): copies out one
// after the other by their access, each over by the last event at which the limit still holds, or
// else the excess time counts; copies in one after the other backwards from their accesses, delayed
// until the limit holds, and the delay counts. Nanoseconds counted for one iteration. What counts
// does not move later events: the sum is a model, SwapPlayer's overhead is what happens. Two errors
// of the code are not repeated: a load above the limit at the very start of a range is seen, and a
// copy in that cannot start after the peak in time counts.
std::int64_t published_overhead(const SwapProblem& problem, std::span<const std::uint32_t> chosen,
                                std::int64_t limit, const PublishedLags& lags);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// A guess of what a choice of swaps costs, for a small part of the price of playing it.

#include <cstdint>
#include <span>
#include <vector>

#include "offline/plan/swap_problem.h"

namespace drgpum {

// Plays two iterations in stretches within which no candidate leaves or returns and hardly any time
// passes between two events, each with its highest load, instead of in events. A copy in starts as
// late as it can where a stretch has room for it; an access waits for its object, the highest load
// of a stretch for copies out. Like SwapPlayer it plays again with copies in that leave room for
// what is allocated until their access, where it cannot keep the limit otherwise.
class StallEstimate {
 public:
  // Both have to outlive it.
  StallEstimate(const SwapProblem& problem, std::span<const std::uint32_t> among);

  // `places` in `among`; `limit` in bytes. Nanoseconds, of the second iteration.
  double of(const std::vector<std::uint32_t>& places, std::int64_t limit) const;

 private:
  friend class StallEstimateRun;
  struct Stretch {
    std::int32_t event;     // where it begins
    std::int64_t begin_ns;  // of that
    std::int64_t load;      // the highest
    std::int64_t load_ns;   // of that
  };

  const SwapProblem& problem_;
  std::span<const std::uint32_t> among_;
  std::vector<Stretch> stretches_;
  std::vector<std::uint32_t> by_from_, by_to_;  // places in `among`
};

}  // namespace drgpum

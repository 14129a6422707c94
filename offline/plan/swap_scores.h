// SPDX-License-Identifier: Apache-2.0
#pragma once
// AutoSwap's four scores and the choice made by them.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "offline/plan/swap_problem.h"

namespace drgpum {

// As the authors define them (notes on their code: its index errors are not repeated here).
//   AOA    area of absence: the time away that the two copies do not take, times the size; where
//          the copies take longer than the absence, divided by the size
//   DOA    duration of absence: the same time, unweighted
//   WDOA   weighted duration: the load summed over the events away
//   SWDOA  submodular WDOA: greedy; each choice lowers the load that scores the next ones
inline constexpr std::array<std::string_view, 4> kSwapScores = {"AOA", "DOA", "WDOA", "SWDOA"};
using SwapWeights = std::array<double, 4>;

// The candidates that span the peak, which is all that the paper considers.
std::vector<std::uint32_t> peak_candidates(const SwapProblem& problem);

// One row per score, one number per candidate of `among`. Larger: swap earlier.
std::array<std::vector<double>, 4> swap_scores(const SwapProblem& problem,
                                               std::span<const std::uint32_t> among);

// The two that depend on times, AOA and DOA, alone.
std::array<std::vector<double>, 2> absence_scores(const SwapProblem& problem,
                                                  std::span<const std::uint32_t> among);

// Each row shifted to mean 0 and scaled to standard deviation 1 (all 0 where it is constant).
void normalise(std::array<std::vector<double>, 4>& scores);

// Candidates by falling weighted sum of normalised scores, until the load less what is away keeps
// the limit everywhere or none is left. For many weights: what they share is worked out once.
class SwapSelection {
 public:
  // All have to outlive it.
  SwapSelection(const SwapProblem& problem, std::span<const std::uint32_t> among,
                const std::array<std::vector<double>, 4>& normalised);

  // Places in `among`.
  std::vector<std::uint32_t> places(const SwapWeights& weights, std::int64_t limit) const;
  // Candidates.
  std::vector<std::uint32_t> select(const SwapWeights& weights, std::int64_t limit) const;

 private:
  // Where a candidate is away: stretches of an iteration in which none leaves or returns.
  struct Stretches {
    std::size_t first, last;               // half-open
    std::size_t wrapped_first, wrapped_last;  // those after the iteration's end
  };
  Stretches stretches_of(const SwapCandidate& candidate,
                         const std::vector<std::size_t>& of_event) const;

  const SwapProblem& problem_;
  std::span<const std::uint32_t> among_;
  const std::array<std::vector<double>, 4>& normalised_;
  std::vector<std::int64_t> load_;  // the highest of each stretch
  std::vector<Stretches> away_;     // of each of `among`
};

}  // namespace drgpum

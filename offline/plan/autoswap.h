// SPDX-License-Identifier: Apache-2.0
#pragma once
// AutoSwap: which objects go to the host between two accesses, so that a limit is kept cheaply.

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "offline/plan/problem.h"
#include "offline/plan/swap_problem.h"
#include "offline/plan/swap_schedule.h"
#include "offline/plan/swap_scores.h"

namespace drgpum {

enum class SwapMode : std::uint8_t {
  kScores,  // as published: objects that span the peak, the best of 24 weightings of four scores
  kBest,    // from there on a search over the choices themselves, among all objects
};

struct SwapOptions {
  SwapMode mode = SwapMode::kBest;
  int evaluations = 24;  // weightings tried
  int steps = 4000;      // choices tried by the search
  std::uint64_t seed = 0;
  const std::atomic<bool>* interrupted = nullptr;  // set from outside: the search ends there
  // Called now and then with the limit that is searched and the best cost so far.
  std::function<void(std::int64_t, const SwapCost&)> progress = {};
};

struct SwapPlan {
  std::vector<std::uint32_t> chosen;        // candidates
  SwapWeights weights{};                    // of AOA, DOA, WDOA, SWDOA: the best weighting
  SwapCost by_scores;                       // what that weighting alone costs
  SwapSchedule schedule;                    // refereed
  std::int64_t zero_stall_bound_bytes = 0;  // no plan without stalls has a lower peak
  bool feasible = false;                    // the limit is kept
};

// Plans for one limit, in bytes.
SwapPlan plan_swaps(const SwapProblem& problem, std::int64_t limit, const SwapOptions& options);

// Plans for `count` limits from just below the peak down to what remains with everything away; each
// starts from what the one before found. Largest limit first; stops at the first that fails.
std::vector<SwapPlan> sweep_limits(const SwapProblem& problem, int count,
                                   const SwapOptions& options);

// The same for these limits, bytes, in falling order.
std::vector<SwapPlan> sweep_limits(const SwapProblem& problem, std::span<const std::int64_t> limits,
                                   const SwapOptions& options);

// The lowest limit that it finds a plan without stalls for.
SwapPlan plan_without_stalls(const SwapProblem& problem, const SwapOptions& options);

// The value that the weighting is chosen by, nanoseconds: the overhead of the objects it selects.
double weighted_cost(SwapPlayer& player, const SwapProblem& problem,
                     const SwapSelection& selection, const SwapWeights& weights,
                     std::int64_t limit);

}  // namespace drgpum

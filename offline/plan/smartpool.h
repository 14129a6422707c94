// SPDX-License-Identifier: Apache-2.0
#pragma once
// SmartPool: where each object of a problem goes in one pool, so that the pool is small.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "offline/plan/layout.h"
#include "offline/plan/problem.h"

namespace drgpum {

enum class PoolMode : std::uint8_t {
  kFaithful,  // the published heuristic: weighted interval graph, largest first
  kBest,      // a portfolio of planners, with a certificate
};

struct PoolOptions {
  PoolMode mode = PoolMode::kBest;
  Fit fit = Fit::kFirst;  // kFaithful: the paper has both
  std::int64_t capacity =
      -1;                    // bytes; kBest stops at the first plan within; -1: as small as it can
  double time_limit_s = 10;  // of the processor; kBest returns its best plan then, but not before
                             // the end of its first pass
  // No clock, so that the plan depends on the problem alone: kBest runs its passes, then each rule of
  // the exact search for so many nodes, on up to 4,000 objects. -1: until the time limit.
  std::int64_t nodes = -1;
  double give_up_s = -1;  // of the processor; kBest has no plan when its first pass takes longer
  std::uint64_t seed = 0;
  const std::atomic<bool>* interrupted = nullptr;  // set from outside: return the best plan now
  // Called ten times a second: bytes of the best plan so far (-1: none), the lower bound, seconds
  // since the start.
  std::function<void(std::int64_t, std::int64_t, double)> progress = {};
};

struct PoolPlan {
  std::vector<std::int64_t> offsets;  // bytes, one per object of the problem
  std::int64_t footprint = 0;         // bytes the pool needs
  std::int64_t load = 0;              // the largest sum of live sizes
  std::int64_t lower_bound = 0;       // proven: no plan needs less; at least the load
  bool optimal = false;               // footprint == lower_bound
  bool within_capacity = true;
  std::string method;  // the planner that found it
};

// Plans and has the plan refereed (check_plan.h). kInvalidArgument when the problem does not
// validate, an object alone exceeds the capacity, or fixed objects overlap each other; kNotFound
// when it gave up.
Result<PoolPlan> plan_pool(const Problem& problem, const PoolOptions& options);

}  // namespace drgpum

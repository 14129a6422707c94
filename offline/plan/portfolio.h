// SPDX-License-Identifier: Apache-2.0
#pragma once
// The best mode of SmartPool: many planners after one another, the best plan of all.

#include <cstdint>
#include <vector>

#include "offline/plan/instance.h"
#include "offline/plan/smartpool.h"

namespace drgpum {

struct PortfolioResult {
  std::vector<std::int64_t> offsets;
  std::int64_t footprint = 0;
  std::int64_t lower_bound = 0;
  std::string method;
};

// Runs, cheapest first: one-pass planners; exact search of the core (the objects that live through
// the highest load) with the rest filled in; exact search of everything, narrowing down on the
// least capacity; ejection search. Ends at the goal (the capacity, or else the lower bound), at the
// time limit, or when interrupted. The method is empty when the first pass gave up.
PortfolioResult run_portfolio(const Instance& instance, const PoolOptions& options);

}  // namespace drgpum

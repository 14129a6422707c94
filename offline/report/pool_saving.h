// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a planned pool would need for the objects of a trace as they are.

#include <optional>
#include <vector>

#include "offline/order/memory_timeline.h"
#include "offline/plan/problem.h"
#include "offline/report/report.h"

namespace drgpum {

inline constexpr std::size_t kMaxPooledObjects = 1'000'000;

struct QuickPlan {
  PoolSaving saving;                  // without places
  std::vector<std::int64_t> offsets;  // bytes, one per object of the problem
};

// The first, greedy pass of the portfolio, which is one deterministic order and fit; where that would
// take long, because more than 10,000,000 pairs of objects live together, the one sweep of by_birth.h.
// Nothing for more than 1,000,000 objects, or none. `drgpum plan` searches on.
std::optional<QuickPlan> quick_plan(const Problem& problem);

// Of the objects of one device, aligned to 256 bytes as cudaMalloc does.
std::optional<PoolSaving> pool_saving(const Evidence& evidence, std::uint16_t device,
                                      MemoryLevel level);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plan as text, JSON, CSV and a C++ look-up table; and a plan read back.

#include <optional>
#include <string>
#include <vector>

#include "offline/plan/baselines.h"
#include "offline/plan/problem.h"
#include "offline/plan/smartpool.h"

namespace drgpum {

struct PlanOutcome {
  const Problem& problem;
  const PoolPlan& pool;
  std::int64_t capacity = -1;  // bytes; -1: none asked for
  Baselines baselines;
};

// One screen: what the pool needs, how far from the bound, against which allocators.
std::string plan_as_text(const PlanOutcome& outcome);
// One object, as the command line's contract names its fields; sizes and offsets in bytes.
std::string plan_as_json(const PlanOutcome& outcome);
// id,lower,upper,size,offset: readable by this and by other planners.
std::string plan_as_csv(const PlanOutcome& outcome);
// constexpr offsets in the order of allocation, to include in the program that was profiled.
std::string plan_as_header(const PlanOutcome& outcome);

// Offsets of a plan printed as JSON or CSV, in the order of the problem's objects. kCorrupt when
// `text` is neither, kInvalidArgument when an object is missing, unknown or has another size.
Result<std::vector<std::int64_t>> read_plan(const Problem& problem, const std::string& text,
                                            const std::string& source);

// 1,234,567 bytes as `1.18 MiB (1234567)`.
std::string shown_bytes(std::int64_t bytes);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// A plan as text, JSON, CSV and a C++ look-up table; and a plan read back.

#include <optional>
#include <string>
#include <vector>

#include "offline/plan/autoswap.h"
#include "offline/plan/baselines.h"
#include "offline/plan/iterations.h"
#include "offline/plan/problem.h"
#include "offline/plan/residency.h"
#include "offline/plan/smartpool.h"

namespace drgpum {

// One point of the curve of peak against overhead.
struct SwapPoint {
  std::int64_t limit_bytes = 0;
  std::int64_t overhead_ns = 0;
};

struct SwapOutcome {
  SwapProblem problem;
  SwapPlan plan;
  std::int64_t min_bytes = 0;    // smaller objects were not looked at
  std::int64_t first_event = 0;  // where the iteration that is shown starts, among the trace's
  std::int64_t first_ns = 0;     // and when, on the trace's clock
  Residency residency;           // what stays on the device meanwhile
  PoolPlan pool;                 // where, in a pool of its own
  std::vector<SwapPoint> curve;
};

// One iteration laid out on a circle: what lives on into the next one keeps its place.
struct IterationOutcome {
  Iterations iterations;
  CircularProblem circle;
  PoolPlan pool;
};

struct PlanOutcome {
  const Problem& problem;
  const PoolPlan& pool;
  std::int64_t capacity = -1;  // bytes; -1: none asked for
  Baselines baselines;
  std::optional<IterationOutcome> iteration = {};
  std::optional<SwapOutcome> swap = {};

  bool fits() const { return pool.within_capacity && (!swap || swap->plan.feasible); }
};

// One screen: what the pool needs, how far from the bound, against which allocators.
std::string plan_as_text(const PlanOutcome& outcome);
// One object, as the command line's contract names its fields; sizes and offsets in bytes.
std::string plan_as_json(const PlanOutcome& outcome);
// id,lower,upper,size,offset: readable by this and by other planners.
std::string plan_as_csv(const PlanOutcome& outcome);
// constexpr offsets in the order of allocation, of one iteration where there are iterations, to
// include in the program that was profiled.
std::string plan_as_header(const PlanOutcome& outcome);

// Offsets of a plan printed as JSON or CSV, in the order of the problem's objects. kCorrupt when
// `text` is neither, kInvalidArgument when an object is missing, unknown or has another size.
Result<std::vector<std::int64_t>> read_plan(const Problem& problem, const std::string& text,
                                            const std::string& source);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/smartpool.h"

#include <algorithm>
#include <utility>

#include "offline/plan/check_plan.h"
#include "offline/plan/faithful_pool.h"
#include "offline/plan/instance.h"
#include "offline/plan/portfolio.h"

namespace drgpum {
namespace {

Status check_capacity(const Problem& problem, std::int64_t capacity) {
  if (capacity < 0) return Ok{};
  for (const PlanObject& object : problem.objects) {
    if (object.size <= capacity) continue;
    return Error{ErrorCode::kInvalidArgument, problem.source + ": object '" + object.id + "' of " +
                                                  std::to_string(object.size) +
                                                  " bytes is larger than the capacity of " +
                                                  std::to_string(capacity) + " bytes"};
  }
  return Ok{};
}

// The planners keep fixed objects where they are; two that overlap make a problem without a plan.
Status check_fixed(const Problem& problem) {
  Problem fixed;
  fixed.source = problem.source;
  std::vector<std::int64_t> offsets;
  for (const PlanObject& object : problem.objects) {
    if (object.fixed_offset == kNoOffset) continue;
    fixed.objects.push_back(object);
    offsets.push_back(object.fixed_offset);
  }
  if (fixed.objects.empty()) return Ok{};
  Status status = check_layout(fixed, offsets);
  if (!status) return std::move(status).error().while_doing("fixed offsets contradict each other");
  return status;
}

}  // namespace

Result<PoolPlan> plan_pool(const Problem& problem, const PoolOptions& options) {
  RETURN_IF_ERROR(validate(problem));
  RETURN_IF_ERROR(check_capacity(problem, options.capacity));
  RETURN_IF_ERROR(check_fixed(problem));
  PoolPlan plan;
  const Instance instance = make_instance(problem);
  plan.load = plan.lower_bound = instance.load;
  if (options.mode == PoolMode::kFaithful) {
    plan.offsets = plan_faithfully(problem, options.fit);
    plan.method = options.fit == Fit::kFirst ? "SmartPool as published, first fit"
                                             : "SmartPool as published, best fit";
  } else {
    PortfolioResult found = run_portfolio(instance, options);
    if (found.method.empty())
      return Error{ErrorCode::kNotFound, problem.source + ": no plan in the time given"};
    plan.offsets = std::move(found.offsets);
    plan.lower_bound = found.lower_bound;
    plan.method = std::move(found.method);
  }
  for (std::size_t i = 0; i < problem.objects.size(); ++i)
    if (problem.objects[i].size == 0)
      plan.offsets[i] = std::max<std::int64_t>(problem.objects[i].fixed_offset, 0);
  RETURN_IF_ERROR(check_layout(problem, plan.offsets));
  plan.footprint = footprint_of(problem, plan.offsets);
  plan.optimal = plan.footprint == plan.lower_bound;
  plan.within_capacity = options.capacity < 0 || plan.footprint <= options.capacity;
  return plan;
}

}  // namespace drgpum

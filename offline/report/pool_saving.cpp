// SPDX-License-Identifier: Apache-2.0
#include "offline/report/pool_saving.h"

#include <utility>

#include "offline/plan/by_birth.h"
#include "offline/plan/check_plan.h"
#include "offline/plan/smartpool.h"

namespace drgpum {
namespace {

// So many objects are searched for the least pool, for a fraction of a second.
constexpr std::size_t kSearched = 1000;
constexpr std::int64_t kNodes = 500;
constexpr std::int64_t kAlignment = 256;
constexpr std::uint64_t kMostPairs = 10'000'000;  // that live together: what a second is enough for
constexpr double kGiveUp = 10;                    // seconds; for machines that are very slow

std::uint64_t bytes(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

std::optional<QuickPlan> one_sweep(const Problem& problem) {
  if (!validate(problem)) return std::nullopt;
  QuickPlan plan;
  plan.offsets = place_by_birth(problem);
  if (!check_layout(problem, plan.offsets)) return std::nullopt;
  plan.saving.footprint_bytes = bytes(footprint_of(problem, plan.offsets));
  plan.saving.load_bytes = plan.saving.lower_bound_bytes = bytes(load_of(problem));
  plan.saving.optimal = plan.saving.footprint_bytes == plan.saving.load_bytes;
  plan.saving.planner = "by birth, smallest hole";
  return plan;
}

}  // namespace

std::optional<QuickPlan> quick_plan(const Problem& problem) {
  if (problem.objects.empty() || problem.objects.size() > kMaxPooledObjects) return std::nullopt;
  if (pairs_together(problem) > kMostPairs) return one_sweep(problem);
  PoolOptions options;
  options.time_limit_s = 0;
  if (problem.objects.size() <= kSearched) options.nodes = kNodes;
  options.give_up_s = kGiveUp;
  Result<PoolPlan> plan = plan_pool(problem, options);
  if (!plan) return plan.error().code == ErrorCode::kNotFound ? one_sweep(problem) : std::nullopt;
  QuickPlan quick;
  quick.offsets = std::move(plan->offsets);
  quick.saving.footprint_bytes = bytes(plan->footprint);
  quick.saving.load_bytes = bytes(plan->load);
  quick.saving.lower_bound_bytes = bytes(plan->lower_bound);
  quick.saving.optimal = plan->optimal;
  quick.saving.planner = std::move(plan->method);
  return quick;
}

std::optional<PoolSaving> pool_saving(const Evidence& evidence, std::uint16_t device,
                                      MemoryLevel level) {
  Problem problem;
  problem.source = evidence.path;
  std::vector<PoolPlace> places;
  for (std::uint32_t at = 0; at < evidence.objects.size(); ++at) {
    const Object& object = evidence.objects[at];
    const bool pooled = object.device == device && object.size > 0 && object.alloc < object.end &&
                        object.size < (std::uint64_t{1} << 50) && holds_memory(object, level);
    if (!pooled) continue;
    PlanObject plan;
    plan.id = std::to_string(object.id);
    plan.life = {object.alloc, object.end};
    plan.size = static_cast<std::int64_t>(object.size);
    plan.alignment = kAlignment;
    problem.objects.push_back(std::move(plan));
    places.push_back({at, 0});
    if (problem.objects.size() > kMaxPooledObjects) return std::nullopt;
  }
  std::optional<QuickPlan> plan = quick_plan(problem);
  if (!plan) return std::nullopt;
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i].offset = bytes(plan->offsets[i]);
  plan->saving.places = std::move(places);
  return std::move(plan->saving);
}

}  // namespace drgpum

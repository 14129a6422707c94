// SPDX-License-Identifier: Apache-2.0
#include "offline/report/pool_saving.h"

#include "offline/plan/smartpool.h"

namespace drgpum {
namespace {

constexpr std::int64_t kAlignment = 256;

}  // namespace

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
  if (problem.objects.empty()) return std::nullopt;
  PoolOptions options;
  options.time_limit_s = 0;
  const Result<PoolPlan> plan = plan_pool(problem, options);
  if (!plan) return std::nullopt;
  for (std::size_t i = 0; i < places.size(); ++i)
    places[i].offset = static_cast<std::uint64_t>(plan->offsets[i]);
  return PoolSaving{static_cast<std::uint64_t>(plan->footprint),
                    static_cast<std::uint64_t>(plan->load),
                    static_cast<std::uint64_t>(plan->lower_bound), plan->optimal,
                    std::move(places)};
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/faithful_pool.h"

#include <algorithm>

#include "offline/plan/instance.h"

namespace drgpum {
namespace {

// Only a problem with events knows which objects are never freed.
bool outlives_window(const Problem& problem, const PlanObject& object) {
  return !problem.events.empty() &&
         object.life.upper >= static_cast<std::int64_t>(problem.events.size());
}

std::vector<std::uint32_t> group_in_order(const Problem& problem, bool outliving) {
  std::vector<std::uint32_t> group;
  for (std::uint32_t i = 0; i < problem.objects.size(); ++i) {
    const PlanObject& object = problem.objects[i];
    if (object.fixed_offset == kNoOffset && object.size > 0 &&
        outlives_window(problem, object) == outliving)
      group.push_back(i);
  }
  std::stable_sort(group.begin(), group.end(), [&](std::uint32_t a, std::uint32_t b) {
    const PlanObject& x = problem.objects[a];
    const PlanObject& y = problem.objects[b];
    return x.size != y.size ? x.size > y.size : x.life.lower < y.life.lower;
  });
  return group;
}

}  // namespace

std::vector<std::int64_t> plan_faithfully(const Problem& problem, Fit fit) {
  const Instance instance = make_instance(problem);
  Layout layout(instance);
  std::int64_t top = 0;
  for (std::uint32_t i = 0; i < problem.objects.size(); ++i)
    if (problem.objects[i].fixed_offset != kNoOffset)
      layout.place(i, problem.objects[i].fixed_offset);
  for (const std::uint32_t b : group_in_order(problem, true)) {
    layout.place(b, layout.find(b, fit));
    top = std::max(top, layout.offset(b) + instance.size[b]);
  }
  for (const std::uint32_t b : group_in_order(problem, false))
    layout.place(b, layout.find(b, fit, top));
  return layout.offsets();
}

}  // namespace drgpum

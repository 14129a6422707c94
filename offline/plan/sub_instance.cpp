// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/sub_instance.h"

#include <algorithm>
#include <utility>

#include "offline/plan/greedy.h"

namespace drgpum {

SubInstance part_of(const Instance& instance, std::vector<std::uint32_t> objects) {
  Problem problem;
  for (const std::uint32_t b : objects) {
    PlanObject object;
    object.size = instance.size[b];
    object.alignment = instance.alignment[b];
    object.fixed_offset = instance.fixed_offset[b];
    const SectionRange hull = instance.hull_of(b);
    object.life = {hull.first, hull.last};
    std::int64_t end = hull.first;
    for (const SectionRange& range : instance.ranges_of(b)) {
      if (range.first > end) object.gaps.push_back({end, range.first});
      end = range.last;
    }
    problem.objects.push_back(std::move(object));
  }
  return {make_instance(problem), std::move(objects)};
}

SubInstance hot_part(const Instance& instance, double share) {
  const std::vector<std::int64_t> peaks = peak_loads(instance);
  std::vector<std::uint32_t> objects;
  for (std::uint32_t b = 0; b < instance.count(); ++b)
    if (static_cast<double>(peaks[b]) > share * static_cast<double>(instance.load))
      objects.push_back(b);
  return part_of(instance, std::move(objects));
}

}  // namespace drgpum

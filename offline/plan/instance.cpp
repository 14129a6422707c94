// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/instance.h"

#include <algorithm>
#include <tuple>

namespace drgpum {
namespace {

struct Change {
  std::int64_t time;
  std::uint32_t range;
  bool begins;
};

// Walks over all begins and ends in time; an end that follows a begin closes a section.
void cut_sections(std::vector<Change>& changes, Instance& instance) {
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::tie(a.time, a.begins, a.range) < std::tie(b.time, b.begins, b.range);
  });
  std::int32_t section = 0;
  bool open = false;
  for (const Change& change : changes) {
    if (!change.begins && open) ++section;
    open = change.begins;
    (change.begins ? instance.ranges[change.range].first : instance.ranges[change.range].last) =
        section;
  }
  instance.section_count = section;
}

void sum_loads(Instance& instance) {
  std::vector<std::int64_t> change(static_cast<std::size_t>(instance.section_count) + 1);
  for (std::uint32_t i = 0; i < instance.count(); ++i) {
    for (const SectionRange& range : instance.ranges_of(i)) {
      change[static_cast<std::size_t>(range.first)] += instance.size[i];
      change[static_cast<std::size_t>(range.last)] -= instance.size[i];
    }
  }
  std::int64_t live = 0;
  for (std::int32_t s = 0; s < instance.section_count; ++s) {
    live += change[static_cast<std::size_t>(s)];
    instance.section_load.push_back(live);
    instance.load = std::max(instance.load, live);
  }
}

}  // namespace

Instance make_instance(const Problem& problem) {
  Instance instance;
  std::vector<Change> changes;
  changes.reserve(2 * problem.objects.size());
  instance.range_begin.push_back(0);
  for (const PlanObject& object : problem.objects) {
    instance.size.push_back(object.size);
    instance.alignment.push_back(object.alignment);
    instance.fixed_offset.push_back(object.fixed_offset);
    instance.birth.push_back(object.life.lower);
    instance.length.push_back(object.life.upper - object.life.lower);
    instance.has_alignment |= object.alignment != 1;
    instance.has_fixed |= object.fixed_offset != kNoOffset;
    if (object.size > 0) {
      for (const TimeRange& busy : busy_ranges(object)) {
        const auto range = static_cast<std::uint32_t>(instance.ranges.size());
        instance.ranges.emplace_back();
        changes.push_back({busy.lower, range, true});
        changes.push_back({busy.upper, range, false});
      }
    }
    instance.has_gaps |= instance.ranges.size() > instance.range_begin.back() + 1;
    instance.range_begin.push_back(static_cast<std::uint32_t>(instance.ranges.size()));
  }
  cut_sections(changes, instance);
  sum_loads(instance);
  return instance;
}

}  // namespace drgpum

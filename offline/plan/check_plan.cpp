// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/check_plan.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <tuple>

namespace drgpum {
namespace {

Error broken(const Problem& problem, const std::string& what) {
  return {ErrorCode::kInvalidArgument, problem.source + ": the plan is wrong: " + what};
}

std::string describe(const Problem& problem, std::size_t object, std::int64_t offset) {
  const PlanObject& o = problem.objects[object];
  return "object '" + o.id + "' at [" + std::to_string(offset) + ", " +
         std::to_string(offset + o.size) + ")";
}

Status check_one(const Problem& problem, std::size_t i, std::int64_t offset,
                 std::int64_t capacity) {
  const PlanObject& object = problem.objects[i];
  if (offset < 0) return broken(problem, describe(problem, i, offset) + " begins below 0");
  if (offset % object.alignment != 0)
    return broken(problem, describe(problem, i, offset) + " is not aligned to " +
                               std::to_string(object.alignment));
  if (object.fixed_offset != kNoOffset && offset != object.fixed_offset)
    return broken(problem, describe(problem, i, offset) + " has to be at " +
                               std::to_string(object.fixed_offset));
  if (capacity >= 0 && offset > capacity - object.size)
    return broken(problem, describe(problem, i, offset) + " ends above the capacity " +
                               std::to_string(capacity));
  return Ok{};
}

struct Change {
  std::int64_t time;
  bool begins;  // ends sort first: lifetimes are half-open
  std::uint32_t object;
  friend bool operator<(const Change& a, const Change& b) {
    return std::tie(a.time, a.begins, a.object) < std::tie(b.time, b.begins, b.object);
  }
};

std::vector<Change> changes_of(const Problem& problem) {
  std::vector<Change> changes;
  for (std::uint32_t i = 0; i < problem.objects.size(); ++i) {
    if (problem.objects[i].size == 0) continue;
    for (const TimeRange& busy : busy_ranges(problem.objects[i])) {
      changes.push_back({busy.lower, true, i});
      changes.push_back({busy.upper, false, i});
    }
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

}  // namespace

Status check_layout(const Problem& problem, std::span<const std::int64_t> offsets,
                    std::int64_t capacity) {
  if (offsets.size() != problem.objects.size())
    return broken(problem, std::to_string(offsets.size()) + " offsets for " +
                               std::to_string(problem.objects.size()) + " objects");
  for (std::size_t i = 0; i < offsets.size(); ++i)
    RETURN_IF_ERROR(check_one(problem, i, offsets[i], capacity));
  std::map<std::int64_t, std::uint32_t> live;  // by offset
  for (const Change& change : changes_of(problem)) {
    const std::int64_t offset = offsets[change.object];
    if (!change.begins) {
      live.erase(offset);
      continue;
    }
    const auto above = live.lower_bound(offset);
    const auto clash = [&](std::uint32_t other) {
      return broken(problem, describe(problem, change.object, offset) + " and " +
                                 describe(problem, other, offsets[other]) + " are both live at " +
                                 std::to_string(change.time));
    };
    if (above != live.end() && above->first < offset + problem.objects[change.object].size)
      return clash(above->second);
    if (above != live.begin()) {
      const auto& [below, other] = *std::prev(above);
      if (below + problem.objects[other].size > offset) return clash(other);
    }
    live.emplace_hint(above, offset, change.object);
  }
  return Ok{};
}

std::int64_t footprint_of(const Problem& problem, std::span<const std::int64_t> offsets) {
  std::int64_t top = 0;
  for (std::size_t i = 0; i < offsets.size(); ++i)
    if (problem.objects[i].size > 0) top = std::max(top, offsets[i] + problem.objects[i].size);
  return top;
}

}  // namespace drgpum

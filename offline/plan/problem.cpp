// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/problem.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace drgpum {
namespace {

Error bad_object(const Problem& problem, const PlanObject& object, const std::string& what) {
  return {ErrorCode::kInvalidArgument, problem.source + ": object '" + object.id + "': " + what};
}

std::string text_of(const TimeRange& range) {
  return "[" + std::to_string(range.lower) + ", " + std::to_string(range.upper) + ")";
}

Status validate_gaps(const Problem& problem, const PlanObject& object) {
  std::int64_t from = object.life.lower;
  for (const TimeRange& gap : object.gaps) {
    if (gap.upper <= gap.lower || gap.lower < from || gap.upper > object.life.upper)
      return bad_object(problem, object,
                        "gap " + text_of(gap) + " is empty, out of order or outside the lifetime " +
                            text_of(object.life));
    from = gap.upper;
  }
  return Ok{};
}

Status validate_object(const Problem& problem, const PlanObject& object) {
  if (object.life.upper <= object.life.lower)
    return bad_object(
        problem, object,
        "lifetime " + text_of(object.life) + " is empty: upper has to be greater than lower");
  if (object.size < 0)
    return bad_object(problem, object, "size " + std::to_string(object.size) + " is negative");
  if (object.alignment < 1)
    return bad_object(problem, object,
                      "alignment " + std::to_string(object.alignment) + " is not positive");
  if (object.fixed_offset < kNoOffset ||
      (object.fixed_offset != kNoOffset && object.fixed_offset % object.alignment != 0))
    return bad_object(problem, object,
                      "offset " + std::to_string(object.fixed_offset) +
                          " is not a multiple of its alignment " +
                          std::to_string(object.alignment));
  return validate_gaps(problem, object);
}

}  // namespace

std::vector<TimeRange> busy_ranges(const PlanObject& object) {
  std::vector<TimeRange> busy;
  std::int64_t from = object.life.lower;
  for (const TimeRange& gap : object.gaps) {
    if (gap.lower > from) busy.push_back({from, gap.lower});
    from = gap.upper;
  }
  if (from < object.life.upper) busy.push_back({from, object.life.upper});
  return busy;
}

TimeRange shown_life(const Problem& problem, const PlanObject& object) {
  if (problem.events.empty() || !problem.has_times) return object.life;
  const auto time_at = [&](std::int64_t index) {
    const auto at = static_cast<std::size_t>(index);
    return at < problem.events.size() ? problem.events[at].time_ns
                                      : problem.events.back().time_ns + 1;
  };
  return {time_at(object.life.lower), time_at(object.life.upper)};
}

std::int64_t load_of(const Problem& problem) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // (time, bytes); frees sort first
  changes.reserve(2 * problem.objects.size());
  for (const PlanObject& object : problem.objects) {
    for (const TimeRange& busy : busy_ranges(object)) {
      changes.emplace_back(busy.lower, object.size);
      changes.emplace_back(busy.upper, -object.size);
    }
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t live = 0;
  std::int64_t load = 0;
  for (const auto& [time, bytes] : changes)
    load = std::max(load, live += bytes);
  return load;
}

Status validate(const Problem& problem) {
  std::unordered_set<std::string_view> ids;
  ids.reserve(problem.objects.size());
  std::int64_t sum = 0;
  for (const PlanObject& object : problem.objects) {
    RETURN_IF_ERROR(validate_object(problem, object));
    if (!ids.insert(object.id).second)
      return bad_object(problem, object, "the id occurs twice; ids have to be unique");
    if (__builtin_add_overflow(sum, object.size, &sum) ||
        __builtin_add_overflow(sum, object.alignment - 1, &sum) ||
        (object.fixed_offset != kNoOffset && object.fixed_offset > INT64_MAX / 2 - object.size))
      return bad_object(
          problem, object,
          "size " + std::to_string(object.size) + " makes the sum of all sizes overflow 63 bits");
  }
  return Ok{};
}

}  // namespace drgpum

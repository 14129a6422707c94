// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/exact_search.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

#include "offline/plan/check_plan.h"

namespace drgpum {
namespace {

using Clock = WorkClock;

struct Shape {
  bool gaps;
  bool alignment;
};

Problem random_problem(std::uint64_t seed, Shape shape) {
  std::mt19937_64 random(seed);
  const auto draw = [&](std::int64_t below) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(below));
  };
  Problem problem;
  for (int i = 0; i < 6; ++i) {
    PlanObject object;
    object.id = std::to_string(i);
    object.life.lower = draw(6);
    object.life.upper = object.life.lower + 1 + draw(6);
    object.size = 1 + draw(7);
    if (shape.alignment) object.alignment = 1 + draw(3);
    if (shape.gaps && object.life.upper - object.life.lower >= 3 && draw(2) == 0)
      object.gaps = {{object.life.lower + 1, object.life.upper - 1}};
    problem.objects.push_back(object);
  }
  return problem;
}

bool share_time(const PlanObject& a, const PlanObject& b) {
  for (const TimeRange& x : busy_ranges(a))
    for (const TimeRange& y : busy_ranges(b))
      if (x.lower < y.upper && y.lower < x.upper) return true;
  return false;
}

// The least footprint of all: some order of placing each object as low as what lies below allows
// gives it, because every layout can be pushed down.
std::int64_t least_footprint(const Problem& problem) {
  std::vector<std::size_t> order(problem.objects.size());
  std::iota(order.begin(), order.end(), 0u);
  std::int64_t least = INT64_MAX;
  do {
    std::vector<std::int64_t> top(order.size(), 0);
    std::int64_t footprint = 0;
    for (std::size_t k = 0; k < order.size(); ++k) {
      const PlanObject& object = problem.objects[order[k]];
      std::int64_t at = 0;
      for (std::size_t j = 0; j < k; ++j)
        if (share_time(object, problem.objects[order[j]])) at = std::max(at, top[order[j]]);
      at = (at + object.alignment - 1) / object.alignment * object.alignment;
      top[order[k]] = at + object.size;
      footprint = std::max(footprint, top[order[k]]);
    }
    least = std::min(least, footprint);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

SearchOutcome search(const Problem& problem, std::int64_t capacity, const SearchOrder& order) {
  const Instance instance = make_instance(problem);
  ExactSearch exact(instance, capacity, 1);
  const SearchOutcome outcome = exact.run(order, {1'000'000, Clock::time_point::max()});
  if (outcome == SearchOutcome::kSolved) {
    const Status status = check_layout(problem, exact.offsets(), capacity);
    EXPECT_TRUE(status) << status.error().message;
  }
  return outcome;
}

void expect_same_as_brute_force(Shape shape) {
  using Value = SearchOrder::Value;
  using Place = SearchOrder::Place;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Problem problem = random_problem(seed, shape);
    const std::int64_t least = least_footprint(problem);
    for (const Place place : {Place::kFewestChoices, Place::kLowest, Place::kLeastSlack}) {
      const SearchOrder order{seed % 2 == 0 ? Value::kArea : Value::kRandom, place};
      EXPECT_EQ(search(problem, least, order), SearchOutcome::kSolved) << "seed " << seed;
      EXPECT_EQ(search(problem, least - 1, order), SearchOutcome::kInfeasible) << "seed " << seed;
    }
  }
}

TEST(ExactSearch, FindsTheLeastFootprintAndRefutesOneByteLess) {
  expect_same_as_brute_force({.gaps = false, .alignment = false});
}

TEST(ExactSearch, FindsTheLeastFootprintOfObjectsWithGaps) {
  expect_same_as_brute_force({.gaps = true, .alignment = false});
}

TEST(ExactSearch, FindsTheLeastFootprintOfAlignedObjects) {
  expect_same_as_brute_force({.gaps = false, .alignment = true});
}

TEST(ExactSearch, GivesUpAtItsNodeLimitAndGoesOnFromWhatItProved) {
  const Problem problem = random_problem(3, {.gaps = false, .alignment = false});
  const Instance instance = make_instance(problem);
  ExactSearch exact(instance, least_footprint(problem), 1);
  EXPECT_EQ(exact.run({}, {1, Clock::time_point::max()}), SearchOutcome::kGaveUp);
  EXPECT_EQ(exact.run({}, {1'000'000, Clock::time_point::max()}), SearchOutcome::kSolved);
}

}  // namespace
}  // namespace drgpum

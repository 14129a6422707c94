// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/by_birth.h"

#include <random>

#include <gtest/gtest.h>

#include "offline/plan/check_plan.h"

namespace drgpum {
namespace {

Problem random_problem(unsigned seed, int count) {
  std::mt19937 random(seed);
  Problem problem;
  problem.source = "random";
  for (int i = 0; i < count; ++i) {
    PlanObject object;
    object.id = std::to_string(i);
    object.life.lower = random() % 200;
    object.life.upper = object.life.lower + 1 + random() % 60;
    object.size = static_cast<std::int64_t>(random() % 5000);
    object.alignment = 256;
    problem.objects.push_back(object);
  }
  return problem;
}

TEST(ByBirthTest, PlansPassTheReferee) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    const Problem problem = random_problem(seed, 120);
    const std::vector<std::int64_t> offsets = place_by_birth(problem);
    const Status status = check_layout(problem, offsets);
    EXPECT_TRUE(status) << status.error().message;
    EXPECT_GE(footprint_of(problem, offsets), load_of(problem));
  }
}

TEST(ByBirthTest, ObjectsThatFollowEachOtherShareAHole) {
  Problem problem;
  problem.objects = {{"a", {0, 5}, 100}, {"b", {0, 9}, 50}, {"c", {5, 9}, 60}, {"d", {6, 9}, 40}};
  EXPECT_EQ(place_by_birth(problem), (std::vector<std::int64_t>{0, 100, 0, 60}));
}

TEST(ByBirthTest, PairsAreThoseThatMeet) {
  const Problem problem = random_problem(7, 80);
  std::uint64_t pairs = 0;
  for (std::size_t i = 0; i < problem.objects.size(); ++i)
    for (std::size_t k = 0; k < i; ++k) {
      const PlanObject& a = problem.objects[i];
      const PlanObject& b = problem.objects[k];
      const bool real = a.size > 0 && b.size > 0;
      pairs += real && a.life.lower < b.life.upper && b.life.lower < a.life.upper;
    }
  EXPECT_EQ(pairs_together(problem), pairs);
  EXPECT_EQ(pairs_together(Problem()), 0u);
}

}  // namespace
}  // namespace drgpum

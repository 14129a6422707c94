// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/local_search.h"

#include <gtest/gtest.h>

#include "offline/plan/check_plan.h"
#include "offline/plan/read_csv.h"

namespace drgpum {
namespace {

// One object after the other, each on top of all before: valid, and as bad as can be.
std::vector<std::int64_t> stacked(const Problem& problem) {
  std::vector<std::int64_t> offsets;
  std::int64_t top = 0;
  for (const PlanObject& object : problem.objects) {
    offsets.push_back(top);
    top += object.size;
  }
  return offsets;
}

TEST(LocalSearch, BringsAStackOfObjectsNearTheirLoad) {
  const Problem problem = *read_problem_csv(std::string(DRGPUM_TEST_DATA) + "/dsa/G_1.csv");
  const Instance instance = make_instance(problem);
  std::vector<std::int64_t> offsets = stacked(problem);
  LocalSearchOptions options;
  options.max_steps = 10'000;
  const std::int64_t footprint = improve_layout(instance, offsets, options);
  const Status status = check_layout(problem, offsets, footprint);
  EXPECT_TRUE(status) << status.error().message;
  EXPECT_EQ(footprint, footprint_of(problem, offsets));
  EXPECT_LE(footprint, instance.load + instance.load / 10);
}

TEST(LocalSearch, StopsAtItsTargetAndLeavesFixedObjects) {
  const Problem problem = *parse_problem_csv(
      "id,lower,upper,size,offset\na,0,2,4,4\nb,0,1,4,\nc,1,2,4,\nd,5,6,2,\n", "t.csv");
  const Instance instance = make_instance(problem);
  std::vector<std::int64_t> offsets = {4, 100, 50, 0};
  EXPECT_EQ(improve_layout(instance, offsets, {}), 8);
  EXPECT_EQ(offsets[0], 4);
  EXPECT_TRUE(check_layout(problem, offsets, 8));
}

}  // namespace
}  // namespace drgpum

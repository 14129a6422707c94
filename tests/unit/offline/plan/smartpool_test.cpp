// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/smartpool.h"

#include <random>

#include <gtest/gtest.h>

#include "offline/plan/check_plan.h"
#include "offline/plan/read_csv.h"

namespace drgpum {
namespace {

Problem published(const std::string& name) {
  auto problem = read_problem_csv(std::string(DRGPUM_TEST_DATA) + "/dsa/" + name + ".csv");
  EXPECT_TRUE(problem) << problem.error().message;
  return *std::move(problem);
}

PoolPlan planned(const Problem& problem, const PoolOptions& options) {
  auto plan = plan_pool(problem, options);
  EXPECT_TRUE(plan) << plan.error().message;
  return *std::move(plan);
}

Problem problem_of(const std::string& rows) {
  return *parse_problem_csv("id,lower,upper,size,alignment,offset,gaps\n" + rows, "t.csv");
}

class Challenging : public testing::TestWithParam<const char*> {};

TEST_P(Challenging, FitsItsCapacityOfOneMebibyte) {
  const Problem problem = published(std::string(GetParam()) + ".1048576");
  PoolOptions options;
  options.capacity = 1 << 20;
  options.time_limit_s = 60;
  const PoolPlan plan = planned(problem, options);
  EXPECT_TRUE(plan.within_capacity);
  EXPECT_TRUE(check_layout(problem, plan.offsets, 1 << 20));
}

INSTANTIATE_TEST_SUITE_P(AtoK, Challenging,
                         testing::Values("A", "B", "C", "D", "E", "F", "G", "H", "I", "J", "K"));

TEST(SmartPool, PlansRealNetworksAtTheirLoad) {
  PoolOptions options;
  options.time_limit_s = 600;  // of which sanitizers take most
  for (const char* name : {"resnet50", "G_1", "pangu_2.6B"}) {
    const PoolPlan plan = planned(published(name), options);
    EXPECT_EQ(plan.footprint, plan.load) << name;
    EXPECT_TRUE(plan.optimal) << name;
  }
}

TEST(SmartPool, TheSameSeedGivesTheSamePlan) {
  const Problem problem = published("F.1048576");
  PoolOptions options;
  options.capacity = 1 << 20;
  options.time_limit_s = 60;
  options.seed = 7;
  EXPECT_EQ(planned(problem, options).offsets, planned(problem, options).offsets);
}

TEST(SmartPool, ANumberOfNodesNeedsNoTime) {
  PoolOptions options;
  options.time_limit_s = 0;
  for (const char* name : {"A", "B", "C", "E", "F", "G", "K"}) {
    const Problem problem = published(std::string(name) + ".1048576");
    options.nodes = -1;
    const PoolPlan passes = planned(problem, options);
    options.nodes = 500;
    const PoolPlan plan = planned(problem, options);
    EXPECT_LT(plan.footprint, passes.footprint) << name;
    EXPECT_EQ(plan.offsets, planned(problem, options).offsets) << name;
    EXPECT_TRUE(check_layout(problem, plan.offsets, plan.footprint)) << name;
  }
}

TEST(SmartPool, ProvesAnOptimumAboveTheLoad) {
  // Three long objects of which two are live at a time leave no room for sharing the fourth.
  const Problem problem = problem_of(
      "a,0,2,2,,,\nb,1,4,1,,,\nc,3,6,2,,,\nd,5,8,1,,,\ne,0,1,1,,,\nf,7,8,2,,,\ng,2,3,2,,,\n");
  const PoolPlan plan = planned(problem, {});
  EXPECT_TRUE(plan.optimal);
  EXPECT_EQ(plan.footprint, plan.lower_bound);
  EXPECT_TRUE(check_layout(problem, plan.offsets, plan.footprint));
}

TEST(SmartPool, KeepsFixedOffsetsAlignmentAndGaps) {
  const Problem problem =
      problem_of("a,0,9,8,,16,\nb,0,9,8,16,,\nc,0,9,8,,,3-6\nd,3,6,8,,,\nz,0,9,0,,,\n");
  for (const PoolMode mode : {PoolMode::kBest, PoolMode::kFaithful}) {
    PoolOptions options;
    options.mode = mode;
    options.time_limit_s = 1;
    const PoolPlan plan = planned(problem, options);
    EXPECT_EQ(plan.offsets[0], 16);
    EXPECT_TRUE(check_layout(problem, plan.offsets));
    EXPECT_EQ(plan.footprint, 24);
  }
}

TEST(SmartPool, NoObjectAndOneObjectAreProblemsToo) {
  EXPECT_EQ(planned(problem_of(""), {}).footprint, 0);
  EXPECT_EQ(planned(problem_of("a,0,1,5,,,\n"), {}).footprint, 5);
}

TEST(SmartPool, SaysWhenNoPlanFits) {
  const Problem problem = problem_of("a,0,2,5,,,\nb,0,2,5,,,\n");
  PoolOptions options;
  options.capacity = 9;
  const PoolPlan plan = planned(problem, options);
  EXPECT_FALSE(plan.within_capacity);
  EXPECT_EQ(plan.lower_bound, 10);
  options.capacity = 4;
  const auto refused = plan_pool(problem, options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "t.csv: object 'a' of 5 bytes is larger than the capacity of 4 bytes");
}

TEST(SmartPool, RefusesFixedObjectsThatOverlap) {
  const auto plan = plan_pool(problem_of("a,0,2,5,,0,\nb,0,2,5,,4,\n"), {});
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kInvalidArgument);
}

TEST(SmartPool, FaithfulModeColoursCrossIterationBlocksFirstAndApart) {
  const Problem problem = *parse_problem_csv(
      "time_ns,op,id,size\n0,malloc,tmp,100\n1,malloc,kept,10\n2,free,tmp,\n3,malloc,t2,90\n"
      "4,free,t2,\n",
      "t.csv");
  PoolOptions options;
  options.mode = PoolMode::kFaithful;
  const PoolPlan plan = planned(problem, options);
  EXPECT_EQ(plan.offsets, (std::vector<std::int64_t>{10, 0, 10}));
}

TEST(SmartPool, FaithfulModePlacesLargestFirstInTheFirstHole) {
  // Hand-coloured: 6 at 0; 5 at 6 (lives with 6); 4 shares no time with 6, so at 0; 3 above 5.
  const Problem problem = problem_of("a,0,4,6,,,\nb,2,8,5,,,\nc,4,8,4,,,\nd,3,5,3,,,\n");
  PoolOptions options;
  options.mode = PoolMode::kFaithful;
  EXPECT_EQ(planned(problem, options).offsets, (std::vector<std::int64_t>{0, 6, 0, 11}));
}

TEST(SmartPool, BestModeBeatsTheFaithfulModeOnEveryChallengingInstance) {
  for (const char* name : {"A.1048576", "F.1048576", "K.1048576", "resnet50"}) {
    const Problem problem = published(name);
    PoolOptions best;
    best.time_limit_s = 20;
    PoolOptions faithful;
    faithful.mode = PoolMode::kFaithful;
    faithful.fit = Fit::kBest;
    EXPECT_LT(planned(problem, best).footprint, planned(problem, faithful).footprint) << name;
  }
}

TEST(SmartPool, HasAPlanEvenWithoutTime) {
  PoolOptions options;
  options.time_limit_s = 0;
  const Problem problem = published("F.1048576");
  const PoolPlan plan = planned(problem, options);
  EXPECT_TRUE(check_layout(problem, plan.offsets, plan.footprint));
  EXPECT_FALSE(plan.optimal);
}

}  // namespace
}  // namespace drgpum

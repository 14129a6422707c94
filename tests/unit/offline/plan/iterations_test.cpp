// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/iterations.h"

#include <gtest/gtest.h>

#include "offline/plan/check_plan.h"
#include "offline/plan/read_csv.h"
#include "offline/plan/smartpool.h"
#include "tests/support/training_trace.h"

namespace drgpum {
namespace {

using testing::TrainingModel;
using testing::TrainingRun;

struct Net {
  const char* name;
  TrainingModel model;
  std::int64_t operations;
};

std::vector<Net> nets() {
  return {{"AlexNet", testing::alexnet_like(128), 188},
          {"VGG", testing::vgg_like(16, 128), 1020},
          {"ResNet", testing::resnet_like(32, 128), 1268}};
}

TEST(Iterations, FindsExactPeriodsBetweenNoiseAtBothEnds) {
  for (const Net& net : nets()) {
    const Problem problem =
        training_trace(net.model, {.iterations = 20, .prologue = 333, .seed = 1});
    const auto found = find_iterations(problem);
    ASSERT_TRUE(found) << net.name;
    EXPECT_EQ(found->operations, net.operations) << net.name;
    EXPECT_EQ(found->count, 20) << net.name;
  }
}

TEST(Iterations, FindsExactPeriodsWhereOneOperationInTwentyDiffers) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    for (const Net& net : nets()) {
      const Problem problem = training_trace(
          net.model, {.iterations = 20, .noise = 0.05, .prologue = 333, .seed = seed});
      const auto found = find_iterations(problem);
      ASSERT_TRUE(found) << net.name;
      EXPECT_EQ(found->operations, net.operations) << net.name << " seed " << seed;
    }
  }
}

TEST(Iterations, EvaluationPhasesCutTheStretchAndNotThePeriod) {
  for (const Net& net : nets()) {
    const Problem problem =
        training_trace(net.model, {.iterations = 20, .evaluate_every = 7, .seed = 1});
    const auto found = find_iterations(problem);
    ASSERT_TRUE(found) << net.name;
    EXPECT_EQ(found->operations, net.operations) << net.name;
    EXPECT_GE(found->count, 7) << net.name;
  }
}

TEST(Iterations, CutsWhereTheFewestBytesAreLive) {
  const Problem problem = training_trace(testing::vgg_like(16, 8), {.iterations = 5});
  const auto found = find_iterations(problem);
  ASSERT_TRUE(found);
  const PlanEvent& first = problem.events[static_cast<std::size_t>(found->first)];
  EXPECT_EQ(first.kind, EventKind::kMalloc);
  EXPECT_EQ(problem.objects[first.object].id.substr(0, 6), "input.");
}

TEST(Iterations, MarksDecideWhereThereAreAny) {
  const Problem problem =
      training_trace(testing::alexnet_like(8), {.iterations = 6, .marks = true});
  const auto found = find_iterations(problem);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->operations, 0);
  EXPECT_EQ(problem.events[static_cast<std::size_t>(found->first)].kind, EventKind::kIteration);
  EXPECT_EQ(problem.events[static_cast<std::size_t>(found->last)].kind, EventKind::kIteration);
}

TEST(Iterations, FindsNoneWhereNothingRepeats) {
  std::string events = "time_ns,op,id,size\n";
  for (int i = 0; i < 200; ++i)
    events += std::to_string(i) + ",malloc,o" + std::to_string(i) + ',' +
              std::to_string(100 + i * i) + '\n';
  EXPECT_FALSE(find_iterations(*parse_problem_csv(events, "t.csv")));
  EXPECT_FALSE(find_iterations(*parse_problem_csv("id,lower,upper,size\na,0,1,1\n", "t.csv")));
}

TEST(Iterations, WhatLivesOnIntoTheNextIterationKeepsItsPlaceOnTheCircle) {
  // k is allocated at the end of each iteration and freed in the middle of the next.
  std::string events = "time_ns,op,id,size\n0,malloc,k0,50\n";
  for (int i = 0; i < 5; ++i) {
    const std::string n = std::to_string(i);
    const std::string next = std::to_string(i + 1);
    events += "0,iteration,,\n0,malloc,a" + n + ",10\n0,free,k" + n + ",\n0,malloc,b" + n +
              ",50\n0,free,b" + n + ",\n0,free,a" + n + ",\n0,malloc,k" + next + ",50\n";
  }
  const Problem problem = *parse_problem_csv(events, "t.csv");
  const auto found = find_iterations(problem);
  ASSERT_TRUE(found);
  const CircularProblem circle = circular_problem(problem, *found);
  ASSERT_EQ(circle.problem.objects.size(), 3u);
  EXPECT_EQ(circle.object_of_allocation, (std::vector<std::int32_t>{0, 1, 2}));
  EXPECT_EQ(circle.problem.objects[2].gaps.size(), 1u);
  const auto plan = plan_pool(circle.problem, {});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->footprint, 60);  // b and k share: no second copy of k
}

TEST(Iterations, AnObjectThatLivesAWholeIterationStaysOutside) {
  std::string events = "time_ns,op,id,size\n";
  for (int i = 0; i < 6; ++i) {
    const std::string n = std::to_string(i);
    events += "0,iteration,,\n0,malloc,long" + n + ",50\n0,malloc,a" + n + ",10\n";
    if (i > 0) events += "0,free,long" + std::to_string(i - 1) + ",\n";
    events += "0,free,a" + n + ",\n";
  }
  const Problem problem = *parse_problem_csv(events, "t.csv");
  const CircularProblem circle = circular_problem(problem, *find_iterations(problem));
  EXPECT_EQ(circle.object_of_allocation, (std::vector<std::int32_t>{-1, 0}));
}

}  // namespace
}  // namespace drgpum

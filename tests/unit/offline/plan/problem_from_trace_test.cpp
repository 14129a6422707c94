// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/problem_from_trace.h"

#include <gtest/gtest.h>

#include "proto/trace/trace_text.h"

namespace drgpum {
namespace {

Problem problem_of(std::string_view text, bool whole_allocations = false) {
  const auto records = trace::trace_from_text(text);
  EXPECT_TRUE(records) << records.error().message;
  const auto trace = load_trace(*records);
  EXPECT_TRUE(trace) << trace.error().message;
  return problem_from_trace(*trace, whole_allocations);
}

// `a:1024 malloc a, write a, ...`: what a problem says, on one line.
std::string described(const Problem& problem) {
  std::string text;
  for (const PlanObject& object : problem.objects)
    text += object.id + ':' + std::to_string(object.size) + ' ';
  constexpr const char* kKinds[] = {"malloc", "free", "read", "write", "iteration", "layer"};
  for (const PlanEvent& event : problem.events) {
    text += std::string("| ") + kKinds[static_cast<std::size_t>(event.kind)] + ' ';
    if (event.kind == EventKind::kLayer)
      text += problem.layer_names[event.object] + ' ';
    else if (event.object != kNoObject)
      text += problem.objects[event.object].id + ' ';
  }
  return text;
}

TEST(ProblemFromTrace, TakesAllocationsFreesAndEveryKindOfAccess) {
  const Problem problem = problem_of(R"(
    alloc A 1000; alloc P 512 pinned; alloc B 513
    iteration 1; push conv
    memcpy h2d P A; memset B; memcpy d2d A B
    launch k reads A updates B
    pop; free A; end)");
  EXPECT_EQ(described(problem),
            "A#0:1024 B#2:1024 | malloc A#0 | malloc B#2 | iteration | layer conv | write A#0 "
            "| write B#2 | read A#0 | write B#2 | read A#0 | read B#2 | write B#2 | free A#0 ");
  EXPECT_EQ(problem.objects[0].life, (TimeRange{0, 11}));
  EXPECT_EQ(problem.objects[1].life, (TimeRange{1, 12}));
  EXPECT_TRUE(validate(problem));
}

TEST(ProblemFromTrace, SubObjectsStandInForTheirPool) {
  const Problem problem = problem_of(
      "alloc pool 1M; alloc t 4K sub parent=pool; launch k writes t; free t; free pool; end");
  EXPECT_EQ(described(problem), "t#1:4096 | malloc t#1 | write t#1 | free t#1 ");
}

TEST(ProblemFromTrace, WholeAllocationsAreUsedWhereTheirPartsAre) {
  const Problem problem = problem_of(
      "alloc pool 1M; alloc t 4K sub parent=pool; launch k writes t; free t; free pool; end", true);
  EXPECT_EQ(described(problem), "pool#0:1048576 | malloc pool#0 | write pool#0 | free pool#0 ");
}

TEST(ProblemFromTrace, RefusedCallsHaveNoEffect) {
  const Problem problem = problem_of("alloc-failed 1G; alloc A 512; free A error=1; free A; end");
  EXPECT_EQ(described(problem), "A#0:512 | malloc A#0 | free A#0 ");
}

TEST(ProblemFromTrace, UsesDeviceTimesWhereNearlyEveryCallHasOne) {
  const Problem timed = problem_of(
      "alloc A 512; memset A time=100,200; free A; alloc B 512; memset B time=300,400; end");
  EXPECT_TRUE(timed.has_times);
  std::vector<std::int64_t> times;
  for (const PlanEvent& event : timed.events)
    times.push_back(event.time_ns);
  EXPECT_EQ(times, (std::vector<std::int64_t>{0, 100, 200, 200, 300}));
  EXPECT_EQ(timed.events[1].busy_ns, 100);
  const Problem partly = problem_of("alloc A 512; memset A time=100,200; memset A; end");
  EXPECT_FALSE(partly.has_times);
  EXPECT_EQ(partly.caveats,
            (std::vector<std::string>{"only 1 of 2 kernels, copies and sets have device times",
                                      "no device times: issue order stands for time"}));
}

TEST(ProblemFromTrace, ACallWithoutATimeTakesThatOfTheCallBefore) {
  std::string text = "alloc A 512; ";
  for (int i = 1; i <= 9; ++i)
    text += "memset A async time=" + std::to_string(10 * i) + "," + std::to_string(10 * i + 5) +
            "; ";
  const Problem problem = problem_of(text + "memset A async; sync device; free A; end");
  EXPECT_TRUE(problem.has_times);
  EXPECT_EQ(problem.events[9].time_ns, 90);
  EXPECT_EQ(problem.events[10].time_ns, 90);
  EXPECT_EQ(problem.events[11].time_ns, 95) << "the free waits for the work before it";
  EXPECT_EQ(problem.caveats.size(), 1u);
}

TEST(ProblemFromTrace, PlansTheDeviceWithTheHighestLoad) {
  const Problem problem = problem_of(
      "device memory=1G; device memory=1G; context c0 device=0; alloc A 1K; context c1 device=1;"
      "alloc B 2K; free B; alloc C 1K; end");
  ASSERT_EQ(problem.objects.size(), 2u);
  EXPECT_EQ(problem.objects[0].size, 2048);
  EXPECT_EQ(problem.caveats.back(), "only device 1 is planned; 1 objects are on others");
}

TEST(ProblemFromTrace, SaysThatUninstrumentedLaunchesMayTouchAnything) {
  const Problem problem = problem_of("alloc A 512; launch k uninstrumented time=1,2; end");
  ASSERT_EQ(problem.caveats.size(), 1u);
  EXPECT_NE(problem.caveats[0].find("1 launches were not instrumented"), std::string::npos);
}

}  // namespace
}  // namespace drgpum

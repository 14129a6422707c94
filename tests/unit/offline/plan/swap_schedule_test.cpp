// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/swap_schedule.h"

#include <gtest/gtest.h>

#include "offline/plan/check_swap.h"
#include "offline/plan/read_csv.h"
#include "offline/plan/swap_bound.h"

namespace drgpum {
namespace {

constexpr Link kByteNs{1, 0, 1, 0};  // a byte a nanosecond both ways, no latency

SwapProblem problem_of(const std::string& events, bool repeats = false, std::int64_t first = 0,
                       std::int64_t last = -1) {
  const Problem problem = *parse_problem_csv("time_ns,op,id,size\n" + events, "t.csv");
  if (last < 0) last = std::ssize(problem.events);
  return *make_swap_problem(problem, first, last, repeats, {.min_bytes = 1, .link = kByteNs});
}

// a is written at 0 and read at 1000; b is live from 100 to 500.
constexpr const char* kTwo =
    "0,malloc,a,100\n0,write,a,\n100,malloc,b,100\n100,write,b,\n200,read,b,\n500,free,b,\n"
    "1000,read,a,\n1100,free,a,\n";

std::string verdict(const SwapProblem& problem, const SwapSchedule& schedule) {
  const Status status = check_swaps(problem, schedule);
  return status ? "right" : status.error().message;
}

TEST(SwapProblem, CandidatesAreObjectsBetweenTwoAccesses) {
  const SwapProblem problem = problem_of(kTwo);
  ASSERT_EQ(problem.candidates.size(), 1u);  // b's two accesses follow one another
  EXPECT_EQ(problem.candidates[0].from, 1);
  EXPECT_EQ(problem.candidates[0].to, 6);
  EXPECT_TRUE(problem.candidates[0].spans_peak);
  EXPECT_EQ(problem.peak_bytes, 200);
  EXPECT_EQ(problem.duration_ns, 1100);
}

TEST(SwapPlayer, AnAllocationWaitsForRoomAndWhatFollowsMovesWithIt) {
  const SwapProblem problem = problem_of(kTwo);
  const SwapSchedule schedule = SwapPlayer(problem).play({0}, 150);
  EXPECT_EQ(schedule.cost, (SwapCost{0, 100}));
  ASSERT_EQ(schedule.swaps.size(), 1u);
  EXPECT_EQ(schedule.swaps[0].out_start, 100);
  EXPECT_EQ(schedule.swaps[0].out_end, 200);
  EXPECT_EQ(schedule.swaps[0].in_start, 1000);
  EXPECT_EQ(schedule.swaps[0].in_end, 1100);
  EXPECT_EQ(schedule.swaps[0].stall, 0);
  EXPECT_EQ(schedule.event_ns, (std::vector<std::int64_t>{0, 0, 200, 200, 300, 600, 1100, 1200}));
  EXPECT_EQ(schedule.peak_bytes, 100);
  EXPECT_EQ(schedule.pinned_bytes, 100);
  EXPECT_EQ(verdict(problem, schedule), "right");
}

TEST(SwapPlayer, NothingWaitsWhereTheLimitLeavesRoom) {
  const SwapProblem problem = problem_of(kTwo);
  EXPECT_EQ(SwapPlayer(problem).cost({0}, 200), (SwapCost{0, 0}));
  EXPECT_EQ(SwapPlayer(problem).cost({}, 199), (SwapCost{1, 0}));
}

TEST(SwapPlayer, AnAccessWaitsForACopyThatFoundNoRoomEarlier) {
  // b is freed only at 950, so a cannot be back before 1050: 50 late.
  const SwapProblem problem = problem_of(
      "0,malloc,a,100\n0,write,a,\n100,read,a,\n150,layer,x,\n300,malloc,b,100\n950,free,b,\n1000,"
      "read,a,\n");
  const SwapSchedule schedule = SwapPlayer(problem).play({0}, 150);
  EXPECT_EQ(schedule.cost, (SwapCost{0, 50}));
  EXPECT_EQ(schedule.swaps.at(0).stall, 50);
  EXPECT_EQ(verdict(problem, schedule), "right");
}

TEST(SwapPlayer, CopiesOfOneDirectionFollowOneAnother) {
  const SwapProblem problem = problem_of(
      "0,malloc,a,100\n0,malloc,b,100\n0,write,a,\n0,write,b,\n10,malloc,c,10\n500,free,c,\n"
      "1000,read,a,\n1000,read,b,\n");
  const SwapSchedule schedule = SwapPlayer(problem).play({0, 1}, 210);
  ASSERT_EQ(schedule.swaps.size(), 2u);
  EXPECT_EQ(schedule.swaps[0].out_start, 0);
  EXPECT_EQ(schedule.swaps[1].out_start, 100);
  EXPECT_EQ(schedule.swaps[0].in_start, 800);
  EXPECT_EQ(schedule.swaps[1].in_start, 900);
  EXPECT_EQ(verdict(problem, schedule), "right");
}

// One iteration of 1000 ns in which w is used at 100 and 600 and x lives between.
std::string iteration(int number) {
  const auto at = [number](int ns) { return std::to_string(1000 * number + ns); };
  return at(0) + ",iteration,,\n" + at(100) + ",read,w,\n" + at(150) + ",malloc,x,200\n" + at(200) +
         ",write,x,\n" + at(500) + ",free,x,\n" + at(600) + ",write,w,\n" + at(700) + ",read,w,\n";
}

TEST(SwapPlayer, RepeatedIterationsSwapOverTheirBorder) {
  const SwapProblem problem = problem_of(
      "0,malloc,w,100\n0,write,w,\n" + iteration(0) + iteration(1) + iteration(2), true, 9, 16);
  EXPECT_EQ(problem.duration_ns, 1000);
  EXPECT_EQ(problem.repetitions, 3);
  ASSERT_EQ(problem.candidates.size(), 2u);  // 100 to 600, and 700 to 1100
  EXPECT_EQ(problem.candidates[1].to, problem.period + 1);
  const SwapSchedule schedule = SwapPlayer(problem).play({0}, 250);
  EXPECT_EQ(schedule.cost.excess_bytes, 0);
  EXPECT_EQ(schedule.cost.overhead_ns, 100);  // x waits from 150 until w has left, at 250
  EXPECT_EQ(verdict(problem, schedule), "right");
  // The second use leaves only when the next iteration begins, and comes back 100 late.
  const SwapSchedule both = SwapPlayer(problem).play({0, 1}, 250);
  EXPECT_EQ(both.cost, (SwapCost{0, 200}));
  EXPECT_EQ(verdict(problem, both), "right");
}

TEST(CheckSwaps, RefusesEveryKindOfCheating) {
  const SwapProblem problem = problem_of(kTwo);
  const SwapSchedule good = SwapPlayer(problem).play({0}, 150);
  const auto with = [&](auto&& change) {
    SwapSchedule schedule = good;
    change(schedule);
    return verdict(problem, schedule);
  };
  EXPECT_NE(with([](SwapSchedule& s) { s.event_ns[4] -= 1; }), "right");
  EXPECT_NE(with([](SwapSchedule& s) { s.swaps[0].out_start = 99; }), "right");
  EXPECT_NE(with([](SwapSchedule& s) { s.swaps[0].out_end = 199; }), "right");
  EXPECT_NE(with([](SwapSchedule& s) { s.swaps[0].in_start = 1001; }), "right");
  EXPECT_NE(with([](SwapSchedule& s) { s.swaps[0].in_end = 1101; }), "right");
  EXPECT_NE(with([](SwapSchedule& s) { s.swaps[0].in_start = 500; }), "right");
  EXPECT_NE(with([](SwapSchedule& s) { s.swaps[0].absence.to = 7; }), "right");
  EXPECT_NE(with([](SwapSchedule& s) { s.swaps.push_back(s.swaps[0]); }), "right");
  EXPECT_NE(with([](SwapSchedule& s) { s.swaps.clear(); }), "right");
  EXPECT_NE(with([](SwapSchedule& s) { s.limit_bytes = 99; }), "right");
  EXPECT_NE(with([](SwapSchedule& s) { s.peak_bytes = 99; }), "right");
}

TEST(SwapBound, CountsWhatTheStreamsCanMoveBeforeAndAfterAnInstant) {
  // At b's allocation 50 ns have passed: at most 50 of a's 100 bytes can have left.
  const SwapProblem narrow = problem_of(
      "0,malloc,a,100\n0,write,a,\n0,layer,x,\n50,malloc,b,100\n60,free,b,\n1000,read,a,\n");
  const std::vector<std::uint32_t> all = {0};
  EXPECT_EQ(zero_stall_bound(narrow, all), 150);
  // Two objects share the stream: of 200 bytes, 120 can have left by 120.
  const SwapProblem shared = problem_of(
      "0,malloc,a,100\n0,malloc,c,100\n0,write,a,\n0,write,c,\n0,layer,x,\n120,malloc,b,100\n"
      "130,free,b,\n1000,read,a,\n1000,read,c,\n");
  const std::vector<std::uint32_t> both = {0, 1};
  EXPECT_EQ(zero_stall_bound(shared, both), 200);  // at 0 both are there
}

TEST(SwapBound, TakesTheScarcerWayOfEachObject) {
  // At b's allocation a and c can have left whole. Both are read 30 ns later: 30 bytes come back by
  // then. d is read long after, but of it only 40 bytes can have left.
  const SwapProblem problem = problem_of(
      "0,malloc,a,100\n0,malloc,c,100\n0,malloc,d,100\n0,write,a,\n0,write,c,\n0,layer,x,\n"
      "960,write,d,\n960,layer,y,\n1000,malloc,b,1000\n1000,free,b,\n1030,read,a,\n"
      "1030,read,c,\n2000,read,d,\n");
  const std::vector<std::uint32_t> all = {0, 1, 2};
  EXPECT_EQ(zero_stall_bound(problem, all), 1300 - 30 - 40);
}

TEST(SwapProblem, NeedsEventsAndAccesses) {
  const Problem lives = *parse_problem_csv("id,lower,upper,size\na,0,1,1\n", "t.csv");
  EXPECT_FALSE(make_swap_problem(lives, 0, 1, false, {}));
  const Problem silent = *parse_problem_csv("time_ns,op,id,size\n0,malloc,a,1\n", "t.csv");
  const auto refused = make_swap_problem(silent, 0, 1, false, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "t.csv: swapping cannot be planned: there are no reads and writes");
}

TEST(Link, PresetsAndSpeedsAreUnderstoodAndNonsenseIsNot) {
  EXPECT_EQ(parse_link("pcie3")->out_ns(1'000'000), 122'800);
  EXPECT_EQ(parse_link("pcie3")->in_ns(1'000'000), 92'000);
  EXPECT_EQ(parse_link("10")->in_ns(1'000'000), 110'000);
  for (const char* bad : {"0", "-3", "nan", "inf", "", "pcie", "12x"})
    EXPECT_FALSE(parse_link(bad)) << bad;
}

}  // namespace
}  // namespace drgpum

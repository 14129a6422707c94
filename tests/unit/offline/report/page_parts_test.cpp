// SPDX-License-Identifier: Apache-2.0
// What a page carries beside the report: phases, times, what pools hold, pending frees, and what
// launches do inside of objects.
#include <sstream>

#include <nlohmann/json.hpp>

#include "offline/report/page_inside.h"
#include "offline/report/report_page.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kApplication =
    R"(<html><script type="application/json" id="drgpum-report"></script>END</html>)";

Json head_of(const Report& report) {
  return Json::parse(ReportPage({&report, 1}, {kApplication, {}}).head());
}

TEST(PageParts, PhasesAndIterationsAreBandsOfCalls) {
  const Json phases = head_of(report_from_text(
      "iteration 0; push step; push forward; launch k; pop; pop; iteration 1; launch k"))["phases"];
  EXPECT_EQ(phases["count"], 2);
  EXPECT_EQ(phases["begin"], (Json{1, 2}));
  EXPECT_EQ(phases["length"], (Json{4, 2}));
  EXPECT_EQ(phases["row"], (Json{0, 1}));
  EXPECT_EQ(phases["names"], (Json{"step", "forward"}));
  EXPECT_EQ(phases["iterations"], (Json{0, 6}));
}

TEST(PageParts, TheClockNeverFallsAndCallsHaveTheirOwnTimes) {
  const Json head = head_of(report_from_text(
      "stream s; alloc A 1K; launch k writes A time=5000,9000; launch l on=s time=4000,4500; free A"));
  EXPECT_EQ(head["clock"]["stretch"], 1);
  EXPECT_EQ(head["clock"]["end_ns"], 5000);
  EXPECT_EQ(head["clock"]["ns"], (Json{1000, 1000, 1000, 5000}));
  EXPECT_EQ(head["calls"]["time_ns"], (Json{1000, 1000, 0, 5000}));
}

TEST(PageParts, WithoutTimesThereIsNoClock) {
  const Json head = head_of(report_from_text("alloc A 1K; launch k writes A; free A"));
  EXPECT_TRUE(head["clock"].is_null());
  EXPECT_FALSE(head["calls"].contains("time_ns"));
}

TEST(PageParts, WhatPoolsHoldIsThereWhereTensorsAreCounted) {
  constexpr std::string_view kPool = "alloc P 4K; alloc T 1K sub parent=P; launch k writes T; free T; free P";
  ReportOptions options;
  options.level = MemoryLevel::kTensor;
  EXPECT_EQ(head_of(report_from_text(kPool, options))["curves"][0]["reserved"],
            (Json{4096, 4096, 4096, 4096, 0}));
  options.level = MemoryLevel::kAllocation;
  EXPECT_FALSE(head_of(report_from_text(kPool, options))["curves"][0].contains("reserved"));
}

TEST(PageParts, APendingFreeBeginsWhereTheProgramGivesTheObjectBack) {
  Report report = report_from_text("alloc A 1K; alloc B 1K; mark; launch k; free A; free B");
  EXPECT_FALSE(head_of(report)["objects"].contains("free_requested"));
  report.evidence.free_requests.push_back({1, 2});
  report.evidence.free_requests.push_back({0, 5});  // after its end: none
  EXPECT_EQ(head_of(report)["objects"]["free_requested"], (Json{-1, 1}));
}

TEST(PageParts, AccessMapsAreRowsOfCountsByPart) {
  const Json inside = head_of(report_from_text(
      "alloc A 64; launch k reads A writes A; map A cell=4 exact reads=0:16 writes=16:24 heat=4,2,0,0; "
      "launch l reads A; map A cell=4 exact reads=0:16 heat=1,1,0,0"))["inside"];
  ASSERT_EQ(inside.size(), 1u);
  EXPECT_EQ(inside[0]["launches"], 2);
  EXPECT_EQ(inside[0]["parts"], 4);
  EXPECT_EQ(inside[0]["row_first"], (Json{1, 2}));
  EXPECT_EQ(inside[0]["counts"], (Json{4, 2, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(inside[0]["touched"],
            (Json{kInsideRead, kInsideWritten | kInsidePartly, 0, 0}));
  EXPECT_EQ(inside[0]["sampled"], false);
}

TEST(PageParts, ManyLaunchesAreSummedAndNoneIsLost) {
  std::string text = "alloc A 64; ";
  for (int i = 0; i < 100; ++i)
    text += "launch k reads A; map A cell=4 exact reads=0:16 heat=1,0,0,3; ";
  const Report report = report_from_text(text);
  const std::optional<InsideObject> inside = inside_of(report.evidence, 0);
  ASSERT_TRUE(inside);
  EXPECT_EQ(inside->rows.size(), kInsideRows);
  std::uint64_t sum = 0;
  for (const std::uint64_t count : inside->counts)
    sum += count;
  EXPECT_EQ(sum, 400u);
  std::uint32_t launches = 0;
  for (const InsideRow& row : inside->rows)
    launches += row.launches;
  EXPECT_EQ(launches, 100u);
}

TEST(PageParts, ThePlannedPoolSaysWhereItsObjectsLie) {
  ReportOptions options;
  options.with_pool = true;
  const Json head = head_of(report_from_text(
      "alloc A 4K; launch k writes A; free A; alloc B 4K; launch k writes B; alloc C 1K; launch k "
      "writes C; free B; free C",
      options));
  EXPECT_EQ(head["packing"]["id"], (Json{0, 1, 2}));
  EXPECT_EQ(head["packing"]["offset"][0], head["packing"]["offset"][1]);
  EXPECT_EQ(head["savings"]["smartpool"]["footprint_bytes"], 5120);
  EXPECT_TRUE(head_of(report_from_text("launch k"))["packing"].is_null());
}

}  // namespace
}  // namespace drgpum

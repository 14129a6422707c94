// SPDX-License-Identifier: Apache-2.0
// Tensors and pools: what is done to the one is done to the other, and neither is blamed for it.
#include "offline/order/roll_up.h"

#include "tests/support/judged.h"

namespace drgpum {
namespace {

ReportOptions at(MemoryLevel level) {
  ReportOptions options;
  options.level = level;
  return options;
}

std::string of_pools(std::string_view text) {
  return findings_in(text, at(MemoryLevel::kAllocation));
}
std::string of_tensors(std::string_view text) {
  return findings_in(text, at(MemoryLevel::kTensor));
}

TEST(RollUp, TensorsAreJudgedWhereThereAreAny) {
  EXPECT_EQ(report_from_text("alloc A 64; free A").level, MemoryLevel::kAllocation);
  EXPECT_EQ(report_from_text("alloc P 64; alloc t 64 sub parent=P; free t; free P").level,
            MemoryLevel::kTensor);
}

TEST(RollUp, APoolIsUsedWhereItsTensorsAre) {
  const char* text = R"(
    alloc P 1000 at=0x1000
    alloc a 500 sub parent=P at=0x1000; launch k updates a; free a
    alloc b 500 sub parent=P at=0x1000; launch k updates b; free b
    free P)";
  EXPECT_EQ(of_pools(text), "");
  EXPECT_EQ(of_tensors(text), "");
}

TEST(RollUp, APoolThatNothingUsesIsUnused) {
  const char* text =
      "alloc P 1000 at=0x1000; alloc a 500 sub parent=P at=0x1000; launch k; free a; free P";
  EXPECT_EQ(of_pools(text),
            "unused_allocation P proven wasted=1000 alone=1000 joint=1000 idle=1000\n");
  EXPECT_EQ(of_tensors(text),
            "unused_allocation a proven wasted=500 alone=500 joint=500 idle=500\n");
}

TEST(RollUp, GrandparentsAreUsedToo) {
  const char* text = R"(
    alloc P 1000 at=0x1000
    alloc heap 800 sub parent=P at=0x1000
    alloc a 400 sub parent=heap at=0x1000
    launch k updates a
    free a; free heap; free P)";
  EXPECT_EQ(of_pools(text), "");
  EXPECT_EQ(of_tensors(text), "");
}

TEST(RollUp, MapsOfTensorsAreMapsOfTheirPool) {
  const char* text = R"(
    alloc P 1000 at=0x1000
    alloc a 400 sub parent=P at=0x1000
    alloc b 400 sub parent=P at=0x1190
    launch k updates a b access=4,4
    map a cell=4 exact writes=0:400
    map b cell=4 exact writes=0:400
    free a; free b; free P)";
  EXPECT_EQ(of_pools(text), "") << "what the pool never handed out is not held against it";
  EXPECT_EQ(of_tensors(text), "");
}

TEST(RollUp, WhatTensorsDoNotTouchTheirPoolDoesNotEither) {
  const char* text = R"(
    alloc P 800 at=0x1000
    alloc a 400 sub parent=P at=0x1000
    alloc b 400 sub parent=P at=0x1190
    launch k updates a b access=4,4
    map a cell=4 exact writes=0:400
    map b cell=4 exact writes=0:40
    free a; free b; free P)";
  EXPECT_EQ(of_pools(text), "overallocation P proven wasted=360 alone=360 joint=360\n");
  EXPECT_EQ(of_tensors(text), "overallocation b proven wasted=360 alone=360 joint=360\n");
}

TEST(RollUp, ATensorWithoutAMapHidesItsPool) {
  EXPECT_EQ(of_pools(R"(
    alloc P 800 at=0x1000
    alloc a 400 sub parent=P at=0x1000
    alloc b 400 sub parent=P at=0x1190
    launch k updates a b access=4,4
    map a cell=4 exact writes=0:40
    free a; free b; free P)"),
            "");
}

TEST(RollUp, DifferentTensorsArePartsOfNoStructure) {
  EXPECT_EQ(of_pools(R"(
    alloc P 800 at=0x1000
    alloc a 400 sub parent=P at=0x1000
    alloc b 400 sub parent=P at=0x1190
    launch k updates a access=4,4
    map a cell=4 exact writes=0:400
    launch k updates b access=4,4
    map b cell=4 exact writes=0:400
    free a; free b; free P)")
                .find("structured_access"),
            std::string::npos);
}

TEST(RollUp, ASetOfThePoolFillsItsTensors) {
  const char* text = R"(
    alloc P 1000 at=0x1000
    alloc a 400 sub parent=P at=0x1000
    alloc b 400 sub parent=P at=0x1190
    memcpy h2d a
    memset P[0:800)
    launch k reads a b
    free a; free b; free P)";
  EXPECT_EQ(of_tensors(text), "dead_write a proven count=1 wasted=400\n");
  EXPECT_EQ(of_pools(text), "dead_write P proven count=1 wasted=400\n");
}

TEST(RollUp, TensorsOfAPoolThatIsFreedHaveNotLeaked) {
  EXPECT_EQ(of_tensors("alloc P 100 at=0x1000; alloc a 100 sub parent=P at=0x1000; "
                       "launch k updates a; free P; end"),
            "");
  EXPECT_EQ(of_tensors("alloc P 100 at=0x1000; alloc a 100 sub parent=P at=0x1000; "
                       "launch k updates a; end")
                .substr(0, 14),
            "memory_leak a ");
}

TEST(RollUp, ATensorMayLieInMappingsSideBySide) {
  const char* text = R"(
    alloc first 100 virtual at=0x1000
    alloc second 100 virtual at=0x1064
    alloc t 200 sub parent=first at=0x1000
    memcpy h2d t
    launch k reads t access=4,4
    map t cell=4 exact reads=0:152
    free t; free first; free second)";
  EXPECT_EQ(of_pools(text), "") << "both mappings are used";
  EXPECT_EQ(of_tensors(text), "overallocation t proven wasted=48 alone=48 joint=48\n");
  EXPECT_EQ(report_from_text(text, at(MemoryLevel::kTensor)).peaks.at(0).bytes, 200u);
}

std::string within(Extent extent, std::uint64_t begin, std::uint64_t end, bool is_read) {
  const auto e = extent_within(extent, begin, end, is_read);
  if (!e) return "apart";
  return std::to_string(e->offset) + "+" + std::to_string(e->width) + "x" +
         std::to_string(e->rows) + "/" + std::to_string(e->pitch);
}

TEST(ExtentWithin, CutsRangesExactly) {
  const Extent range{100, 50, 1, 1, 0, 0};
  EXPECT_EQ(within(range, 0, 100, true), "apart");
  EXPECT_EQ(within(range, 150, 200, true), "apart");
  EXPECT_EQ(within(range, 80, 200, false), "20+50x1/0");
  EXPECT_EQ(within(range, 120, 130, false), "0+10x1/0");
  EXPECT_EQ(within(range, 0, 120, true), "100+20x1/0");
}

TEST(ExtentWithin, KeepsWholeRowsOfAWriteAndAllThatAReadMayTouch) {
  const Extent rows{100, 10, 4, 1, 32, 0};  // 100, 132, 164, 196
  EXPECT_EQ(within(rows, 0, 300, false), "100+10x4/32");
  EXPECT_EQ(within(rows, 130, 175, false), "2+10x2/32");
  EXPECT_EQ(within(rows, 133, 170, false), "apart");
  EXPECT_EQ(within(rows, 133, 170, true), "0+37x1/0");
  EXPECT_EQ(within(rows, 140, 300, false), "24+10x2/32");
}

}  // namespace
}  // namespace drgpum

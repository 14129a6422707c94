// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

std::string found(std::string_view text) {
  return findings_in(Pattern::kOverallocation, text);
}

TEST(Overallocation, ReportsTheBytesThatNoLaunchTouches) {
  EXPECT_EQ(found("alloc A 1000; launch k reads A access=4,4\nmap A cell=4 exact reads=0:100\n"
                  "free A"),
            "overallocation A proven wasted=900 alone=900 joint=900\n");
}

TEST(Overallocation, IsNotSaidOfTheCompilersTables) {
  const auto of_global = [](const std::string& name) {
    return found("global " + name + " 128\nlaunch k reads " + name + " access=8,8\nmap " + name +
                 " cell=4 exact reads=0:48");
  };
  EXPECT_EQ(of_global("__cudart_sin_cos_coeffs"), "");
  EXPECT_EQ(of_global("_ZTV6Square"), "") << "virtual functions";
  EXPECT_NE(of_global("coefficients"), "");
}

TEST(Overallocation, JoinsAllLaunchesOfAnObjectsLife) {
  EXPECT_EQ(found("alloc A 1000\nlaunch k reads A access=4,4\nmap A cell=4 exact reads=0:400\n"
                  "launch l writes A access=4,4\nmap A cell=4 exact writes=400:800\nfree A"),
            "")
      << "80 % is enough";
}

TEST(Overallocation, LeavesThePaddingOfPitchedRowsAside) {
  EXPECT_EQ(found("alloc A 1024 pitched pitch=512 width=100\nlaunch k reads A access=4,4\n"
                  "map A cell=4 exact reads=0:100,512:612\nfree A"),
            "");
  EXPECT_EQ(found("alloc A 1024 pitched pitch=512 width=100\nlaunch k reads A access=4,4\n"
                  "map A cell=4 exact reads=0:100\nfree A"),
            "overallocation A proven wasted=100 alone=100 joint=100\n");
}

TEST(Overallocation, CountsWholeElements) {
  EXPECT_EQ(found("alloc A 1024; launch k reads A access=8,8\nmap A cell=4 exact "
                  "reads=0:4,8:12,16:20,24:28,32:1024\nfree A"),
            "");
}

TEST(Overallocation, IsOnlyPossibleWithUnrecordedLaunchesOrCoarseCells) {
  EXPECT_EQ(found("alloc A 1000\nlaunch k reads A\nmap A cell=4 exact reads=0:100\n"
                  "launch hidden uninstrumented\nfree A"),
            "overallocation A possible wasted=900 alone=900 joint=900\n");
  EXPECT_EQ(found("alloc A 1000\nlaunch k reads A\nmap A cell=50 reads=0:100\nfree A"),
            "overallocation A possible wasted=900 alone=900 joint=900\n");
}

TEST(Overallocation, SaysNothingOfALaunchWithoutAMap) {
  EXPECT_EQ(found("alloc A 1000\nlaunch k reads A\nmap A cell=4 exact reads=0:100\n"
                  "launch l reads A\nfree A"),
            "");
}

TEST(Overallocation, SaysNothingOfALaunchOfWhichSomeBlocksWereSeen) {
  EXPECT_EQ(found("alloc A 1000\nlaunch k reads A access=4,4\nmap A cell=4 blocks=10 reads=0:100\n"
                  "free A"),
            "");
}

TEST(Overallocation, MeasuresFragmentation) {
  const Report report = report_from_text(
      "alloc A 1000\nlaunch k reads A access=4,4\nmap A cell=4 exact reads=100:200,600:700\nfree "
      "A");
  ASSERT_FALSE(report.findings.empty());
  const IntraEvidence& intra = *report.findings.front().intra;
  EXPECT_EQ(intra.unaccessed_bytes, 800u);
  EXPECT_EQ(intra.unaccessed_runs, 3u);
  EXPECT_DOUBLE_EQ(intra.fragmentation, 0.5);
}

}  // namespace
}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

std::string found(std::string_view text) {
  return findings_in(Pattern::kNonUniformAccessFrequency, text);
}

TEST(NonUniformAccessFrequency, IsVariationAboveAFifth) {
  EXPECT_EQ(found("alloc A 1000\nlaunch k reads A\n"
                  "map A cell=4 exact reads=0:1000 counted=250 mean=10 variance=4.41 hot=0:40\n"
                  "free A"),
            "non_uniform_access_frequency A proven count=1\n");
  EXPECT_EQ(found("alloc A 1000\nlaunch k reads A\n"
                  "map A cell=4 exact reads=0:1000 counted=250 mean=10 variance=4\nfree A"),
            "");
}

TEST(NonUniformAccessFrequency, ReportsTheWorstLaunchAndHowManyThereAre) {
  const Report report = report_from_text(
      "alloc A 1000\n"
      "launch k reads A\nmap A cell=4 exact reads=0:1000 counted=250 mean=2 variance=1 hot=8:16\n"
      "launch k reads A\nmap A cell=4 exact reads=0:1000 counted=250 mean=2 variance=4 hot=0:8\n"
      "launch k reads A\nmap A cell=4 exact reads=0:1000 counted=250 mean=2 variance=0\nfree A");
  ASSERT_EQ(report.findings.size(), 1u);
  const Finding& f = report.findings.front();
  EXPECT_EQ(f.count, 2u);
  EXPECT_EQ(f.from, 2u);
  EXPECT_DOUBLE_EQ(f.intra->variation, 1);
  EXPECT_EQ(f.intra->hot.end, 8u);
}

TEST(NonUniformAccessFrequency, IsOnlyPossibleWhenCountsAreNotComplete) {
  EXPECT_EQ(found("alloc A 1000\nlaunch k reads A\n"
                  "map A cell=4 exact reads=0:1000 counted=250 mean=10 variance=25\n"
                  "coverage no-counts object=A\nfree A"),
            "non_uniform_access_frequency A possible count=1\n");
}

}  // namespace
}  // namespace drgpum

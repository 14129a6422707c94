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

TEST(NonUniformAccessFrequency, CountsElementsAndNotCells) {
  const Report report = report_from_text(
      "alloc A 1000\nlaunch k reads A access=8,8\n"
      "map A cell=4 exact reads=0:1000 counted=250 mean=10 variance=25 hot=0:40\nfree A");
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings.front().intra->counted_elements, 125u);
  EXPECT_EQ(advice_for(report, report.findings.front()),
            "Put the part of A that is accessed most, bytes 0 to 40, in shared memory for call 1 k. "
            "Counts vary by 50 % of their mean.");
}

TEST(NonUniformAccessFrequency, NamesWholeElements) {
  const Report report = report_from_text(
      "alloc A 104\nlaunch k reads A access=4,4\n"
      "map A cell=4 exact reads=0:104 counted=26 mean=10 variance=144 hot=2:9\nfree A");
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings.front().intra->hot, (trace::ByteRange{0, 12}));
}

// A stencil: what two blocks read is a little at each border of theirs.
TEST(NonUniformAccessFrequency, NamesNoPartWhereNoneIsHot) {
  const Report report = report_from_text(
      "alloc A 1000\nlaunch k reads A access=4,4\n"
      "map A cell=4 exact reads=0:1000 counted=250 mean=10 variance=9 hot=0:480\nfree A");
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(advice_for(report, report.findings.front()),
            "Keep what is accessed repeatedly of A, which lies all over it, in shared memory for "
            "call 1 k. Counts vary by 30 % of their mean.");
  const Report histogram = report_from_text(
      "alloc A 100M\nlaunch k reads A access=4,4\n"
      "map A cell=4 exact reads=0:100M counted=25M mean=10 variance=900 hot=0:1M\nfree A");
  ASSERT_EQ(histogram.findings.size(), 1u);
  EXPECT_EQ(advice_for(histogram, histogram.findings.front()).substr(0, 46),
            "Keep what is accessed repeatedly of A, which l") << "no shared memory holds 1 MiB";
}

}  // namespace
}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

std::string found(std::string_view text) {
  return findings_in(Pattern::kStructuredAccess, text);
}

std::string slices(const char* second) {
  return std::string("alloc A 1000\nlaunch k reads A\nmap A cell=4 exact reads=0:400\n") +
         "launch k reads A\nmap A cell=4 exact reads=" + second + "\nfree A";
}

TEST(StructuredAccess, IsLaunchesThatTouchDisjointParts) {
  EXPECT_EQ(found(slices("400:800")),
            "structured_access A proven count=2 wasted=600 alone=600 joint=600\n");
}

TEST(StructuredAccess, ReportsUnequalParts) {
  const Report report = report_from_text(slices("400:600"));
  for (const Finding& f : report.findings) {
    if (f.pattern != Pattern::kStructuredAccess) continue;
    EXPECT_FALSE(f.intra->equal_parts);
    EXPECT_EQ(f.intra->smallest_part_bytes, 200u);
    EXPECT_EQ(f.intra->largest_part_bytes, 400u);
    return;
  }
  FAIL() << "not found";
}

TEST(StructuredAccess, IsNotOverlappingNorLargeParts) {
  EXPECT_EQ(found(slices("396:800")), "");
  EXPECT_EQ(found(slices("400:1000")), "") << "more than half";
}

TEST(StructuredAccess, NeedsEveryFunctionToKeepToParts) {
  EXPECT_EQ(found("alloc A 1000\nlaunch k reads A\nmap A cell=4 exact reads=0:400\n"
                  "launch k reads A\nmap A cell=4 exact reads=400:800\n"
                  "launch l reads A\nmap A cell=4 exact reads=0:400\nfree A"),
            "")
      << "l touches it in one launch only";
}

TEST(StructuredAccess, SaysNothingOfALaunchWithoutAMap) {
  EXPECT_EQ(found("alloc A 1000\nlaunch k reads A\nmap A cell=4 exact reads=0:400\n"
                  "launch k reads A\nfree A"),
            "");
}

}  // namespace
}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

std::string found(std::string_view text) {
  return findings_in(Pattern::kEarlyAllocation, text);
}

TEST(EarlyAllocation, CountsLaunchesBetweenAllocationAndFirstAccess) {
  EXPECT_EQ(found("alloc A 1K; launch x; launch y; launch k reads A; free A"),
            "early_allocation A proven distance=2 wasted=1024\n");
  EXPECT_EQ(found("alloc A 1K; launch k reads A; launch x; free A"), "");
}

TEST(EarlyAllocation, JudgesTheLaunchNotTheUploadBeforeIt) {
  EXPECT_EQ(found("alloc A 1K; memcpy h2d A; launch x; launch k reads A; free A"),
            "early_allocation A possible distance=1 moves=1 wasted=1024\n")
      << "the upload has to move";
  EXPECT_EQ(found("alloc A 1K; launch x; memcpy h2d A; launch k reads A; free A"),
            "early_allocation A proven distance=1 wasted=1024\n")
      << "the upload is late enough as it is";
}

TEST(EarlyAllocation, TakesACopyWithinTheDeviceForAnAccess) {
  EXPECT_EQ(found("alloc A 1K; alloc B 1K; launch w writes B; memcpy d2d B A; launch x; "
                  "launch k reads A; free A; free B"),
            "early_allocation A proven distance=1 wasted=1024\n");
}

TEST(EarlyAllocation, IsNotProvenByALaunchInAConcurrentStream) {
  EXPECT_EQ(found("stream s; stream t; alloc A 1K; launch x on=s; launch k reads A on=t; free A"),
            "early_allocation A possible distance=1 wasted=1024\n");
}

TEST(EarlyAllocation, IsProvenThroughAnEvent) {
  EXPECT_EQ(found("stream s; stream t; alloc A 1K; launch x on=s; record e on=s; wait e on=t; "
                  "launch k reads A on=t; free A"),
            "early_allocation A proven distance=1 wasted=1024\n");
}

TEST(EarlyAllocation, IsProvenThroughTheLegacyDefaultStream) {
  EXPECT_EQ(found("stream s; alloc A 1K; launch x on=s; launch k reads A; free A"),
            "early_allocation A proven distance=1 wasted=1024\n");
  EXPECT_EQ(found("stream s non-blocking; alloc A 1K; launch x on=s; launch k reads A; free A"),
            "early_allocation A possible distance=1 wasted=1024\n");
}

TEST(EarlyAllocation, EndsAtALaunchThatWasNotRecorded) {
  EXPECT_EQ(found("alloc A 1K; launch hidden uninstrumented; launch x; launch k reads A; free A"),
            "");
  EXPECT_EQ(found("alloc A 1K; launch x; launch hidden uninstrumented; launch y; "
                  "launch k reads A; free A"),
            "early_allocation A possible distance=1 wasted=1024\n");
}

TEST(EarlyAllocation, LeavesModuleGlobalsAndPinnedMemoryAlone) {
  EXPECT_EQ(found("global G 1K; launch x; launch k reads G"), "");
  EXPECT_EQ(found("alloc P 1K pinned; launch x; launch k reads P; free P"), "");
}

TEST(EarlyAllocation, IsNeverProvenForManagedMemory) {
  EXPECT_EQ(found("alloc A 1K managed; launch x; launch k reads A; free A"),
            "early_allocation A possible distance=1 wasted=1024\n");
}

TEST(EarlyAllocation, KeepsToItsThreshold) {
  ReportOptions options;
  options.thresholds.early_launches = 3;
  const char* text = "alloc A 1K; launch x; launch y; launch k reads A; free A";
  EXPECT_EQ(findings_in(Pattern::kEarlyAllocation, text, options), "");
  options.thresholds.early_launches = 2;
  EXPECT_NE(findings_in(Pattern::kEarlyAllocation, text, options), "");
}

}  // namespace
}  // namespace drgpum

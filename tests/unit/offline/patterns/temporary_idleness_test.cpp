// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

std::string found(std::string_view text) {
  return findings_in(Pattern::kTemporaryIdleness, text);
}

TEST(TemporaryIdleness, IsALaunchBetweenTwoAccesses) {
  EXPECT_EQ(found("alloc A 1K; launch k writes A; launch x; launch y; launch l reads A; free A"),
            "temporary_idleness A proven distance=2 count=1 wasted=1024\n");
  EXPECT_EQ(found("alloc A 1K; launch k writes A; launch l reads A; free A"), "");
}

TEST(TemporaryIdleness, ReportsTheLongestGapAndTheirNumber) {
  EXPECT_EQ(found("alloc A 1K; launch k reads A; launch x; launch k reads A; launch x; launch y; "
                  "launch k reads A; free A"),
            "temporary_idleness A proven distance=2 count=2 wasted=1024\n");
}

TEST(TemporaryIdleness, SavesWhatIsAwayAtThePeak) {
  EXPECT_EQ(found("alloc A 1K; launch k writes A; sync device; alloc B 2K; launch x writes B; "
                  "free B; launch l reads A; free A"),
            "temporary_idleness A proven distance=1 count=1 wasted=1024 alone=1024 joint=1024 "
            "idle=1024\n");
}

TEST(TemporaryIdleness, IsNotProvenByAConcurrentLaunch) {
  EXPECT_EQ(found("stream s; stream t; alloc A 1K; launch k writes A on=s; launch x on=t; "
                  "launch l reads A on=s; free A"),
            "temporary_idleness A possible distance=1 count=1 wasted=1024\n");
}

TEST(TemporaryIdleness, IgnoresUploadsBeforeAndDownloadsAfter) {
  EXPECT_EQ(found("alloc A 1K; memcpy h2d A; launch x; launch k updates A; launch y; memcpy d2h A; "
                  "free A"),
            "");
}

TEST(TemporaryIdleness, CountsADownloadBetweenTwoLaunches) {
  EXPECT_EQ(
      found("alloc A 1K; launch k writes A; memcpy d2h A; launch x; launch l reads A; free A"),
      "temporary_idleness A proven distance=1 count=1 wasted=1024\n")
      << "the gap begins at the download";
}

TEST(TemporaryIdleness, IsNotSaidOfAGapWithAnUnrecordedLaunch) {
  EXPECT_EQ(found("alloc A 1K; launch k writes A; launch hidden uninstrumented; launch x; "
                  "launch l reads A; free A"),
            "");
}

}  // namespace
}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

std::string found(std::string_view text) {
  return findings_in(Pattern::kLateDeallocation, text);
}

TEST(LateDeallocation, CountsLaunchesBetweenLastAccessAndFree) {
  EXPECT_EQ(found("alloc A 1K; launch k reads A; launch x; launch y; free A"),
            "late_deallocation A proven distance=2 wasted=1024\n");
  EXPECT_EQ(found("alloc A 1K; launch x; launch k reads A; free A"), "");
}

TEST(LateDeallocation, JudgesTheLaunchNotTheDownloadAfterIt) {
  EXPECT_EQ(found("alloc A 1K; launch k writes A; launch x; memcpy d2h A; free A"),
            "late_deallocation A possible distance=1 moves=1 wasted=1024\n");
  EXPECT_EQ(found("alloc A 1K; launch k writes A; memcpy d2h A; launch x; free A"),
            "late_deallocation A proven distance=1 wasted=1024\n");
}

TEST(LateDeallocation, BecomesProvableThroughASynchronisation) {
  EXPECT_EQ(found("stream s; stream t; alloc A 1K; launch k reads A on=s; launch x on=t; free A"),
            "late_deallocation A possible distance=1 wasted=1024\n");
  EXPECT_EQ(found("stream s; stream t; alloc A 1K; launch k reads A on=s; sync stream s; "
                  "launch x on=t; free A"),
            "late_deallocation A proven distance=1 wasted=1024\n");
}

TEST(LateDeallocation, NeedsEveryStreamThatUsesTheObjectToBeDone) {
  EXPECT_EQ(found("stream s; stream t; alloc A 1K; launch k reads A on=s; launch l reads A on=t; "
                  "launch x on=t; free A"),
            "late_deallocation A possible distance=1 wasted=1024\n");
}

TEST(LateDeallocation, BeginsAtALaunchThatWasNotRecorded) {
  EXPECT_EQ(found("alloc A 1K; launch k reads A; launch x; launch hidden uninstrumented; free A"),
            "");
}

TEST(LateDeallocation, IsNotSaidOfALeak) {
  EXPECT_EQ(found("alloc A 1K; launch k reads A; launch x; end"), "");
}

TEST(LateDeallocation, IgnoresAFreeThatTheDriverRefused) {
  EXPECT_EQ(found("alloc A 1K; launch k reads A; free A error=1; launch x; free A"),
            "late_deallocation A proven distance=1 wasted=1024\n");
}

}  // namespace
}  // namespace drgpum

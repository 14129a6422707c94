// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

std::string found(std::string_view text) {
  return findings_in(Pattern::kUnusedAllocation, text);
}

TEST(UnusedAllocation, IsAnObjectThatNothingReadsOrComputesOn) {
  EXPECT_EQ(found("alloc A 1K; launch x; free A"),
            "unused_allocation A proven wasted=1024 alone=1024 joint=1024 idle=1024\n");
  EXPECT_EQ(found("alloc A 1K; memset A; memcpy h2d A; free A"),
            "unused_allocation A proven count=2 wasted=1024 alone=1024 joint=1024\n")
      << "what fills it does not use it";
}

TEST(UnusedAllocation, IsNotOneThatACopyReads) {
  EXPECT_EQ(found("alloc A 1K; memcpy h2d A; memcpy d2h A; free A"), "");
  EXPECT_EQ(found("alloc A 1K; alloc B 1K; memcpy h2d A; memcpy d2d A B; launch k reads B; "
                  "free A; free B"),
            "")
      << "a staging buffer";
}

TEST(UnusedAllocation, IsNotSaidWhenALaunchOfItsLifeWasNotRecorded) {
  EXPECT_EQ(found("alloc A 1K; launch hidden uninstrumented; free A"), "");
  EXPECT_NE(found("launch hidden uninstrumented; alloc A 1K; free A"), "");
  EXPECT_EQ(found("alloc A 1K; launch x; coverage slots-full api=1; free A"), "");
}

TEST(UnusedAllocation, IsOnlyPossibleWhenAccessesHitUnknownMemory) {
  EXPECT_EQ(found("alloc A 1K; launch x; coverage unknown-address; free A"),
            "unused_allocation A possible wasted=1024 alone=1024 joint=1024 idle=1024\n");
}

TEST(UnusedAllocation, IsNotATableOfTheCompilers) {
  EXPECT_EQ(found("global __cudart_i2opi_f 24; launch x"), "");
  EXPECT_EQ(found("global __unnamed_1 22; launch x"), "") << "an assert's text";
  EXPECT_EQ(found("global $str 10; launch x"), "");
  EXPECT_NE(found("global table 24; launch x"), "");
}

TEST(UnusedAllocation, IsNotSaidOfWhatKernelsReadThroughTextures) {
  EXPECT_EQ(found("alloc A 1K opaque; launch x; free A"), "");
  EXPECT_EQ(found("alloc A 1K; coverage opaque-object object=A; launch x; free A"), "");
}

}  // namespace
}  // namespace drgpum

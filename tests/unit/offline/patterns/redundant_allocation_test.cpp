// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

std::string found(std::string_view text) {
  return findings_in(Pattern::kRedundantAllocation, text);
}

TEST(RedundantAllocation, PairsAnObjectWithOneThatIsDoneBefore) {
  EXPECT_EQ(found("alloc A 1K; alloc B 1K; launch k writes A; launch l writes B; free A; free B"),
            "redundant_allocation B->A proven distance=0 wasted=1024 alone=1024 joint=1024\n");
}

TEST(RedundantAllocation, IsNotFoundWithinOneLaunch) {
  EXPECT_EQ(found("alloc A 1K; alloc B 1K; launch k reads A writes B; free A; free B"), "");
}

TEST(RedundantAllocation, NeedsTheHostToHoldItsMemoryStill) {
  EXPECT_EQ(found("alloc A 1K; launch k writes A; free A; alloc B 1K; launch l writes B; free B"),
            "")
      << "the allocator reuses it already";
}

TEST(RedundantAllocation, WantsTheGuestToFillNineTenthsOfTheHost) {
  const auto sized = [](const char* a, const char* b) {
    return "alloc A " + std::string(a) + "; alloc B " + b +
           "; launch k writes A; launch l writes B; free A; free B";
  };
  EXPECT_NE(found(sized("1000", "900")), "");
  EXPECT_EQ(found(sized("1000", "899")), "");
  EXPECT_EQ(found(sized("1000", "1001")), "") << "it does not fit";
}

TEST(RedundantAllocation, DoesNotLetConcurrentStreamsShareMemory) {
  EXPECT_EQ(found("stream s; stream t; alloc A 1K; alloc B 1K; launch k writes A on=s; "
                  "launch l writes B on=t; free A; free B"),
            "redundant_allocation B->A possible distance=0 wasted=1024 superseded\n")
      << "not proven, and no replay claims its bytes";
}

TEST(RedundantAllocation, IsProvenAcrossStreamsThroughAnEventWait) {
  EXPECT_EQ(found("stream s; stream t; alloc A 1K; alloc B 1K; launch k writes A on=s; "
                  "record e on=s; wait e on=t; launch l writes B on=t; free A; free B"),
            "redundant_allocation B->A proven distance=0 wasted=1024 alone=1024 joint=1024\n");
}

TEST(RedundantAllocation, PrefersAnOrderedHostToOneFreedLater) {
  EXPECT_EQ(found("stream s; stream t; alloc A 1K; alloc B 1K; alloc C 1K; launch k writes A on=t; "
                  "launch l writes B on=s; launch m writes C on=t; free A; free B; free C"),
            "redundant_allocation C->A proven distance=1 wasted=1024 alone=1024 joint=1024\n");
}

TEST(RedundantAllocation, GivesEachObjectOnePredecessorAndOneSuccessor) {
  EXPECT_EQ(found("alloc A 1K; alloc B 1K; alloc C 1K; launch k writes A; launch l writes B; "
                  "launch m writes C; free A; free B; free C"),
            "redundant_allocation B->A proven distance=0 wasted=1024 alone=1024 joint=1024\n"
            "redundant_allocation C->B proven distance=0 wasted=1024 alone=1024 joint=1024\n");
}

TEST(RedundantAllocation, CountsADownloadThatAlreadyComesFirst) {
  EXPECT_EQ(found("alloc A 1K; alloc B 1K; launch k writes A; memcpy d2h A; memcpy h2d B; "
                  "launch l reads B; free A; free B"),
            "redundant_allocation B->A proven distance=0 wasted=1024 alone=1024 joint=1024\n");
}

TEST(RedundantAllocation, TreatsAnUnrecordedLaunchAsAUseOfBoth) {
  EXPECT_EQ(found("alloc A 1K; alloc B 1K; launch hidden uninstrumented; launch k writes A; "
                  "launch l writes B; free A; free B"),
            "");
}

TEST(RedundantAllocation, KeepsContextsAndManagedMemoryApart) {
  EXPECT_EQ(found("alloc A 1K; alloc B 1K managed; launch k writes A; launch l writes B; free A; "
                  "free B"),
            "");
}

}  // namespace
}  // namespace drgpum

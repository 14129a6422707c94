// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

std::string found(std::string_view text) {
  return findings_in(Pattern::kDeadWrite, text);
}

TEST(DeadWrite, IsASetThatAnUploadOverwrites) {
  EXPECT_EQ(found("alloc A 1K; memset A; memcpy h2d A; launch k reads A; free A"),
            "dead_write A proven count=1 wasted=1024\n");
}

TEST(DeadWrite, IsNotACopyOfAnotherHalf) {
  EXPECT_EQ(found("alloc A 1K; memcpy h2d A[0:512); memcpy h2d A[512:1024); launch k reads A; "
                  "free A"),
            "");
}

TEST(DeadWrite, NeedsAllItsBytesToBeOverwritten) {
  EXPECT_EQ(found("alloc A 1K; memset A; memcpy h2d A[0:1000); launch k reads A; free A"), "");
  EXPECT_EQ(found("alloc A 1K; memset A; memcpy h2d A[0:1000); memcpy h2d A[1000:1024); "
                  "launch k reads A; free A"),
            "dead_write A proven count=1 wasted=1024\n");
}

TEST(DeadWrite, TakesADownloadForARead) {
  EXPECT_EQ(found("alloc A 1K; memcpy h2d A; memcpy d2h A; memcpy h2d A; launch k reads A; free A"),
            "");
}

TEST(DeadWrite, TakesADownloadOfOtherBytesForNone) {
  EXPECT_EQ(found("alloc A 1K; memcpy h2d A[0:512); memcpy d2h A[512:1024); memcpy h2d A[0:512); "
                  "launch k reads A; free A"),
            "dead_write A proven count=1 wasted=512\n");
}

TEST(DeadWrite, IsAWriteThatTheFreeMakesVain) {
  EXPECT_EQ(found("alloc A 1K; launch k reads A; memset A; free A"),
            "dead_write A proven count=1 wasted=1024\n");
  EXPECT_EQ(found("alloc A 1K; launch k reads A; memset A; end"), "") << "not freed";
}

TEST(DeadWrite, DoesNotTrustALaunchToOverwriteEverything) {
  EXPECT_EQ(found("alloc A 1K; memset A; launch k writes A; memcpy d2h A; free A"), "");
}

TEST(DeadWrite, TrustsAnExactMapThatShowsTheOverwrite) {
  EXPECT_EQ(found("alloc A 1K; memset A; launch k writes A\nmap A cell=4 exact writes=0:1024\n"
                  "memcpy d2h A; free A"),
            "dead_write A proven count=1 wasted=1024\n");
  EXPECT_EQ(found("alloc A 1K; memset A; launch k writes A\nmap A cell=64 writes=0:1024\n"
                  "memcpy d2h A; free A"),
            "")
      << "coarse cells may have holes";
}

TEST(DeadWrite, KnowsTheRowsOfAPitchedCopy) {
  EXPECT_EQ(found("alloc A 1K; memset A[0:64)x16/64; memcpy h2d A; launch k reads A; free A"),
            "dead_write A proven count=1 wasted=1024\n");
  EXPECT_EQ(found("alloc A 1K; memset A; memcpy h2d A[0:32)x16/64; launch k reads A; free A"), "");
}

TEST(DeadWrite, IsOnlyPossibleWhenNothingOrdersTheWrites) {
  EXPECT_EQ(found("stream s; stream t; alloc A 1K; memset A on=s; memcpy h2d A async on=t; "
                  "sync device; launch k reads A; free A"),
            "dead_write A possible count=1 wasted=1024\n");
}

TEST(DeadWrite, IsOnlyPossibleWhenAConcurrentReadMaySeeIt) {
  EXPECT_EQ(found("stream s; stream t; alloc A 1K; launch r reads A on=t; memset A on=s; "
                  "memcpy h2d A async on=s; launch k reads A on=s; free A"),
            "dead_write A possible count=1 wasted=1024\n");
}

TEST(DeadWrite, IsNotSaidAcrossAnUnrecordedLaunch) {
  EXPECT_EQ(found("alloc A 1K; memset A; launch hidden uninstrumented; memcpy h2d A; "
                  "launch k reads A; free A"),
            "");
}

TEST(DeadWrite, IsNotSaidWhereOnlySomeBlocksWereSeen) {
  const std::string writes = "alloc A 16; memset A; launch k writes A access=4,4\n";
  EXPECT_EQ(found(writes + "map A cell=4 exact writes=0:16; launch r reads A; free A"),
            "dead_write A proven count=1 wasted=16\n");
  EXPECT_EQ(found(writes + "map A cell=4 blocks=2 writes=0:16; launch r reads A; free A"), "");
}

TEST(DeadWrite, IsNotSaidOfUnusedObjects) {
  EXPECT_EQ(found("alloc A 1K; memset A; memset A; free A"), "");
}

TEST(DeadWrite, SumsUpTheWritesOfOneObject) {
  EXPECT_EQ(found("alloc A 1K; memset A; memset A; memcpy h2d A; launch k reads A; free A"),
            "dead_write A proven count=2 wasted=2048\n");
}

}  // namespace
}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/patterns.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

std::string found(std::string_view text) {
  return findings_in(Pattern::kMemoryLeak, text);
}

TEST(MemoryLeak, IsAnObjectAliveWhenTheProcessEnds) {
  EXPECT_EQ(found("alloc A 1K; launch k reads A; end exit=0"),
            "memory_leak A proven wasted=1024\n");
  EXPECT_EQ(found("alloc A 1K; launch k reads A; free A; end exit=0"), "");
}

TEST(MemoryLeak, IsAnObjectAliveWhenItsContextIsDestroyed) {
  EXPECT_EQ(found("context c; alloc A 1K; launch k reads A; end-context c; end exit=0"),
            "memory_leak A proven wasted=1024\n");
}

TEST(MemoryLeak, IsOnlyPossibleInATraceThatEndsEarly) {
  EXPECT_EQ(found("alloc A 1K; launch k reads A"), "memory_leak A possible wasted=1024\n");
}

TEST(MemoryLeak, CostsAtThePeaksThatComeLater) {
  EXPECT_EQ(found("alloc A 1K; launch k reads A; sync device; alloc B 1K; launch l reads B; "
                  "free B; end"),
            "memory_leak A proven wasted=1024 alone=1024 joint=1024 idle=1024\n");
}

TEST(MemoryLeak, TakesPinnedMemoryAndNoModuleGlobal) {
  EXPECT_EQ(found("alloc P 1K pinned; global G 1K; launch k reads G; end"),
            "memory_leak P proven wasted=1024\n");
}

TEST(MemoryLeak, IsNotAnObjectThatEndedWithItsPool) {
  EXPECT_EQ(found("alloc A 1K async; launch k reads A; end-object A; end"), "");
}

TEST(MemoryLeak, RemainsWhenTheDriverRefusedTheFree) {
  EXPECT_EQ(found("alloc A 1K; launch k reads A; free A error=1; end"),
            "memory_leak A proven wasted=1024\n");
}

}  // namespace
}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
// Address ranges: which ones are handed out, and that none is handed out twice.

#include "emulator/memory/range_allocator.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace drgpum::emulator {
namespace {

TEST(RangeAllocator, HandsOutFromTheStartOfTheRegion) {
  RangeAllocator ranges(0x1000, 0x9000);
  EXPECT_EQ(ranges.take(0x800, 1), 0x1000u);
  EXPECT_EQ(ranges.take(0x800, 1), 0x1800u);
}

TEST(RangeAllocator, TakesTheSmallestRangeThatFits) {
  RangeAllocator ranges(0, 0x10000);
  ranges.take(0x4000, 1);  // 0x0000
  ranges.take(0x100, 1);   // 0x4000, keeps the neighbours apart
  ranges.take(0x1000, 1);  // 0x4100
  ranges.take(0x100, 1);   // 0x5100
  ranges.give_back(0, 0x4000);
  ranges.give_back(0x4100, 0x1000);
  EXPECT_EQ(ranges.take(0x800, 1), 0x4100u);
}

TEST(RangeAllocator, GivesAFreedRangeToTheNextEqualRequest) {
  RangeAllocator ranges(0, 0x10000);
  const auto first = ranges.take(0x300, 0x100);
  ranges.take(0x300, 0x100);
  ranges.give_back(*first, 0x300);
  EXPECT_EQ(ranges.take(0x300, 0x100), first);
}

TEST(RangeAllocator, AlignsAndKeepsWhatLiesBefore) {
  RangeAllocator ranges(0x10, 0x1000);
  EXPECT_EQ(ranges.take(0x10, 0x100), 0x100u);
  EXPECT_EQ(ranges.take(0xf0, 0x10), 0x10u);
}

TEST(RangeAllocator, RefusesWhatDoesNotFit) {
  RangeAllocator ranges(0, 0x1000);
  EXPECT_FALSE(ranges.take(0x1001, 1));
  EXPECT_TRUE(ranges.take(0x1000, 1));
  EXPECT_FALSE(ranges.take(1, 1));
}

TEST(RangeAllocator, TakesAGivenRangeOnlyWhenAllOfItIsFree) {
  RangeAllocator ranges(0, 0x1000);
  EXPECT_TRUE(ranges.take_at(0x400, 0x200));
  EXPECT_FALSE(ranges.take_at(0x3ff, 2));
  EXPECT_FALSE(ranges.take_at(0x5ff, 2));
  EXPECT_FALSE(ranges.take_at(0xfff, 2));
  EXPECT_TRUE(ranges.take_at(0x600, 0x10));
}

TEST(RangeAllocator, JoinsFreedNeighbours) {
  RangeAllocator ranges(0, 0x300);
  for (int i = 0; i < 3; ++i)
    ranges.take(0x100, 1);
  ranges.give_back(0x000, 0x100);
  ranges.give_back(0x200, 0x100);
  EXPECT_FALSE(ranges.take(0x300, 1));
  ranges.give_back(0x100, 0x100);
  EXPECT_EQ(ranges.take(0x300, 1), 0u);
}

TEST(RangeAllocator, NeverHandsOutBytesTwice) {
  RangeAllocator ranges(0, 1u << 20);
  std::mt19937 random(7);
  std::map<std::uint64_t, std::uint64_t> taken;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 2 == 0 && !taken.empty()) {
      auto it = std::next(taken.begin(), static_cast<long>(random() % taken.size()));
      ranges.give_back(it->first, it->second);
      taken.erase(it);
      continue;
    }
    const std::uint64_t size = 1 + random() % 4096;
    const std::uint64_t alignment = std::uint64_t{1} << (random() % 10);
    const auto address = ranges.take(size, alignment);
    if (!address) continue;
    ASSERT_EQ(*address % alignment, 0u);
    const auto after = taken.lower_bound(*address);
    ASSERT_TRUE(after == taken.end() || *address + size <= after->first);
    ASSERT_TRUE(after == taken.begin() ||
                std::prev(after)->first + std::prev(after)->second <= *address);
    taken[*address] = size;
  }
}

}  // namespace
}  // namespace drgpum::emulator

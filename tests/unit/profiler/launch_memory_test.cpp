// SPDX-License-Identifier: Apache-2.0
#include "profiler/launch_memory.h"

#include <deque>
#include <random>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

constexpr std::uint64_t kChunk = LaunchMemory::kChunkBytes;
constexpr std::uint64_t kBase = 0x7000'0000'0000;

TEST(LaunchMemory, WithoutAChunkThereIsNoRoom) {
  LaunchMemory memory(4 * kChunk);
  EXPECT_FALSE(memory.reserve(1));
  EXPECT_EQ(memory.chunk_to_add(1), kChunk);
  EXPECT_EQ(memory.chunk_to_add(3 * kChunk), 4 * kChunk);
  EXPECT_EQ(LaunchMemory(3 * kChunk).chunk_to_add(3 * kChunk), 3 * kChunk);
  EXPECT_EQ(LaunchMemory::least_chunk(3 * kChunk - 1), 3 * kChunk);
}

TEST(LaunchMemory, ABudgetBelowAChunkIsUsedAsWell) {
  LaunchMemory memory(kChunk / 2 + 100);
  EXPECT_EQ(memory.chunk_to_add(1), kChunk / 2);
  EXPECT_EQ(memory.chunk_to_add(kChunk / 2 + 1), 0u);
}

TEST(LaunchMemory, ChunksThatNothingIsInUseOfAreDroppedAndTheirPlacesTakenAgain) {
  LaunchMemory memory(4 * kChunk);
  memory.add_chunk(kBase, kChunk);
  const auto in_use = memory.reserve(100);
  memory.add_chunk(kBase + kChunk, kChunk);
  const auto released = memory.reserve(kChunk);
  ASSERT_TRUE(in_use && released);
  memory.release(*released);
  EXPECT_EQ(memory.drop_unused(), std::vector<std::uint64_t>{kBase + kChunk});
  EXPECT_EQ(memory.total_bytes(), kChunk);
  EXPECT_TRUE(memory.drop_unused().empty());
  EXPECT_EQ(memory.chunk_to_add(3 * kChunk), 3 * kChunk);
  memory.add_chunk(kBase + 4 * kChunk, 3 * kChunk);
  const auto again = memory.reserve(2 * kChunk);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->address, kBase + 4 * kChunk);
  memory.release(*again);
  memory.release(*in_use);
  EXPECT_EQ(memory.drop_unused().size(), 2u);
  EXPECT_EQ(memory.total_bytes(), 0u);
}

TEST(LaunchMemory, RegionsOfAChunkLieSideBySideAndAligned) {
  LaunchMemory memory(4 * kChunk);
  memory.add_chunk(kBase, kChunk);
  const auto first = memory.reserve(100);
  const auto second = memory.reserve(300);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->address, kBase);
  EXPECT_EQ(second->address, kBase + LaunchMemory::kAlignment);
  EXPECT_EQ(second->bytes, 2 * LaunchMemory::kAlignment);
}

TEST(LaunchMemory, AFullChunkStartsAgainOnceEverythingInItIsReleased) {
  LaunchMemory memory(kChunk);
  memory.add_chunk(kBase, kChunk);
  const auto first = memory.reserve(kChunk / 2);
  const auto second = memory.reserve(kChunk / 2);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(memory.reserve(1));
  EXPECT_EQ(memory.chunk_to_add(1), 0u) << "the budget is spent";
  memory.release(*first);
  memory.release(*second);
  EXPECT_EQ(memory.reserve(1)->address, kBase);
}

TEST(LaunchMemory, WhatStaysInUseDoesNotKeepTheRestOfItsChunk) {
  LaunchMemory memory(kChunk);
  memory.add_chunk(kBase, kChunk);
  const auto first = memory.reserve(kChunk / 2);
  const auto second = memory.reserve(kChunk / 2);
  ASSERT_TRUE(first && second);
  memory.release(*first);
  EXPECT_FALSE(memory.reserve(kChunk / 2 + 1)) << "part of the chunk is in use";
  const auto third = memory.reserve(kChunk / 4);
  const auto fourth = memory.reserve(kChunk / 4);
  ASSERT_TRUE(third && fourth);
  EXPECT_EQ(third->address, kBase);
  EXPECT_EQ(fourth->address, kBase + kChunk / 4) << "side by side";
  EXPECT_FALSE(memory.reserve(1));
  EXPECT_TRUE(memory.drop_unused().empty());
}

TEST(LaunchMemory, RegionsInUseNeverOverlap) {
  LaunchMemory memory(2 * kChunk);
  memory.add_chunk(kBase, kChunk);
  memory.add_chunk(kBase + kChunk, kChunk);
  std::mt19937 random(7);
  std::vector<Region> in_use;
  std::uint64_t refused = 0;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 5 < 2 && !in_use.empty()) {
      std::swap(in_use[random() % in_use.size()], in_use.back());
      memory.release(in_use.back());
      in_use.pop_back();
      continue;
    }
    const auto region = memory.reserve(1 + random() % (kChunk / 8));
    refused += region ? 0 : 1;
    if (!region) continue;
    ASSERT_GE(region->address, kBase + region->chunk * kChunk);
    ASSERT_LE(region->address + region->bytes, kBase + (region->chunk + 1) * kChunk);
    for (const Region& other : in_use) {
      ASSERT_TRUE(region->address + region->bytes <= other.address ||
                  other.address + other.bytes <= region->address);
    }
    in_use.push_back(*region);
  }
  EXPECT_GT(refused, 100u) << "it was full now and then";
}

TEST(LaunchMemory, LaunchesGoRoundWithinTheBudgetWhenOldOnesComeHome) {
  LaunchMemory memory(2 * kChunk);
  memory.add_chunk(kBase, kChunk);
  memory.add_chunk(kBase + kChunk, kChunk);
  std::deque<Region> in_flight;
  for (int launch = 0; launch < 1000; ++launch) {
    if (in_flight.size() == 8) {
      memory.release(in_flight.front());
      in_flight.pop_front();
    }
    const auto region = memory.reserve(kChunk / 8);
    ASSERT_TRUE(region) << launch;
    for (const Region& other : in_flight)
      ASSERT_NE(region->address, other.address);
    in_flight.push_back(*region);
  }
  EXPECT_EQ(memory.total_bytes(), 2 * kChunk);
}

}  // namespace
}  // namespace drgpum::profiler

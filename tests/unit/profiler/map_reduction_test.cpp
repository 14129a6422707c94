// SPDX-License-Identifier: Apache-2.0
#include "profiler/map_reduction.h"

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

using trace::ByteRange;
using Words = std::vector<std::uint32_t>;

std::string text_of(const std::vector<ByteRange>& ranges) {
  std::string text;
  for (const ByteRange& range : ranges) {
    text += "[" + std::to_string(range.begin) + "," + std::to_string(range.end) + ")";
  }
  return text;
}

TEST(Ranges, AreTheRunsOfSetBits) {
  const Words bits = {0b1011, 0, 0xffffffff, 1};
  EXPECT_EQ(text_of(ranges_of(bits, 0, 128)), "[0,2)[3,4)[64,97)");
  EXPECT_EQ(text_of(ranges_of(bits, 2, 512)), "[0,8)[12,16)[256,388)");
}

TEST(Ranges, EndWithTheObject) {
  EXPECT_EQ(text_of(ranges_of(Words{0xffffffff}, 2, 10)), "[0,10)");
  EXPECT_EQ(text_of(ranges_of(Words{}, 2, 0)), "");
  EXPECT_EQ(text_of(ranges_of(Words{0}, 0, 32)), "");
}

TEST(Ranges, AgreeWithABitByBitReadingOfRandomMaps) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    const std::uint64_t bytes = 1 + random() % 300;
    Words bits((bytes + 31) / 32);
    for (std::uint32_t& word : bits) {
      word = static_cast<std::uint32_t>(random() & random());
    }
    std::string expected;
    for (std::uint64_t cell = 0; cell < bytes; ++cell) {
      const auto set = [&](std::uint64_t c) { return c < bytes && (bits[c / 32] >> (c % 32) & 1); };
      if (!set(cell)) continue;
      const std::uint64_t begin = cell;
      while (set(cell))
        ++cell;
      expected += "[" + std::to_string(begin) + "," + std::to_string(cell) + ")";
    }
    ASSERT_EQ(text_of(ranges_of(bits, 0, bytes)), expected);
  }
}

struct Map {
  Words bits, counts;
  RawMap raw;
  explicit Map(const Words& per_cell, std::uint32_t shift = 2)
      : bits((per_cell.size() + 31) / 32), counts(per_cell) {
    for (std::size_t cell = 0; cell < counts.size(); ++cell) {
      if (counts[cell] != 0) bits[cell / 32] |= 1u << (cell % 32);
    }
    raw = {bits, bits, counts, shift, counts.size() << shift};
  }
};

trace::AccessMapRecord record(const RawMap& raw, std::uint32_t narrowest = 4) {
  return record_of(reduce_map(raw), raw.cell_shift, raw.object_bytes, narrowest);
}

TEST(ReduceMap, StatisticsAreOverTheAccessedCells) {
  const Map map({0, 2, 4, 0, 4, 6, 0, 0});
  const auto reduced = record(map.raw);
  EXPECT_TRUE(reduced.exact);
  EXPECT_EQ(reduced.cell_bytes, 4u);
  EXPECT_EQ(reduced.counted_cells, 4u);
  EXPECT_DOUBLE_EQ(reduced.count_mean, 4.0);
  EXPECT_DOUBLE_EQ(reduced.count_variance, 2.0);
  EXPECT_EQ(reduced.count_histogram, (std::vector<std::uint64_t>{0, 1, 3}));
  EXPECT_EQ(text_of(reduced.read_ranges), "[4,12)[16,24)");
}

TEST(ReduceMap, TheHotRangeIsTheShortestWithHalfOfTheAccesses) {
  EXPECT_EQ(text_of({record(Map({1, 1, 1, 50, 40, 1, 9}).raw).hot_range}), "[12,20)");
  EXPECT_EQ(text_of({record(Map({1, 1, 1, 90, 1}).raw).hot_range}), "[12,16)");
  EXPECT_EQ(text_of({record(Map({1, 1, 1, 1}).raw).hot_range}), "[0,8)");
}

TEST(ReduceMap, WithoutCountsThereAreRangesAndAStripOfAccessedCells) {
  Map map({0, 1, 1, 0});
  map.raw.counts = {};
  const auto reduced = record(map.raw, 8);
  EXPECT_EQ(reduced.counted_cells, 0u);
  EXPECT_TRUE(reduced.count_histogram.empty());
  EXPECT_EQ(reduced.heat_strip, (Words{0, 1, 1, 0}));
}

TEST(ReduceMap, CellsWiderThanTheNarrowestAccessAreNotExact) {
  EXPECT_FALSE(record(Map({1}).raw, 2).exact);
  EXPECT_FALSE(record(Map({1}).raw, 0).exact);
  EXPECT_TRUE(record(Map({1}).raw, 8).exact);
}

TEST(ReduceMap, TheHeatStripIsBoundedAndLosesNoAccess) {
  const Map map(Words(10'000, 3));
  const auto strip = record(map.raw).heat_strip;
  EXPECT_EQ(strip.size(), 500u);
  std::uint64_t sum = 0;
  for (const std::uint32_t part : strip)
    sum += part;
  EXPECT_EQ(sum, 30'000u);
}

TEST(ReduceMap, SharesAreToTheByte) {
  Map map({1, 0, 0, 1, 0, 1});
  map.raw.object_bytes = 22;  // the last cell has two bytes
  const auto reduced = record(map.raw);
  EXPECT_EQ(reduced.accessed_bytes, 10u);
  EXPECT_EQ(reduced.largest_unaccessed_bytes, 8u);
  map.raw.object_bytes = 21;
  EXPECT_EQ(record(map.raw).accessed_bytes, 9u);
}

// Squares that no double and no 64-bit sum would hold.
TEST(ReduceMap, VarianceIsExactForTheLargestCounts) {
  const auto reduced = record(Map(Words{0xefffffff, 0xeffffffd, 0xefffffff, 0xeffffffd}).raw);
  EXPECT_DOUBLE_EQ(reduced.count_mean, 4026531838.0);
  EXPECT_DOUBLE_EQ(reduced.count_variance, 1.0);
}

TEST(ReduceMap, VeryLargeMapsHaveFinerStrips) {
  EXPECT_EQ(parts_of(512).parts, 512u);
  EXPECT_EQ(parts_of((1 << 22) - 1).parts, 512u);
  EXPECT_EQ(parts_of(1 << 22).parts, 4096u);
  EXPECT_EQ(parts_of(1).parts, 1u);
}

}  // namespace
}  // namespace drgpum::profiler

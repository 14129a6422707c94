// SPDX-License-Identifier: Apache-2.0
#include "profiler/map_plan.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

ObjectTable table_of(const std::vector<std::uint64_t>& sizes) {
  ObjectTable table;
  std::uint64_t at = 1 << 20;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    table.ranges.push_back({at, at + sizes[i]});
    table.ids.push_back(ObjectId{static_cast<std::uint32_t>(i)});
    table.kinds.push_back(trace::ObjectKind::kDevice);
    at += sizes[i] + 4096;
  }
  return table;
}

bool nobody(ObjectId) {
  return false;
}

const PlannedMap* map_of(const MapPlan& plan, std::uint32_t index) {
  const auto found = std::find_if(plan.maps.begin(), plan.maps.end(),
                                  [&](const PlannedMap& map) { return map.index == index; });
  return found == plan.maps.end() ? nullptr : &*found;
}

TEST(MapPlan, WhereThereIsRoomEveryCellIsCounted) {
  const MapPlan plan = plan_maps(table_of({4096, 100, 1 << 20}), 2, 8 << 20, nobody);
  ASSERT_EQ(plan.maps.size(), 3u);
  for (const PlannedMap& map : plan.maps) {
    EXPECT_EQ(map.cell_shift, 2u);
    EXPECT_TRUE(map.counts);
  }
  // Counts of 4 bytes and two bits for each cell of 4 bytes.
  EXPECT_NEAR(static_cast<double>(plan.bytes), ((1 << 20) + 4196) * (1 + 1.0 / 16), 200);
}

TEST(MapPlan, WhereThereIsLittleEveryObjectHasAMapAndTheLikelyOnesTheBest) {
  const std::vector<std::uint64_t> sizes(31, 8 << 20);
  const MapPlan plan = plan_maps(table_of(sizes), 2, 12 << 20,
                                 [](ObjectId object) { return object.value == 17; });
  ASSERT_EQ(plan.maps.size(), 31u);
  EXPECT_LE(plan.bytes, 12u << 20);
  const PlannedMap* likely = map_of(plan, 17);
  ASSERT_NE(likely, nullptr);
  EXPECT_EQ(likely->cell_shift, 2u);
  for (const PlannedMap& map : plan.maps)
    EXPECT_LE(map.cell_shift, 3u) << "bits of 8-byte cells have room for all";
}

TEST(MapPlan, ObjectsThatHaveNoRoomAtAllAreLeftOut) {
  const std::vector<std::uint64_t> sizes(100, 64);
  const MapPlan plan = plan_maps(table_of(sizes), 2, 32 * 10, nobody);
  EXPECT_EQ(plan.maps.size(), 10u);
  EXPECT_TRUE(plan_maps(table_of(sizes), 2, 31, nobody).maps.empty());
  EXPECT_TRUE(plan_maps(table_of({}), 2, 1 << 20, nobody).maps.empty());
}

TEST(MapPlan, ObjectsWithMoreCellsThanAMapHasGetWiderOnes) {
  const MapPlan plan =
      plan_maps(table_of({std::uint64_t{1} << 36}), 2, std::uint64_t{1} << 40, nobody);
  ASSERT_EQ(plan.maps.size(), 1u);
  EXPECT_EQ(plan.maps[0].cell_shift, 5u) << "2^31 cells of 32 bytes; 2^32 of 16 are one too many";
}

TEST(MapPlan, NeverPassesItsLimitAndNoTwoMapsOverlap) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::uint64_t> sizes(1 + random() % 60);
    for (std::uint64_t& size : sizes)
      size = 1 + random() % (std::uint64_t{1} << (random() % 28));
    const std::uint64_t limit = random() % (std::uint64_t{1} << (random() % 30 + 1));
    const MapPlan plan = plan_maps(table_of(sizes), static_cast<std::uint32_t>(random() % 5), limit,
                                   [&](ObjectId object) { return object.value % 3 == 0; });
    EXPECT_LE(plan.bytes, limit);
    std::uint64_t end = 0;
    for (const PlannedMap& map : plan.maps) {
      EXPECT_EQ(map.offset, end);
      end += 2 * map.bit_bytes + map.count_bytes;
      const std::uint64_t cells = ((sizes[map.index] - 1) >> map.cell_shift) + 1;
      EXPECT_GE(map.bit_bytes * 8, cells);
      EXPECT_EQ(map.counts, map.count_bytes != 0);
      if (map.counts) {
        EXPECT_GE(map.count_bytes, cells * 4);
      }
    }
    EXPECT_EQ(end, plan.bytes);
  }
}

}  // namespace
}  // namespace drgpum::profiler

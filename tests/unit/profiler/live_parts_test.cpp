// SPDX-License-Identifier: Apache-2.0
#include "profiler/live_parts.h"

#include <random>

#include <gtest/gtest.h>

#include "profiler/live_objects.h"

namespace drgpum::profiler {
namespace {

LiveObject allocation(std::uint32_t id, std::uint64_t begin, std::uint64_t end) {
  return {ObjectId{id}, trace::ObjectKind::kDevice, ContextId{0}, begin, end};
}

LiveObject part(std::uint32_t id, std::uint64_t begin, std::uint64_t end, std::uint32_t root = 1,
                bool is_pool = false) {
  return {ObjectId{id},
          trace::ObjectKind::kSubObject,
          ContextId{0},
          begin,
          end,
          ObjectId{root},
          trace::kNoObject,
          is_pool};
}

struct Live : LiveObjects {
  Live() { insert(allocation(1, 100, 200)); }
  std::vector<std::uint32_t> put(LiveObject p) {
    std::vector<std::uint32_t> gone;
    for (const LiveObject& object : insert_part(p))
      gone.push_back(object.id.value);
    parent = p.parent.value;
    return gone;
  }
  std::uint32_t at(std::uint64_t address) const {
    const LiveObject* found = find(address);
    return found == nullptr ? 0 : found->id.value;
  }
  // "begin-end:id" of each range; '*' when it is less than its object.
  std::string ranges() {
    const auto made = table();
    std::string text;
    for (std::size_t i = 0; i < made->ids.size(); ++i) {
      text += std::to_string(made->ranges[i].begin) + "-" + std::to_string(made->ranges[i].end) +
              ":" + std::to_string(made->ids[i].value) + (made->is_rest(i) ? "* " : " ");
    }
    return text;
  }
  std::uint32_t parent = 0;
};

using Ids = std::vector<std::uint32_t>;

TEST(LiveParts, TheInnermostObjectHoldsAnAddress) {
  Live live;
  live.put(part(2, 110, 180, 1, true));
  EXPECT_EQ(live.parent, 1u);
  live.put(part(3, 110, 130));
  EXPECT_EQ(live.parent, 2u);
  live.put(part(4, 140, 150));
  EXPECT_EQ(live.at(105), 1u);
  EXPECT_EQ(live.at(110), 3u);
  EXPECT_EQ(live.at(135), 2u);
  EXPECT_EQ(live.at(149), 4u);
  EXPECT_EQ(live.at(150), 2u);
  EXPECT_EQ(live.at(180), 1u);
  EXPECT_EQ(live.at(200), 0u);
}

TEST(LiveParts, ARangeBelongsToTheInnermostThatHoldsAllOfIt) {
  Live live;
  live.put(part(2, 110, 180, 1, true));
  live.put(part(3, 110, 130));
  EXPECT_EQ(live.find_around(110, 130)->id.value, 3u);
  EXPECT_EQ(live.find_around(110, 131)->id.value, 2u);
  EXPECT_EQ(live.find_around(110, 190)->id.value, 1u);
  EXPECT_EQ(live.find_around(110, 900)->id.value, 1u);
}

TEST(LiveParts, LaunchesSearchPartsAndWhatTheyLeave) {
  Live live;
  EXPECT_EQ(live.ranges(), "100-200:1 ");
  live.put(part(2, 110, 180, 1, true));
  live.put(part(3, 110, 130));
  live.put(part(4, 130, 150));
  EXPECT_EQ(live.ranges(), "100-110:1* 110-130:3 130-150:4 150-180:2* 180-200:1* ");
  const auto pieces = live.table()->pieces;
  EXPECT_EQ(pieces[3].offset, 40u);
  EXPECT_EQ(pieces[3].object_bytes, 70u);
}

TEST(LiveParts, ABlockThatCoversItsAllocationLeavesNothingOfIt) {
  Live live;
  live.put(part(2, 100, 200));
  EXPECT_EQ(live.ranges(), "100-200:2 ");
  EXPECT_EQ(live.find_beginning(100)->id.value, 1u) << "the allocation is still found for its free";
}

TEST(LiveParts, ABlockMayReachOverMappingsSideBySide) {
  Live live;
  live.insert(allocation(5, 200, 300));
  live.put(part(2, 150, 250));
  EXPECT_EQ(live.ranges(), "100-150:1* 150-250:2 250-300:5* ");
}

TEST(LiveParts, WhatANewBlockOverlapsHasGone) {
  Live live;
  live.put(part(2, 110, 180, 1, true));
  live.put(part(3, 110, 130));
  live.put(part(4, 140, 150));
  EXPECT_EQ(live.put(part(5, 120, 145)), (Ids{3, 4}));
  EXPECT_EQ(live.put(part(6, 105, 115, 1, true)), (Ids{2, 5}));
  EXPECT_EQ(live.parent, 1u);
}

TEST(LiveParts, PartsGoWithTheirAllocation) {
  Live live;
  live.put(part(2, 110, 130));
  const auto freed = live.remove(100);
  ASSERT_TRUE(freed);
  EXPECT_EQ(live.remove_orphans(freed->begin, freed->end).size(), 1u);
  EXPECT_EQ(live.at(120), 0u);
}

TEST(LiveParts, AFreeThatFailsKeepsThem) {
  Live live;
  live.put(part(2, 110, 130));
  const auto freed = live.remove(100);
  EXPECT_TRUE(live.insert(*freed).empty());
  EXPECT_EQ(live.at(120), 2u);
}

// Against a plain model: the table must give each byte to what the model says.
TEST(LiveParts, TheTableGivesEachByteToTheInnermostPart) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    Live live;
    std::vector<LiveObject> model;
    for (std::uint32_t id = 2; id < 30; ++id) {
      const std::uint64_t begin = 100 + random() % 100;
      const std::uint64_t end = std::min<std::uint64_t>(begin + 1 + random() % 30, 200);
      LiveObject next = part(id, begin, end, 1, random() % 4 == 0);
      for (const LiveObject& gone : live.insert_part(next))
        std::erase_if(model, [&](const LiveObject& old) { return old.id == gone.id; });
      model.push_back(next);
    }
    const auto table = live.table();
    for (std::uint64_t byte = 100; byte < 200; ++byte) {
      std::uint32_t expected = 1;
      std::uint64_t smallest = 1000;
      for (const LiveObject& object : model) {  // later ones of a size lie inside
        if (byte < object.begin || byte >= object.end || object.end - object.begin > smallest)
          continue;
        smallest = object.end - object.begin;
        expected = object.id.value;
      }
      std::uint32_t seen = 0;
      int times = 0;
      for (std::size_t i = 0; i < table->ids.size(); ++i) {
        if (byte < table->ranges[i].begin || byte >= table->ranges[i].end) continue;
        seen = table->ids[i].value;
        ++times;
      }
      ASSERT_EQ(times, 1) << byte;
      ASSERT_EQ(seen, expected) << byte << " in round " << round;
      ASSERT_EQ(live.at(byte), expected);
    }
  }
}

}  // namespace
}  // namespace drgpum::profiler

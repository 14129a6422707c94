// SPDX-License-Identifier: Apache-2.0
#include "profiler/live_objects.h"

#include <random>

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

LiveObject object(std::uint32_t id, std::uint64_t begin, std::uint64_t end) {
  return {ObjectId{id}, trace::ObjectKind::kDevice, ContextId{0}, begin, end};
}

std::uint32_t found_at(const LiveObjects& live, std::uint64_t address) {
  const LiveObject* found = live.find(address);
  return found == nullptr ? trace::kNoId : found->id.value;
}

TEST(LiveObjects, AnAddressBelongsToTheObjectThatHoldsIt) {
  LiveObjects live;
  live.insert(object(1, 100, 200));
  live.insert(object(2, 200, 300));
  EXPECT_EQ(found_at(live, 99), trace::kNoId);
  EXPECT_EQ(found_at(live, 100), 1u);
  EXPECT_EQ(found_at(live, 199), 1u);
  EXPECT_EQ(found_at(live, 200), 2u);
  EXPECT_EQ(found_at(live, 300), trace::kNoId);
  EXPECT_EQ(live.find_beginning(150), nullptr);
  EXPECT_NE(live.find_beginning(200), nullptr);
}

TEST(LiveObjects, ANewObjectDisplacesTheOnesItOverlaps) {
  LiveObjects live;
  live.insert(object(1, 100, 200));
  live.insert(object(2, 200, 300));
  live.insert(object(3, 400, 500));
  const auto displaced = live.insert(object(4, 150, 401));
  ASSERT_EQ(displaced.size(), 3u);
  EXPECT_EQ(live.size(), 1u);
  EXPECT_EQ(found_at(live, 400), 4u);
}

TEST(LiveObjects, EmptyObjectsAreNotKept) {
  LiveObjects live;
  EXPECT_TRUE(live.insert(object(1, 100, 100)).empty());
  EXPECT_EQ(live.size(), 0u);
}

TEST(LiveObjects, TheTableIsSortedAndSharedUntilSomethingChanges) {
  LiveObjects live;
  live.insert(object(7, 300, 400));
  live.insert(object(3, 100, 200));
  const auto table = live.table();
  ASSERT_EQ(table->ids.size(), 2u);
  EXPECT_EQ(table->ids[0].value, 3u);
  EXPECT_EQ(table->ranges[1].begin, 300u);
  EXPECT_EQ(live.table(), table);
  live.remove(100);
  EXPECT_NE(live.table(), table);
  EXPECT_EQ(live.table()->ids.size(), 1u);
  EXPECT_EQ(table->ids.size(), 2u) << "launches in flight keep theirs";
}

TEST(LiveObjects, TheFirstOfARangeMayBeginBeforeItOrInIt) {
  LiveObjects live;
  live.insert(object(1, 100, 200));
  live.insert(object(2, 300, 400));
  EXPECT_EQ(live.first_in(150, 350)->id.value, 1u);
  EXPECT_EQ(live.first_in(200, 350)->id.value, 2u);
  EXPECT_EQ(live.first_in(200, 300), nullptr);
}

TEST(LiveObjects, ObjectsOfAContextGoTogether) {
  LiveObjects live;
  live.insert(object(1, 100, 200));
  LiveObject other = object(2, 300, 400);
  other.context = ContextId{1};
  live.insert(other);
  EXPECT_EQ(live.remove_of_context(ContextId{0}).size(), 1u);
  EXPECT_EQ(live.size(), 1u);
}

}  // namespace
}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#include "profiler/pending_frees.h"

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

sanitizer::Event event(std::uintptr_t number) {
  return reinterpret_cast<sanitizer::Event>(number);
}

LiveObject block(std::uint32_t id) {
  LiveObject object;
  object.id = ObjectId{id};
  return object;
}

std::vector<std::uint32_t> ids_of(const std::vector<LiveObject>& objects) {
  std::vector<std::uint32_t> ids;
  for (const LiveObject& object : objects)
    ids.push_back(object.id.value);
  return ids;
}

using Ids = std::vector<std::uint32_t>;

TEST(PendingFrees, ABlockWaitsForAllItsEvents) {
  PendingFrees pending;
  const sanitizer::Event both[] = {event(1), event(2)};
  pending.add(block(7), both);
  pending.add(block(8), {both, 1});
  EXPECT_TRUE(pending.waits(ObjectId{7}));
  EXPECT_EQ(ids_of(pending.come(event(1))), (Ids{8}));
  EXPECT_EQ(ids_of(pending.come(event(2))), (Ids{7}));
  EXPECT_TRUE(pending.empty());
  EXPECT_TRUE(pending.come(event(2)).empty());
}

TEST(PendingFrees, ABlockThatWasReusedWaitsNoMore) {
  PendingFrees pending;
  const sanitizer::Event one[] = {event(1)};
  pending.add(block(7), one);
  pending.forget(ObjectId{7});
  EXPECT_TRUE(pending.come(event(1)).empty());
}

TEST(PendingFrees, WhatIsLeftAtTheEndIsTaken) {
  PendingFrees pending;
  const sanitizer::Event one[] = {event(1)};
  pending.add(block(9), one);
  pending.add(block(7), one);
  EXPECT_EQ(ids_of(pending.take_all()), (Ids{7, 9}));
  EXPECT_TRUE(pending.empty());
}

TEST(RecentEvents, AreThoseRecordedOneAfterTheOther) {
  RecentEvents recent;
  EXPECT_TRUE(recent.until(0).empty());
  recent.add(event(1), 10, 0x100);
  recent.add(event(2), 13, 0x100);
  EXPECT_EQ(recent.until(15).size(), 2u);
  EXPECT_TRUE(recent.until(30).empty());
  recent.add(event(3), 30, 0x200);
  ASSERT_EQ(recent.until(30).size(), 1u);
  EXPECT_EQ(recent.until(30)[0], event(3));
  EXPECT_EQ(recent.recorder, 0x200u);
}

}  // namespace
}  // namespace drgpum::profiler

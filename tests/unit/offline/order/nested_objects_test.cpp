// SPDX-License-Identifier: Apache-2.0
#include "offline/order/nested_objects.h"

#include <gtest/gtest.h>

#include "offline/order/evidence.h"

namespace drgpum {
namespace {

Object object(std::uint64_t address, std::uint64_t size, std::uint32_t parent = kNone) {
  Object one;
  one.address = address;
  one.size = size;
  one.parent = parent;
  return one;
}

TEST(NestedObjectsTest, APartReachesIntoTheAllocationsBehindItsOwn) {
  std::vector<Object> objects;
  NestedObjects nested;
  for (const Object& one : {object(100, 10), object(110, 10), object(120, 10), object(105, 10, 0)}) {
    objects.push_back(one);
    nested.begin(objects);
  }
  ASSERT_EQ(nested.overlaps_of(3).size(), 1u);
  EXPECT_EQ(nested.overlaps_of(3)[0].allocation, 1u);
  EXPECT_TRUE(objects[0].has_children && objects[1].has_children);
  EXPECT_FALSE(objects[2].has_children);
}

// 100,000 allocations side by side and as many parts over all of them.
TEST(NestedObjectsTest, PartsOverAllAllocationsEndAtABound) {
  constexpr std::uint32_t kMany = 100'000;
  std::vector<Object> objects;
  NestedObjects nested;
  for (std::uint32_t i = 0; i < kMany; ++i) {
    objects.push_back(object(1000 + 8 * i, 8));
    nested.begin(objects);
  }
  for (std::uint32_t i = 0; i < kMany; ++i) {
    objects.push_back(object(1000, std::uint64_t{8} * kMany, 0));
    nested.begin(objects);
    nested.end(static_cast<std::uint32_t>(objects.size() - 1), objects);
  }
  EXPECT_EQ(nested.overlaps().size(), NestedObjects::kMostOverlaps);
  EXPECT_GT(nested.cut_parts(), kMany / 2);
}

trace::ObjectRecord record(std::uint32_t id, ObjectId parent, std::uint64_t size) {
  trace::ObjectRecord one;
  one.id = ObjectId{id};
  one.kind = id == 0 ? trace::ObjectKind::kDevice : trace::ObjectKind::kSubObject;
  one.parent = parent;
  one.address = 4096;
  one.size = size;
  return one;
}

// Each in the one before: a set of the outermost touches all of them.
TEST(NestedObjectsTest, DeepNestingIsFlattened) {
  constexpr std::uint32_t kDeep = 100'000;
  EvidenceBuilder builder;
  ASSERT_TRUE(builder.add(trace::ProcessRecord{}));
  ASSERT_TRUE(builder.add(record(0, trace::kNoObject, 1 << 20)));
  for (std::uint32_t id = 1; id < kDeep; ++id)
    ASSERT_TRUE(builder.add(record(id, ObjectId{id - 1}, 1 << 20)));
  trace::GpuApi set;
  set.kind = trace::ApiKind::kMemset;
  trace::MemsetApi payload;
  payload.destination.object = ObjectId{0};
  payload.destination.width = 1 << 20;
  set.payload = payload;
  ASSERT_TRUE(builder.add(set));
  const Evidence evidence = std::move(builder).finish();
  std::uint32_t depth = 0;
  for (std::uint32_t at = kDeep - 1; at != kNone; at = evidence.objects[at].parent)
    ++depth;
  EXPECT_EQ(depth, 65u);
  EXPECT_FALSE(evidence.uses_of(0).empty());
}

}  // namespace
}  // namespace drgpum

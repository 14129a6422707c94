// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/layout.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "offline/plan/read_csv.h"

namespace drgpum {
namespace {

Instance instance_of(const std::string& rows) {
  return make_instance(*parse_problem_csv("id,lower,upper,size,alignment,gaps\n" + rows, "t.csv"));
}

TEST(Instance, KeepsOneSectionPerLargestSetOfLiveObjects) {
  const Instance instance = instance_of("a,0,4,1,,\nb,1,2,2,,\nc,3,9,4,,\nd,5,7,8,,\n");
  EXPECT_EQ(instance.section_load, (std::vector<std::int64_t>{3, 5, 12}));
  EXPECT_EQ(instance.load, 12);
}

TEST(Instance, ObjectsOfSizeZeroHaveNoSections) {
  const Instance instance = instance_of("a,0,4,0,,\nb,1,2,2,,\n");
  EXPECT_TRUE(instance.ranges_of(0).empty());
  EXPECT_EQ(instance.section_count, 1);
}

TEST(Layout, FirstFitTakesTheLowestHoleAndBestFitTheTightest) {
  const Instance instance =
      instance_of("a,0,9,4,,\nb,0,9,4,,\nc,0,9,4,,\nnew,0,9,2,,\nlarge,0,9,7,,\n");
  Layout layout(instance);
  layout.place(0, 5);   // free: 0..5
  layout.place(1, 11);  // free: 9..11
  layout.place(2, 18);  // free: 15..18
  EXPECT_EQ(layout.find(3, Fit::kFirst), 0);
  EXPECT_EQ(layout.find(3, Fit::kBest), 9);
  EXPECT_EQ(layout.find(4, Fit::kFirst), 22);
  EXPECT_EQ(layout.find(3, Fit::kFirst, 1), 1);
  EXPECT_EQ(layout.find(3, Fit::kFirst, 4), 9);
}

TEST(Layout, HolesAreCountedFromAnAlignedOffset) {
  const Instance instance = instance_of("a,0,9,3,,\nb,0,9,4,,\nnew,0,9,4,4,\n");
  Layout layout(instance);
  layout.place(0, 0);
  layout.place(1, 7);
  EXPECT_EQ(layout.find(2, Fit::kFirst), 12);
}

TEST(Layout, FindsExactlyTheObjectsLiveTogether) {
  std::mt19937_64 random(5);
  std::string rows;
  for (int i = 0; i < 80; ++i) {
    const auto lower = static_cast<int>(random() % 60);
    const auto length = 3 + static_cast<int>(random() % 20);
    rows += std::to_string(i) + ',' + std::to_string(lower) + ',' + std::to_string(lower + length) +
            ",1,," + std::to_string(lower + 1) + '-' + std::to_string(lower + 2) + '\n';
  }
  const Problem problem = *parse_problem_csv("id,lower,upper,size,alignment,gaps\n" + rows, "t");
  const Instance instance = make_instance(problem);
  Layout layout(instance);
  for (std::uint32_t b = 0; b < 80; b += 2)
    layout.place(b, b);
  for (std::uint32_t b = 0; b < 80; b += 8)
    layout.remove(b);
  for (std::uint32_t b = 0; b < 80; ++b) {
    std::set<std::uint32_t> expected, found;
    for (std::uint32_t c = 0; c < 80; ++c)
      for (const TimeRange& x : busy_ranges(problem.objects[b]))
        for (const TimeRange& y : busy_ranges(problem.objects[c]))
          if (c != b && c % 2 == 0 && c % 8 != 0 && x.lower < y.upper && y.lower < x.upper)
            expected.insert(c);
    for (const Block& block : layout.beside(b))
      found.insert(block.object);
    EXPECT_EQ(found, expected) << b;
  }
}

}  // namespace
}  // namespace drgpum

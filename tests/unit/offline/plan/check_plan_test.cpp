// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/check_plan.h"

#include <gtest/gtest.h>

#include "offline/plan/read_csv.h"

namespace drgpum {
namespace {

Problem problem_of(const std::string& rows) {
  return *parse_problem_csv("id,lower,upper,size,alignment,offset,gaps\n" + rows, "t.csv");
}

std::string verdict(const Problem& problem, const std::vector<std::int64_t>& offsets,
                    std::int64_t capacity = -1) {
  const Status status = check_layout(problem, offsets, capacity);
  return status ? "right" : status.error().message;
}

TEST(CheckPlan, ObjectsMayTouchInTimeAndInAddress) {
  const Problem problem = problem_of("a,0,4,8,,,\nb,4,8,8,,,\nc,0,8,8,,,\n");
  EXPECT_EQ(verdict(problem, {0, 0, 8}, 16), "right");
  EXPECT_EQ(footprint_of(problem, std::vector<std::int64_t>{0, 0, 8}), 16);
}

TEST(CheckPlan, NamesTwoObjectsThatShareBytesAtOneTime) {
  const Problem problem = problem_of("a,0,5,8,,,\nb,4,8,8,,,\n");
  EXPECT_EQ(verdict(problem, {0, 7}),
            "t.csv: the plan is wrong: object 'b' at [7, 15) and object 'a' at [0, 8) are both "
            "live at 4");
  EXPECT_EQ(verdict(problem, {7, 0}),
            "t.csv: the plan is wrong: object 'b' at [0, 8) and object 'a' at [7, 15) are both "
            "live at 4");
}

TEST(CheckPlan, BytesAreFreeInAGapAndNowhereElse) {
  const Problem problem = problem_of("a,0,9,8,,,3-6\nb,3,6,8,,,\n");
  EXPECT_EQ(verdict(problem, {0, 0}), "right");
  const Problem longer = problem_of("a,0,9,8,,,3-6\nb,3,7,8,,,\n");
  EXPECT_NE(verdict(longer, {0, 0}), "right");
}

TEST(CheckPlan, HoldsAlignmentFixedOffsetsCapacityAndTheNumberOfOffsets) {
  const Problem problem = problem_of("a,0,5,8,16,,\nb,0,5,8,,40,\n");
  EXPECT_EQ(verdict(problem, {16, 40}, 48), "right");
  EXPECT_NE(verdict(problem, {8, 40}), "right");
  EXPECT_NE(verdict(problem, {16, 48}), "right");
  EXPECT_NE(verdict(problem, {16, 40}, 47), "right");
  EXPECT_NE(verdict(problem, {-16, 40}), "right");
  EXPECT_NE(verdict(problem, {16}), "right");
}

}  // namespace
}  // namespace drgpum

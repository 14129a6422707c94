// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/read_csv.h"

#include <gtest/gtest.h>

namespace drgpum {
namespace {

std::string error_of(const std::string& text) {
  const Result<Problem> problem = parse_problem_csv(text, "t.csv");
  return problem ? "no error" : problem.error().message;
}

TEST(ReadCsv, ReadsLifetimesInAnyColumnOrderWithOptionalColumns) {
  const auto problem = parse_problem_csv(
      "size,id,end,start,alignment,offset,gaps\r\n"
      "100,a,9,-2,64,128,1-3 5-6\r\n"
      "7,\"b,c\",2,1,,,\n",
      "t.csv");
  ASSERT_TRUE(problem) << problem.error().message;
  ASSERT_EQ(problem->objects.size(), 2u);
  const PlanObject& a = problem->objects[0];
  EXPECT_EQ(a.id, "a");
  EXPECT_EQ(a.life, (TimeRange{-2, 9}));
  EXPECT_EQ(a.size, 100);
  EXPECT_EQ(a.alignment, 64);
  EXPECT_EQ(a.fixed_offset, 128);
  EXPECT_EQ(a.gaps, (std::vector<TimeRange>{{1, 3}, {5, 6}}));
  EXPECT_EQ(busy_ranges(a), (std::vector<TimeRange>{{-2, 1}, {3, 5}, {6, 9}}));
  EXPECT_EQ(problem->objects[1].id, "b,c");
  EXPECT_EQ(problem->objects[1].fixed_offset, kNoOffset);
}

TEST(ReadCsv, AHeaderAloneIsAProblemWithoutObjects) {
  const auto problem = parse_problem_csv("id,lower,upper,size\n", "t.csv");
  ASSERT_TRUE(problem);
  EXPECT_TRUE(problem->objects.empty());
}

TEST(ReadCsv, EventsBecomeObjectsThatLiveFromMallocToFree) {
  const auto problem = parse_problem_csv(
      "time_ns,op,id,size\n0,malloc,a,10\n5,iteration,1,\n5,write,a,\n7,malloc,b,20\n"
      "7,free,a,\n8,malloc,a,30\n9,layer,conv1,\n9,read,b,\n",
      "t.csv");
  ASSERT_TRUE(problem) << problem.error().message;
  ASSERT_EQ(problem->objects.size(), 3u);
  EXPECT_EQ(problem->objects[2].id, "a#2");
  EXPECT_EQ(problem->objects[0].life, (TimeRange{0, 4}));
  EXPECT_EQ(shown_life(*problem, problem->objects[0]), (TimeRange{0, 7}));
  EXPECT_EQ(problem->objects[1].life, (TimeRange{3, 8}));
  EXPECT_EQ(shown_life(*problem, problem->objects[1]), (TimeRange{7, 10}));
  EXPECT_EQ(problem->layer_names, std::vector<std::string>{"conv1"});
  EXPECT_EQ(problem->events[6].kind, EventKind::kLayer);
  EXPECT_EQ(load_of(*problem), 50);
}

TEST(ReadCsv, NamesTheLineAndTheValueThatBreakATable) {
  const std::string head = "id,lower,upper,size\n";
  EXPECT_EQ(error_of(""),
            "t.csv: the file is empty; a header such as id,lower,upper,size is needed");
  EXPECT_EQ(error_of(head + "a,0,1,8\na,2,3,8\n"),
            "t.csv:3: id 'a' occurs twice; ids have to be unique");
  EXPECT_EQ(error_of(head + "a,4,4,8\n"),
            "t.csv:2: object 'a': upper 4 is not greater than lower 4");
  EXPECT_EQ(error_of(head + "a,0,1,nan\n"), "t.csv:2: size 'nan' is not a whole number");
  EXPECT_EQ(error_of(head + "a,0,1,-3\n"), "t.csv:2: object 'a': size -3 is negative");
  EXPECT_EQ(error_of(head + "a,0,1,99999999999999999999\n"),
            "t.csv:2: size '99999999999999999999' does not fit 64 bits");
  EXPECT_EQ(error_of(head + "a,0,1,9223372036854775807\n\nb,0,1,1\n"),
            "t.csv:4: object 'b': size 1 makes the sum of all sizes overflow 63 bits");
  EXPECT_EQ(error_of(head + "a,0,1\n"), "t.csv:2: 3 fields where the header has 4");
  EXPECT_EQ(error_of("id,lower,upper\n"),
            "t.csv:1: the header lacks a column: lifetimes need id,lower,upper,size");
  EXPECT_EQ(error_of("id,lower,upper,size,gaps\na,0,9,1,4\n"),
            "t.csv:2: gap '4' is not of the form lower-upper");
  EXPECT_EQ(error_of("id,lower,upper,size,gaps\na,0,9,1,4-12\n"),
            "t.csv: object 'a': gap [4, 12) is empty, out of order or outside the lifetime [0, 9)");
}

TEST(ReadCsv, NamesTheLineAndTheValueThatBreakAnEventTable) {
  const std::string head = "time_ns,op,id,size\n";
  EXPECT_EQ(error_of(head + "5,malloc,a,1\n4,free,a,\n"),
            "t.csv:3: time_ns 4 falls below the line before, 5");
  EXPECT_EQ(error_of(head + "5,malloc,a,1\n6,malloc,a,1\n"),
            "t.csv:3: malloc of 'a', which is still allocated: free it first or use another id");
  EXPECT_EQ(error_of(head + "5,free,a,\n"), "t.csv:2: free of 'a', which is not allocated");
  EXPECT_EQ(
      error_of(head + "5,touch,a,\n"),
      "t.csv:2: op 'touch' is unknown; known are malloc, free, read, write, iteration, layer");
}

TEST(ReadCsv, AMissingFileIsNotFound) {
  const auto problem = read_problem_csv("/nonexistent/table.csv");
  ASSERT_FALSE(problem);
  EXPECT_EQ(problem.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace drgpum

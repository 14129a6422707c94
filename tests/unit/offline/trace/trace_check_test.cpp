// SPDX-License-Identifier: Apache-2.0
// Each invariant of a trace, broken once.
#include <string>

#include <gtest/gtest.h>

#include "offline/trace/check.h"
#include "proto/trace/trace_text.h"

namespace drgpum {
namespace {

using namespace trace;

std::vector<Record> records_of(std::string_view text) {
  auto records = trace_from_text(text);
  EXPECT_TRUE(records) << records.error().message;
  return *records;
}

std::string problems_of(const std::vector<Record>& records) {
  TraceChecker checker;
  for (const Record& record : records)
    checker.add(record);
  std::string text;
  for (const TraceProblem& problem : std::move(checker).finish().first)
    text += std::to_string(problem.record) + ": " + problem.message + "\n";
  return text;
}

std::string problems_of(std::string_view text) {
  return problems_of(records_of(text));
}

TEST(TraceCheckTest, AGoodTraceHasNoProblems) {
  EXPECT_EQ(problems_of("alloc A 64; memcpy h2d A[0:64); launch k writes A[0:64); free A; "
                        "alloc B 64 at=0x7f0000000000; end"),
            "");
}

TEST(TraceCheckTest, ObjectsThatLieOverLiveOnesAreTold) {
  EXPECT_EQ(problems_of("alloc A 64 at=0x1000; alloc B 64 at=0x1020"),
            "7: object 1 lies over object 0, which is still live\n");
  EXPECT_EQ(problems_of("alloc A 64 at=0x1020; alloc B 64 at=0x1000"),
            "7: object 1 lies over object 0, which is still live\n");
  EXPECT_EQ(problems_of("alloc A 64 at=0x1000; alloc B 64 at=0x1040"), "");
  EXPECT_EQ(problems_of("alloc A 64 at=0x1000; alloc T 8 sub parent=A at=0x1000"), "");
}

TEST(TraceCheckTest, FreesAreFollowed) {
  EXPECT_EQ(problems_of("alloc A 64; free A; free A"), "8: object 0 is freed a second time\n");
  EXPECT_EQ(problems_of("alloc A 64; free A error=1; free A"), "");
}

TEST(TraceCheckTest, CopiesStayInsideTheirObjects) {
  EXPECT_EQ(problems_of("alloc A 64; memset A[32:65)"), "7: a copy or set goes beyond object 0\n");
  EXPECT_EQ(problems_of("alloc A 64; memset A[0:8)x8/8"), "");
  EXPECT_EQ(problems_of("alloc A 64; memset A[0:8)x9/8"),
            "7: a copy or set goes beyond object 0\n");
  EXPECT_EQ(problems_of("alloc A 64; memset A[0:8)x0x7fffffffffffffff/0x7fffffffffffffff"),
            "7: a copy or set goes beyond object 0\n");
}

TEST(TraceCheckTest, UnknownIdsAreTold) {
  auto records = records_of("alloc A 64; launch k reads A");
  for (Record& record : records) {
    if (auto* access = std::get_if<AccessRecord>(&record)) access->object = {77};
    if (auto* api = std::get_if<GpuApi>(&record)) api->stream = {5};
  }
  EXPECT_EQ(problems_of(records),
            "6: stream 5 is not known\n8: stream 5 is not known\n9: object 77 is not known\n");
}

TEST(TraceCheckTest, CallsStandInOrder) {
  auto records = records_of("mark a; mark b; end");
  std::get<GpuApi>(records[6]).id = {4};
  EXPECT_EQ(problems_of(records),
            "6: call 4 stands where call 1 should\n7: the end counts 2 calls, not 5\n");
}

TEST(TraceCheckTest, ThePayloadFitsTheKind) {
  auto records = records_of("mark a");
  std::get<GpuApi>(records[5]).kind = ApiKind::kFree;
  EXPECT_EQ(problems_of(records), "5: the kind of the call and what it carries disagree\n");
}

TEST(TraceCheckTest, TheProcessComesFirstAndOnce) {
  EXPECT_EQ(problems_of(std::vector<Record>{DeviceRecord{}, ProcessRecord{}}),
            "0: the first record is not the process\n1: a second process\n");
}

TEST(TraceCheckTest, OnlyTheFirstProblemsAreKept) {
  TraceChecker checker;
  checker.add(ProcessRecord{});
  for (int k = 0; k < 1000; ++k)
    checker.add(StreamEndRecord{});
  const TraceProblems problems = std::move(checker).finish();
  EXPECT_EQ(problems.count, 1000u);
  EXPECT_EQ(problems.first.size(), TraceProblems::kMost);
}

}  // namespace
}  // namespace drgpum

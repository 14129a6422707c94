// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/device_times.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "proto/trace/trace_text.h"
#include "proto/trace/trace_writer.h"

namespace drgpum::profiler {
namespace {

std::string write(const std::string& name, std::string_view text, bool finished = true) {
  const std::string path = ::testing::TempDir() + "device_times_test." + name + ".drgp";
  const auto records = trace::trace_from_text(text);
  EXPECT_TRUE(records) << records.error().message;
  auto writer = trace::TraceWriter::create(
      path, std::get<trace::ProcessRecord>(records->front()), {.replace = true});
  EXPECT_TRUE(writer) << writer.error().message;
  for (std::size_t i = 1; i < records->size(); ++i)
    (*writer)->append((*records)[i]);
  if (finished) (*writer)->finish();
  return path;
}

std::vector<trace::Record> read(const std::string& path) {
  auto reader = trace::TraceReader::open(path);
  EXPECT_TRUE(reader);
  std::vector<trace::Record> records;
  trace::Record record;
  while (reader->next(record))
    records.push_back(record);
  EXPECT_EQ(reader->summary().completeness, trace::Completeness::kComplete);
  return records;
}

// "0:100-200 3:300-300": calls and their times.
std::string times_in(const std::vector<trace::Record>& records) {
  std::string text;
  for (const trace::Record& record : records)
    if (const auto* time = std::get_if<trace::TimeRecord>(&record))
      text += (text.empty() ? "" : " ") + std::to_string(time->api.value) + ":" +
              std::to_string(time->begin_ns) + "-" + std::to_string(time->end_ns);
  return text;
}

constexpr std::string_view kAccesses =
    "alloc A 4K; memcpy h2d A; launch k updates A grid=4,1,1; launch k updates A grid=8,1,1;"
    "memset A; sync device; free A; end exit=3";
constexpr std::string_view kTiming =
    "alloc A 4K time=5,5; memcpy h2d A time=10,20; launch k grid=4,1,1 time=30,40;"
    "launch k grid=8,1,1 time=40,60; memset A time=60,70; sync device time=0,70; free A time=80,80;"
    "end exit=3";

TEST(DeviceTimes, EveryCallThatIsShownAgainGetsItsTime) {
  const std::string path = write("a", kAccesses);
  const std::size_t before = read(path).size();
  const auto timing = works_of_trace(write("a.timing", kTiming));
  ASSERT_TRUE(timing);
  const auto calls = add_device_times(path, *timing);
  ASSERT_TRUE(calls) << calls.error().message;
  EXPECT_EQ(calls->device_calls, 4u);
  EXPECT_EQ(calls->timed, 4u);
  const auto records = read(path);
  EXPECT_EQ(times_in(records), "0:5-5 1:10-20 2:30-40 3:40-60 4:60-70 5:0-70 6:80-80");
  EXPECT_EQ(records.size(), before + 7) << "nothing is lost";
  EXPECT_TRUE(std::holds_alternative<trace::EndRecord>(records.back()));
}

TEST(DeviceTimes, CoverageSaysWhatHasNone) {
  const std::string path = write("b", kAccesses);
  const auto none = works_of_trace(
      write("b.none", "launch k grid=8,1,1 time=40,60; launch j grid=4,1,1 time=60,70; end"));
  ASSERT_TRUE(none);
  const auto calls = add_device_times(path, *none);
  ASSERT_TRUE(calls) << calls.error().message;
  EXPECT_EQ(calls->timed, 1u);
  const auto records = read(path);
  EXPECT_EQ(times_in(records), "3:40-60");
  const auto* gap = std::get_if<trace::CoverageRecord>(&records[records.size() - 2]);
  ASSERT_NE(gap, nullptr);
  EXPECT_EQ(gap->kind, trace::CoverageKind::kUntimedCall);
  EXPECT_EQ(gap->count, 3u);
  EXPECT_EQ(gap->text,
            "kernels, copies and sets without device times: the timing run matched 1 of 4 "
            "(25.0 %)");
}

TEST(DeviceTimes, AnUnfinishedTraceStaysAsItIs) {
  const std::string path = write("c", kAccesses, false);
  const auto timing = works_of_trace(write("c.timing", kTiming));
  ASSERT_TRUE(timing);
  const auto calls = add_device_times(path, *timing);
  ASSERT_FALSE(calls);
  EXPECT_EQ(calls.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(std::fopen((path + ".timed").c_str(), "r"), nullptr);
}

}  // namespace
}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/peak_kernel.h"

#include <gtest/gtest.h>

#include "proto/trace/trace_text.h"
#include "proto/trace/trace_writer.h"

namespace drgpum::profiler {
namespace {

PeakKernel peak_of(const std::string& text) {
  auto folder = TemporaryFolder::create();
  EXPECT_TRUE(folder);
  const std::string path = folder->path() + "/t.drgp";
  const auto records = trace::trace_from_text(text);
  EXPECT_TRUE(records) << records.error().message;
  auto writer = trace::TraceWriter::create(path, trace::ProcessRecord{});
  EXPECT_TRUE(writer) << writer.error().message;
  for (const trace::Record& record : *records) {
    if (!std::holds_alternative<trace::ProcessRecord>(record)) {
      EXPECT_TRUE((*writer)->append(record));
    }
  }
  (*writer)->finish();
  auto peak = peak_kernel_of(path);
  EXPECT_TRUE(peak) << peak.error().message;
  return peak ? *peak : PeakKernel{};
}

TEST(PeakKernel, IsTheOneWhoseObjectsSumToTheMost) {
  const PeakKernel peak = peak_of(
      "alloc A 1000; alloc B 600; alloc C 600; alloc P 9000 pinned\n"
      "launch one reads A P; launch two reads B writes C; launch one writes A");
  EXPECT_EQ(peak.name, "two");
  EXPECT_EQ(peak.bytes, 1200u);
}

TEST(PeakKernel, HasNoNameWhereNothingIsAccessed) {
  EXPECT_EQ(peak_of("alloc A 1000; launch one").name, "");
}

}  // namespace
}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
// Which release a Sanitizer library belongs to, judged by its ids; also of NVIDIA's own library.
#include "proto/sanitizer/abi_probe.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

namespace drgpum::sanitizer {
namespace {

TEST(AbiProbe, KnowsTheReleasesThatWereMeasured) {
  EXPECT_EQ(judge_counts(kCounts11_8)->generation, Generation::kCuda11_8);
  EXPECT_EQ(judge_counts(kCounts12_4)->generation, Generation::kCuda12_4);
  EXPECT_EQ(judge_counts(kCounts13_0)->generation, Generation::kCuda12_4);
  EXPECT_EQ(judge_counts(kCounts13_0)->warning, "");
}

TEST(AbiProbe, TakesALargerLibraryWithAWarning) {
  AbiCounts counts = kCounts13_0;
  counts.resource = 33;
  counts.memcpy = 5;
  const auto report = judge_counts(counts);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->generation, Generation::kNewer);
  EXPECT_NE(report->warning.find("newer than CUDA 13.0 (33 resource"), std::string::npos);
}

TEST(AbiProbe, RefusesTheReleasesBetween11_8And12_4) {
  const auto report = judge_counts({24, 7, 1, 0, 700, 440});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(report.error().message.find("24 resource"), std::string::npos);
}

TEST(AbiProbe, NamesTheEntryPointThatALibraryLacks) {
  void* library = dlopen("libc.so.6", RTLD_NOW);
  const auto api = resolve_api(library);
  ASSERT_FALSE(api);
  EXPECT_NE(api.error().message.find("lacks sanitizerSubscribe"), std::string::npos);
}

#ifdef DRGPUM_NVIDIA_LIBRARY
void ignore(void*, Domain, std::uint32_t, const void*) {}

TEST(AbiProbe, RecognisesNvidiasLibraryWithoutADriver) {
  void* library = dlopen(DRGPUM_NVIDIA_LIBRARY, RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto api = resolve_api(library);
  ASSERT_TRUE(api) << api.error().message;
  Subscriber subscriber = nullptr;
  ASSERT_EQ(api->subscribe(&subscriber, ignore, nullptr), Code::kSuccess);
  Subscriber second = nullptr;
  EXPECT_EQ(api->subscribe(&second, ignore, nullptr), Code::kMaxLimitReached);

  const auto report = probe_abi(*api, subscriber);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_GE(report->counts.driver_api, kCounts11_8.driver_api);
  EXPECT_GE(report->counts.runtime_api, kCounts11_8.runtime_api);
  // Of a release that was measured, every count is right, so the numbers in the table are too.
  if (report->counts.driver_api == kCounts13_0.driver_api) {
    EXPECT_EQ(report->counts, kCounts13_0);
  }
  EXPECT_EQ(api->unsubscribe(subscriber), Code::kSuccess);
}
#endif

}  // namespace
}  // namespace drgpum::sanitizer

// SPDX-License-Identifier: Apache-2.0
// Engines in virtual time.

#include "emulator/machine/timeline.h"

#include <string>

#include <gtest/gtest.h>

namespace drgpum::emulator {
namespace {

std::string text(const Span& span) {
  return std::to_string(span.begin) + ".." + std::to_string(span.end);
}

TEST(Timeline, RunsSmallKernelsTogether) {
  DeviceTimeline device;
  EXPECT_EQ(text(device.run_kernel(100, 50, 0.5)), "100..150");
  EXPECT_EQ(text(device.run_kernel(100, 50, 0.5)), "100..150");
  EXPECT_EQ(text(device.run_kernel(100, 50, 0.5)), "150..200");
}

TEST(Timeline, RunsLargeKernelsOneAfterTheOther) {
  DeviceTimeline device;
  EXPECT_EQ(text(device.run_kernel(0, 10, 1)), "0..10");
  EXPECT_EQ(text(device.run_kernel(0, 10, 1)), "10..20");
  EXPECT_EQ(text(device.run_kernel(30, 10, 1)), "30..40");
}

TEST(Timeline, StartsKernelsInIssueOrder) {
  DeviceTimeline device;
  EXPECT_EQ(text(device.run_kernel(100, 10, 0.1)), "100..110");
  EXPECT_EQ(text(device.run_kernel(0, 10, 0.1)), "100..110");
}

TEST(Timeline, WaitsForEnoughOfTheDevice) {
  DeviceTimeline device;
  device.run_kernel(0, 10, 0.6);
  device.run_kernel(0, 30, 0.3);
  EXPECT_EQ(text(device.run_kernel(0, 5, 0.7)), "10..15");
  EXPECT_EQ(text(device.run_kernel(0, 5, 1.0)), "30..35");
}

TEST(Timeline, CopiesInBothDirectionsAtOnce) {
  DeviceTimeline device;
  EXPECT_EQ(text(device.run_copy(CopyEngine::kToDevice, 0, 10)), "0..10");
  EXPECT_EQ(text(device.run_copy(CopyEngine::kToHost, 0, 10)), "0..10");
  EXPECT_EQ(text(device.run_copy(CopyEngine::kToDevice, 5, 10)), "10..20");
}

TEST(HostClock, NeverGoesBack) {
  HostClock clock;
  const std::uint64_t start = clock.now();
  clock.wait_until(start + 100);
  clock.wait_until(start + 50);
  EXPECT_EQ(clock.now(), start + 100);
  clock.advance(7);
  EXPECT_EQ(clock.now(), start + 107);
}

}  // namespace
}  // namespace drgpum::emulator

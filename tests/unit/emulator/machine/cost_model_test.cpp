// SPDX-License-Identifier: Apache-2.0
// Virtual durations against the arithmetic of the data sheet.

#include "emulator/machine/cost_model.h"

#include <gtest/gtest.h>

namespace drgpum::emulator {
namespace {

Preset a100() {
  return *find_preset("a100");
}

TEST(Occupancy, IsWhatTheOccupancyCalculatorSays) {
  // CUDA occupancy rules for compute capability 8.0: 64 warps, 32 blocks, 65,536 registers in units
  // of 256 per warp, 164 KiB of shared memory of which each block also takes 1 KiB.
  const auto blocks = [](BlockNeeds needs) {
    return occupancy_of(a100(), needs).blocks_per_multiprocessor;
  };
  EXPECT_EQ(blocks({256, 32, 0}), 8);
  EXPECT_EQ(blocks({32, 16, 0}), 32);
  EXPECT_EQ(blocks({1024, 64, 0}), 1);
  EXPECT_EQ(blocks({1024, 65, 0}), 0);
  EXPECT_EQ(blocks({256, 40, 0}), 6);
  EXPECT_EQ(blocks({128, 32, 48 << 10}), 3);
  EXPECT_EQ(blocks({33, 32, 0}), 32);
}

TEST(Occupancy, OfAnEstimateOfRegistersIsNeverNothing) {
  for (const std::uint32_t threads : {1u, 32u, 96u, 1000u, 1024u}) {
    const BlockNeeds needs{threads, fitting_registers(a100(), 250, threads), 0};
    EXPECT_GE(occupancy_of(a100(), needs).blocks_per_multiprocessor, 1) << threads;
  }
  EXPECT_EQ(fitting_registers(a100(), 40, 256), 40u);
}

TEST(KernelTime, OfAMemoryBoundKernelIsItsBytesOverTheBandwidth) {
  exec::LaunchStats stats;
  stats.blocks = 108 * 8 * 10;
  stats.global_bytes = 2'039'000'000;
  stats.global_sectors = stats.global_bytes / 32;
  const Occupancy occupancy{8};
  EXPECT_EQ(kernel_ns(a100(), stats, occupancy), 2500u + 1'000'000u);
}

TEST(KernelTime, OfAnArithmeticBoundKernelIsItsOperationsOverThePeak) {
  exec::LaunchStats stats;
  stats.blocks = 108;
  // 64 lanes x 108 multiprocessors x 1.41 GHz.
  stats.fp32_lane_ops = 64ull * 108 * 1410 * 1000;
  EXPECT_EQ(kernel_ns(a100(), stats, {1}), 2500u + 1'000'000u);
}

TEST(KernelTime, GrowsWhenABlockLeavesTheDeviceIdle) {
  exec::LaunchStats stats;
  stats.fp32_lane_ops = 64ull * 1410 * 1000;
  stats.blocks = 1;
  EXPECT_EQ(kernel_ns(a100(), stats, {8}), 2500u + 1'000'000u);
}

TEST(CopyTime, DependsOnTheHostMemory) {
  EXPECT_EQ(copy_ns(a100(), CopyPath::kPinned, 25'000'000), 8000u + 1'000'000u);
  EXPECT_EQ(copy_ns(a100(), CopyPath::kPageable, 8'000'000), 8000u + 1'000'000u);
  EXPECT_EQ(copy_ns(a100(), CopyPath::kOnDevice, 0), 2500u);
}

}  // namespace
}  // namespace drgpum::emulator

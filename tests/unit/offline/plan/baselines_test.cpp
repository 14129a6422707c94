// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/baselines.h"

#include <gtest/gtest.h>

#include "offline/plan/read_csv.h"

namespace drgpum {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

Problem problem_of(const std::string& rows) {
  return *parse_problem_csv("id,lower,upper,size\n" + rows, "t.csv");
}

TEST(Baselines, RoundToTheirGranularity) {
  const Baselines one = simulate_baselines(problem_of("a,0,1,1\n"));
  EXPECT_EQ(one.cnmem, 512);
  EXPECT_EQ(one.bfc, 256);
  EXPECT_EQ(one.pytorch, 2 * kMiB);
}

TEST(Baselines, CnMemReusesAndMergesFreedBlocks) {
  // a and b are freed side by side; c fits into both together, so nothing grows.
  const Baselines two =
      simulate_baselines(problem_of("a,0,2,1024\nb,1,3,1024\nc,3,4,2048\nd,3,4,512\n"));
  EXPECT_EQ(two.cnmem, 2048 + 512);
}

TEST(Baselines, AHoleThatIsTooSmallMakesTheArenaGrow) {
  const Baselines hole = simulate_baselines(problem_of("a,0,2,1024\nb,1,5,1024\nc,3,4,2048\n"));
  EXPECT_EQ(hole.cnmem, 1024 + 1024 + 2048);
}

TEST(Baselines, BfcKeepsAChunkWholeUnlessItIsTwiceTheRequest) {
  // 3,072 freed; 2,048 takes it whole, so 1,024 has to grow the arena. CnMem splits.
  const Baselines whole =
      simulate_baselines(problem_of("a,0,1,3072\nwall,0,9,256\nb,1,9,2048\nc,2,9,1024\n"));
  EXPECT_EQ(whole.bfc, 3072 + 256 + 1024);
  EXPECT_EQ(whole.cnmem, 3072 + 512);
}

TEST(Baselines, PyTorchReservesSegmentsByRequestSize) {
  EXPECT_EQ(simulate_baselines(problem_of("a,0,1,1048576\nb,0,1,1048576\n")).pytorch, 2 * kMiB);
  EXPECT_EQ(simulate_baselines(problem_of("a,0,1,1048577\n")).pytorch, 20 * kMiB);
  EXPECT_EQ(simulate_baselines(problem_of("a,0,1,10485760\n")).pytorch, 10 * kMiB);
  EXPECT_EQ(simulate_baselines(problem_of("a,0,1,10485761\n")).pytorch, 12 * kMiB);
  // 12 MiB freed, then 11.5 MiB: the rest of 0.5 MiB is not split off, a small request cannot use
  // it and gets a segment of its own.
  EXPECT_EQ(
      simulate_baselines(problem_of("a,0,1,12582912\nb,1,3,12058624\nc,2,3,524288\n")).pytorch,
      14 * kMiB);
}

}  // namespace
}  // namespace drgpum

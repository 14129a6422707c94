// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tests over the runtime and driver as they ship. Every test starts without an error pending and
// must leave none that it did not look at.

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#define EXPECT_OK(call) EXPECT_EQ(call, cudaSuccess)
#define ASSERT_OK(call) ASSERT_EQ(call, cudaSuccess)

namespace drgpum::emulator::runtime {

class RuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override { cudaGetLastError(); }
  void TearDown() override { EXPECT_EQ(cudaGetLastError(), cudaSuccess) << "left behind"; }

  // The call fails with `error`, which is then the last error.
  static void expect_error(cudaError_t result, cudaError_t error) {
    EXPECT_EQ(result, error) << cudaGetErrorName(result);
    EXPECT_EQ(cudaGetLastError(), error);
  }
};

}  // namespace drgpum::emulator::runtime

// SPDX-License-Identifier: Apache-2.0
// Two devices: each thread has its own, and they reach each other's memory. Runs with
// DRGPUM_EMULATOR_DEVICES=2.
#include <thread>

#include "tests/unit/emulator/runtime/runtime_fixture.h"

namespace drgpum::emulator::runtime {
namespace {

class Devices : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    int count = 0;
    ASSERT_OK(cudaGetDeviceCount(&count));
    ASSERT_EQ(count, 2) << "DRGPUM_EMULATOR_DEVICES must be 2";
    ASSERT_OK(cudaSetDevice(0));
  }
};

TEST_F(Devices, BelongToThreads) {
  ASSERT_OK(cudaSetDevice(1));
  int elsewhere = -1;
  std::thread([&] { EXPECT_OK(cudaGetDevice(&elsewhere)); }).join();
  EXPECT_EQ(elsewhere, 0);
  int here = -1;
  ASSERT_OK(cudaGetDevice(&here));
  EXPECT_EQ(here, 1);
  expect_error(cudaSetDevice(2), cudaErrorInvalidDevice);
  ASSERT_OK(cudaGetDevice(&here));
  EXPECT_EQ(here, 1);
}

TEST_F(Devices, OwnTheMemoryAllocatedWhileTheyAreCurrent) {
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_OK(cudaMalloc(&first, 64));
  ASSERT_OK(cudaSetDevice(1));
  ASSERT_OK(cudaMalloc(&second, 64));
  cudaPointerAttributes attributes{};
  ASSERT_OK(cudaPointerGetAttributes(&attributes, first));
  EXPECT_EQ(attributes.device, 0);
  ASSERT_OK(cudaPointerGetAttributes(&attributes, second));
  EXPECT_EQ(attributes.device, 1);
  EXPECT_OK(cudaFree(second));
  EXPECT_OK(cudaFree(first));  // of the other device
}

TEST_F(Devices, CopyFromOneToTheOther) {
  int* first = nullptr;
  int* second = nullptr;
  ASSERT_OK(cudaMalloc(reinterpret_cast<void**>(&first), 4 * sizeof(int)));
  ASSERT_OK(cudaSetDevice(1));
  ASSERT_OK(cudaMalloc(reinterpret_cast<void**>(&second), 4 * sizeof(int)));
  const int values[4] = {1, 2, 3, 4};
  ASSERT_OK(cudaMemcpy(first, values, sizeof values, cudaMemcpyHostToDevice));
  ASSERT_OK(cudaMemcpyPeer(second, 1, first, 0, sizeof values));
  int back[4] = {};
  ASSERT_OK(cudaMemcpy(back, second, sizeof back, cudaMemcpyDeviceToHost));
  EXPECT_EQ(back[3], 4);
  ASSERT_OK(cudaMemset(second, 0, sizeof values));
  ASSERT_OK(cudaMemcpyPeerAsync(second, 1, first, 0, 2 * sizeof(int), nullptr));
  ASSERT_OK(cudaMemcpy(back, second, sizeof back, cudaMemcpyDefault));
  EXPECT_EQ(back[1], 2);
  EXPECT_EQ(back[2], 0);
  EXPECT_OK(cudaFree(first));
  EXPECT_OK(cudaFree(second));
}

TEST_F(Devices, GrantAccessOnce) {
  int can = 0;
  ASSERT_OK(cudaDeviceCanAccessPeer(&can, 0, 1));
  ASSERT_EQ(can, 1);
  ASSERT_OK(cudaDeviceEnablePeerAccess(1, 0));
  expect_error(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_OK(cudaDeviceDisablePeerAccess(1));
  expect_error(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
}

}  // namespace
}  // namespace drgpum::emulator::runtime

// SPDX-License-Identifier: Apache-2.0
// Streams and events in virtual time, and host functions between them.

#include <atomic>
#include <chrono>
#include <future>
#include <thread>

#include "fixture.h"

namespace drgpum::emulator {
namespace {

class Streams : public DriverTest {
 protected:
  static CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream made = nullptr;
    EXPECT_CUDA(cuStreamCreate(&made, flags));
    return made;
  }
  // An event that is recorded.
  static CUevent mark(CUstream on) {
    CUevent event = nullptr;
    EXPECT_CUDA(cuEventCreate(&event, CU_EVENT_DEFAULT));
    EXPECT_CUDA(cuEventRecord(event, on));
    return event;
  }
  static double ms(CUevent from, CUevent to) {
    EXPECT_CUDA(cuEventSynchronize(to));
    float value = 0;
    EXPECT_CUDA(cuEventElapsedTime(&value, from, to));
    return value;
  }
  // Page-locked memory and device memory for copies that take `kCopyMs` each.
  void SetUp() override {
    DriverTest::SetUp();
    ASSERT_CUDA(cuMemAllocHost(&host_, kBytes));
    device_ = allocate(kBytes);
  }
  void up(CUstream on) const { EXPECT_CUDA(cuMemcpyHtoDAsync(device_, host_, kBytes, on)); }
  void down(CUstream on) const { EXPECT_CUDA(cuMemcpyDtoHAsync(host_, device_, kBytes, on)); }

  // The H200 preset: 8 us and 50 bytes a nanosecond.
  static constexpr std::size_t kBytes = 50'000'000;
  static constexpr double kCopyMs = 1.008;
  static constexpr double kCallMs = 0.002;
  void* host_ = nullptr;
  CUdeviceptr device_ = 0;
};

TEST_F(Streams, KeepTheOrderOfTheirWork) {
  const CUstream one = stream();
  const CUevent begin = mark(one);
  up(one);
  down(one);
  EXPECT_NEAR(ms(begin, mark(one)), 2 * kCopyMs, 3 * kCallMs);
}

TEST_F(Streams, CopyInBothDirectionsAtOnce) {
  const CUstream one = stream();
  const CUstream two = stream();
  const CUevent begin = mark(one);
  up(one);
  down(two);
  EXPECT_NEAR(ms(begin, mark(two)), kCopyMs, 4 * kCallMs);
}

TEST_F(Streams, ShareOneEngineForOneDirection) {
  const CUstream one = stream();
  const CUstream two = stream();
  const CUevent begin = mark(one);
  up(one);
  up(two);
  EXPECT_NEAR(ms(begin, mark(two)), 2 * kCopyMs, 4 * kCallMs);
}

TEST_F(Streams, WaitForEventsOfOthers) {
  const CUstream one = stream();
  const CUstream two = stream();
  const CUevent begin = mark(one);
  up(one);
  EXPECT_CUDA(cuStreamWaitEvent(two, mark(one), 0));
  down(two);
  EXPECT_NEAR(ms(begin, mark(two)), 2 * kCopyMs, 6 * kCallMs);
}

TEST_F(Streams, ThatBlockWaitForTheDefaultStreamAndItForThem) {
  const CUstream blocking = stream(CU_STREAM_DEFAULT);
  const CUevent begin = mark(nullptr);
  up(nullptr);
  down(blocking);
  EXPECT_NEAR(ms(begin, mark(blocking)), 2 * kCopyMs, 5 * kCallMs);
  EXPECT_NEAR(ms(begin, mark(nullptr)), 2 * kCopyMs, 8 * kCallMs);
}

TEST_F(Streams, ThatDoNotBlockPassTheDefaultStream) {
  const CUstream free = stream();
  const CUevent begin = mark(nullptr);
  up(nullptr);
  down(free);
  EXPECT_NEAR(ms(begin, mark(free)), kCopyMs, 5 * kCallMs);
}

TEST_F(Streams, AreReadyOnceThePollingHostGetsThere) {
  const CUstream one = stream();
  EXPECT_CUDA(cuStreamQuery(one));
  up(one);
  int polls = 0;
  while (cuStreamQuery(one) == CUDA_ERROR_NOT_READY)
    ++polls;
  EXPECT_NEAR(polls * kCallMs, kCopyMs, 3 * kCallMs);
}

TEST_F(Streams, KeepTheHostWaitingForPageableMemory) {
  std::vector<char> pageable(12'000'000);  // 12 bytes a nanosecond
  const CUstream one = stream();
  EXPECT_CUDA(cuMemcpyHtoDAsync(device_, pageable.data(), pageable.size(), one));
  EXPECT_CUDA(cuStreamQuery(one));
}

TEST_F(Streams, HaveElapsedTimesOnlyOfRecordedTimingEvents) {
  CUevent plain = nullptr, untimed = nullptr;
  ASSERT_CUDA(cuEventCreate(&plain, CU_EVENT_DEFAULT));
  ASSERT_CUDA(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
  float value = 0;
  EXPECT_EQ(cuEventElapsedTime(&value, plain, plain), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CUDA(cuEventRecord(plain, nullptr));
  EXPECT_CUDA(cuEventRecord(untimed, nullptr));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_CUDA(cuEventElapsedTime(&value, plain, plain));
  EXPECT_EQ(cuEventElapsedTime(&value, plain, untimed), CUDA_ERROR_INVALID_HANDLE);
  up(nullptr);
  EXPECT_CUDA(cuEventRecord(plain, nullptr));
  EXPECT_EQ(cuEventElapsedTime(&value, plain, plain), CUDA_ERROR_NOT_READY);
}

TEST_F(Streams, RunHostFunctionsInOrderOnAnotherThread) {
  struct Seen {
    std::vector<int> order;
    std::thread::id thread;
  } seen;
  const CUstream one = stream();
  for (int i = 0; i < 3; ++i)
    ASSERT_CUDA(cuLaunchHostFunc(
        one,
        [](void* data) {
          auto& into = *static_cast<Seen*>(data);
          into.order.push_back(static_cast<int>(into.order.size()));
          into.thread = std::this_thread::get_id();
        },
        &seen));
  ASSERT_CUDA(cuStreamSynchronize(one));
  EXPECT_EQ(seen.order, (std::vector<int>{0, 1, 2}));
  EXPECT_NE(seen.thread, std::this_thread::get_id());
}

TEST_F(Streams, HoldBackWorkBehindAHostFunctionAndOnlyThat) {
  std::promise<void> go;
  const CUstream one = stream();
  ASSERT_CUDA(cuLaunchHostFunc(
      one, [](void* data) { static_cast<std::promise<void>*>(data)->get_future().wait(); }, &go));
  EXPECT_EQ(cuStreamQuery(one), CUDA_ERROR_NOT_READY);
  const CUstream two = stream();
  EXPECT_CUDA(cuMemsetD8Async(device_, 1, 1, two));
  EXPECT_CUDA(cuStreamSynchronize(two));
  go.set_value();
  EXPECT_CUDA(cuMemsetD8Async(device_, 2, 1, one));
  EXPECT_CUDA(cuStreamSynchronize(one));
  EXPECT_EQ(download<unsigned char>(device_, 1)[0], 2);
}

TEST_F(Streams, TellTheirCallbacksWhoTheyAre) {
  static CUstream told;
  const CUstream one = stream();
  ASSERT_CUDA(cuStreamAddCallback(
      one, [](CUstream which, CUresult, void*) { told = which; }, nullptr, 0));
  ASSERT_CUDA(cuStreamSynchronize(one));
  EXPECT_EQ(told, one);
}

TEST_F(Streams, OfBadHandlesAreRefused) {
  int local = 0;
  const auto bad = reinterpret_cast<CUstream>(&local);
  EXPECT_EQ(cuStreamSynchronize(bad), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuStreamDestroy(bad), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventRecord(reinterpret_cast<CUevent>(&local), nullptr), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Streams, HaveAHandleEachForTheDefaultOnes) {
  for (const CUstream which : {CUstream{nullptr}, CU_STREAM_LEGACY, CU_STREAM_PER_THREAD}) {
    EXPECT_CUDA(cuMemsetD8Async(device_, 3, 1, which));
    EXPECT_CUDA(cuStreamSynchronize(which));
  }
  unsigned long long null = 0, legacy = 0, mine = 0;
  EXPECT_CUDA(cuStreamGetId(nullptr, &null));
  EXPECT_CUDA(cuStreamGetId(CU_STREAM_LEGACY, &legacy));
  EXPECT_CUDA(cuStreamGetId(CU_STREAM_PER_THREAD, &mine));
  EXPECT_EQ(null, legacy);
  EXPECT_NE(null, mine);
}

}  // namespace
}  // namespace drgpum::emulator

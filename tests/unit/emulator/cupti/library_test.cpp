// SPDX-License-Identifier: Apache-2.0
// libcupti.so.13 beside the runtime and the driver: a program's work comes out as records whose
// virtual times fit each other and the program's own measurements.
#include <cstdlib>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>
#include <cupti.h>
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "proto/sanitizer/abi.h"

namespace {

const char kPtx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry store(.param .u64 data)
{
.reg .b32 %r<8>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [data];
mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
mad.lo.u32 %r0, %r1, %r2, %r3;
mad.wide.u32 %rd1, %r0, 4, %rd0;
st.global.u32 [%rd1], %r0;
ret;
}
)";

std::vector<CUpti_ActivityKernel10> kernels;
std::vector<CUpti_ActivityMemcpy6> copies;
std::vector<CUpti_ActivityMemset4> sets;
std::vector<CUpti_ActivityMemory4> allocations;
std::vector<CUpti_ActivitySynchronization2> waits;
std::vector<CUpti_ActivityAPI> calls;

template <typename T>
void keep(std::vector<T>& list, const CUpti_Activity* record) {
  list.push_back(*reinterpret_cast<const T*>(record));
}

void request(std::uint8_t** buffer, std::size_t* size, std::size_t* most) {
  *size = 1 << 16;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, *size));
  *most = 0;
}

void complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  CUpti_Activity* record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    switch (record->kind) {
      case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
        keep(kernels, record);
        break;
      case CUPTI_ACTIVITY_KIND_MEMCPY:
        keep(copies, record);
        break;
      case CUPTI_ACTIVITY_KIND_MEMSET:
        keep(sets, record);
        break;
      case CUPTI_ACTIVITY_KIND_MEMORY2:
        keep(allocations, record);
        break;
      case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
        keep(waits, record);
        break;
      case CUPTI_ACTIVITY_KIND_RUNTIME:
        keep(calls, record);
        break;
      default:
        ADD_FAILURE() << "kind " << record->kind;
    }
  }
  std::free(buffer);
}

// One program, recorded once; the tests look at its records.
class Program : public testing::Test {
 protected:
  static constexpr std::size_t kBytes = 1 << 20;

  static void SetUpTestSuite() {
    ASSERT_EQ(cuptiActivityRegisterCallbacks(request, complete), CUPTI_SUCCESS);
    for (const auto kind : {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                            CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMORY2,
                            CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_RUNTIME})
      ASSERT_EQ(cuptiActivityEnable(kind), CUPTI_SUCCESS);
    run();
    ASSERT_EQ(cuptiActivityFlushAll(0), CUPTI_SUCCESS);
  }

  static void run() {
    cudaLibrary_t library = nullptr;
    cudaKernel_t kernel = nullptr;
    void* data = nullptr;
    cudaEvent_t start = nullptr;
    cudaEvent_t end = nullptr;
    std::vector<char> host(kBytes);
    ASSERT_EQ(cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0),
              cudaSuccess);
    ASSERT_EQ(cudaLibraryGetKernel(&kernel, library, "store"), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&data, kBytes), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
    ASSERT_EQ(cudaEventCreate(&end), cudaSuccess);
    ASSERT_EQ(cudaMemsetAsync(data, 1, kBytes, stream), cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(data, host.data(), kBytes, cudaMemcpyHostToDevice, stream),
              cudaSuccess);
    ASSERT_EQ(cudaEventRecord(start, stream), cudaSuccess);
    void* arguments[] = {&data};
    ASSERT_EQ(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), {1024, 1, 1}, {256, 1, 1},
                               arguments, 0, stream),
              cudaSuccess);
    ASSERT_EQ(cudaEventRecord(end, stream), cudaSuccess);
    ASSERT_EQ(cudaMemcpyAsync(host.data(), data, 4096, cudaMemcpyDeviceToHost, stream),
              cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_EQ(cudaEventElapsedTime(&measured_ms, start, end), cudaSuccess);
    CUcontext context = nullptr;
    ASSERT_EQ(cuCtxGetCurrent(&context), CUDA_SUCCESS);
    ASSERT_EQ(cuptiGetStreamId(context, stream, &stream_number), CUPTI_SUCCESS);
    ASSERT_EQ(cudaFree(data), cudaSuccess);
  }

  static cudaStream_t stream;
  static std::uint32_t stream_number;
  static float measured_ms;
};

cudaStream_t Program::stream = nullptr;
std::uint32_t Program::stream_number = 0;
float Program::measured_ms = 0;

TEST_F(Program, LeavesOneRecordForEachPieceOfWork) {
  ASSERT_EQ(kernels.size(), 1U);
  ASSERT_EQ(copies.size(), 2U);
  ASSERT_EQ(sets.size(), 1U);
  EXPECT_STREQ(kernels[0].name, "store");
  EXPECT_EQ(kernels[0].gridX, 1024);
  EXPECT_EQ(kernels[0].blockX, 256);
  EXPECT_EQ(kernels[0].streamId, stream_number);
  EXPECT_EQ(copies[0].copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
  EXPECT_EQ(copies[0].bytes, kBytes);
  EXPECT_EQ(copies[1].copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
  EXPECT_EQ(copies[1].bytes, 4096U);
  EXPECT_EQ(sets[0].bytes, kBytes);
}

TEST_F(Program, WorkOfAStreamFollowsOnItself) {
  EXPECT_LT(sets[0].start, sets[0].end);
  EXPECT_LE(sets[0].end, copies[0].start);
  EXPECT_LT(copies[0].start, copies[0].end);
  EXPECT_LE(copies[0].end, kernels[0].start);
  EXPECT_LT(kernels[0].start, kernels[0].end);
  EXPECT_LE(kernels[0].end, copies[1].start);
}

TEST_F(Program, ItsOwnEventsMeasureTheKernel) {
  const double kernel_ms = static_cast<double>(kernels[0].end - kernels[0].start) * 1e-6;
  EXPECT_GE(measured_ms, kernel_ms * 0.99);
  EXPECT_LE(measured_ms, kernel_ms + 0.1) << "events enclose nothing but the kernel";
}

TEST_F(Program, TheWaitEndsWithTheWork) {
  ASSERT_FALSE(waits.empty());
  EXPECT_EQ(waits[0].type, CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE);
  EXPECT_EQ(waits[0].streamId, stream_number);
  EXPECT_GE(waits[0].end, copies[1].end);
}

TEST_F(Program, MemoryIsTakenAndGivenBack) {
  ASSERT_EQ(allocations.size(), 2U);
  EXPECT_EQ(allocations[0].memoryOperationType, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
  EXPECT_EQ(allocations[0].bytes, kBytes);
  EXPECT_EQ(allocations[1].memoryOperationType, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
  EXPECT_EQ(allocations[1].address, allocations[0].address);
}

TEST_F(Program, RecordsNameTheCallThatCausedThem) {
  const auto call_of = [](std::uint32_t correlation) {
    for (const auto& call : calls)
      if (call.correlationId == correlation) return call.cbid;
    return std::uint32_t{0};
  };
  EXPECT_EQ(call_of(kernels[0].correlationId), 211U);     // cudaLaunchKernel
  EXPECT_EQ(call_of(copies[0].correlationId), 41U);       // cudaMemcpyAsync
  EXPECT_EQ(call_of(allocations[0].correlationId), 20U);  // cudaMalloc
}

void ignore_cupti(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}
void ignore_sanitizer(void*, drgpum::sanitizer::Domain, std::uint32_t, const void*) {}

TEST_F(Program, HasNoCuptiToolBesideASanitizerTool) {
  void* library = dlopen("libsanitizer-public.so", RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto sanitizer = drgpum::sanitizer::resolve_api(library);
  ASSERT_TRUE(sanitizer) << sanitizer.error().message;
  drgpum::sanitizer::Subscriber tool = nullptr;
  ASSERT_EQ(sanitizer->subscribe(&tool, ignore_sanitizer, nullptr),
            drgpum::sanitizer::Code::kSuccess);
  CUpti_SubscriberHandle second = nullptr;
  EXPECT_EQ(cuptiSubscribe(&second, ignore_cupti, nullptr),
            CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  ASSERT_EQ(sanitizer->unsubscribe(tool), drgpum::sanitizer::Code::kSuccess);
  EXPECT_EQ(cuptiSubscribe(&second, ignore_cupti, nullptr), CUPTI_SUCCESS);
  EXPECT_EQ(cuptiUnsubscribe(second), CUPTI_SUCCESS);
}

}  // namespace

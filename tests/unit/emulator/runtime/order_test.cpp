// SPDX-License-Identifier: Apache-2.0
// Streams, events, graphs and kernels from libraries.
#include <vector>

#include "tests/unit/emulator/runtime/runtime_fixture.h"

namespace drgpum::emulator::runtime {
namespace {

const char kPtx[] = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 scale = 3;
.visible .entry multiply(.param .u64 data, .param .u32 by)
{
.reg .b32 %r<8>; .reg .b64 %rd<4>;
ld.param.u64 %rd0, [data];
ld.param.u32 %r1, [by];
ld.global.u32 %r2, [scale];
mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
mad.lo.u32 %r0, %r3, %r4, %r5;
mad.wide.u32 %rd1, %r0, 4, %rd0;
ld.global.u32 %r6, [%rd1];
mul.lo.u32 %r6, %r6, %r1;
mul.lo.u32 %r6, %r6, %r2;
st.global.u32 [%rd1], %r6;
ret;
}
)";

class Order : public RuntimeTest {
 protected:
  static constexpr unsigned kCount = 64;

  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_OK(cudaLibraryLoadData(&library_, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
    ASSERT_OK(cudaLibraryGetKernel(&kernel_, library_, "multiply"));
    ASSERT_OK(cudaMalloc(reinterpret_cast<void**>(&data_), kCount * sizeof(unsigned)));
    const std::vector<unsigned> ones(kCount, 1);
    ASSERT_OK(cudaMemcpy(data_, ones.data(), kCount * sizeof(unsigned), cudaMemcpyHostToDevice));
    ASSERT_OK(cudaStreamCreate(&stream_));
  }
  void TearDown() override {
    EXPECT_OK(cudaStreamDestroy(stream_));
    EXPECT_OK(cudaFree(data_));
    EXPECT_OK(cudaLibraryUnload(library_));
    RuntimeTest::TearDown();
  }

  cudaError_t multiply(unsigned by, cudaStream_t stream) {
    void* arguments[] = {&data_, &by};
    return cudaLaunchKernel(reinterpret_cast<const void*>(kernel_), {2, 1, 1}, {32, 1, 1},
                            arguments, 0, stream);
  }

  // The value of every element, or 0 when they differ.
  unsigned value() {
    std::vector<unsigned> values(kCount);
    EXPECT_OK(cudaMemcpy(values.data(), data_, kCount * sizeof(unsigned), cudaMemcpyDeviceToHost));
    for (const unsigned v : values)
      if (v != values[0]) return 0;
    return values[0];
  }

  cudaLibrary_t library_ = nullptr;
  cudaKernel_t kernel_ = nullptr;
  unsigned* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

TEST_F(Order, AKernelOfALibraryRuns) {
  ASSERT_OK(multiply(5, stream_));
  ASSERT_OK(cudaStreamSynchronize(stream_));
  EXPECT_EQ(value(), 15U);
  void* scale = nullptr;
  std::size_t bytes = 0;
  ASSERT_OK(cudaLibraryGetGlobal(&scale, &bytes, library_, "scale"));
  EXPECT_EQ(bytes, 4U);
  const unsigned ten = 10;
  ASSERT_OK(cudaMemcpy(scale, &ten, 4, cudaMemcpyHostToDevice));
  ASSERT_OK(multiply(1, nullptr));
  ASSERT_OK(cudaDeviceSynchronize());
  EXPECT_EQ(value(), 150U);
}

TEST_F(Order, LaunchesThatCannotRunAreRefused) {
  unsigned by = 1;
  void* arguments[] = {&data_, &by};
  const auto* entry = reinterpret_cast<const void*>(kernel_);
  expect_error(cudaLaunchKernel(entry, {1, 1, 1}, {2048, 1, 1}, arguments, 0, nullptr),
               cudaErrorInvalidConfiguration);
  expect_error(cudaLaunchKernel(entry, {1, 70000, 1}, {1, 1, 1}, arguments, 0, nullptr),
               cudaErrorInvalidConfiguration);
  expect_error(cudaLaunchKernel(entry, {1, 1, 1}, {0, 1, 1}, arguments, 0, nullptr),
               cudaErrorInvalidConfiguration);
  expect_error(cudaLaunchKernel(&by, {1, 1, 1}, {1, 1, 1}, arguments, 0, nullptr),
               cudaErrorInvalidDeviceFunction);
}

TEST_F(Order, AttributesOfAKernelAreKnown) {
  cudaFuncAttributes attributes{};
  ASSERT_OK(cudaFuncGetAttributes(&attributes, reinterpret_cast<const void*>(kernel_)));
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  EXPECT_GT(attributes.numRegs, 0);
  EXPECT_GT(attributes.ptxVersion, 0);
  int blocks = 0;
  ASSERT_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      &blocks, reinterpret_cast<const void*>(kernel_), 1024, 0));
  EXPECT_GE(blocks, 1);
  const char* name = nullptr;
  ASSERT_OK(cudaFuncGetName(&name, reinterpret_cast<const void*>(kernel_)));
  EXPECT_STREQ(name, "multiply");
}

TEST_F(Order, EventsMeasureVirtualTime) {
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  ASSERT_OK(cudaEventCreate(&start));
  ASSERT_OK(cudaEventCreateWithFlags(&end, cudaEventBlockingSync));
  ASSERT_OK(cudaEventRecord(start, stream_));
  ASSERT_OK(multiply(2, stream_));
  ASSERT_OK(cudaEventRecord(end, stream_));
  ASSERT_OK(cudaEventSynchronize(end));
  EXPECT_OK(cudaEventQuery(end));
  float milliseconds = -1;
  ASSERT_OK(cudaEventElapsedTime(&milliseconds, start, end));
  EXPECT_GT(milliseconds, 0.0F);
  EXPECT_LT(milliseconds, 10.0F) << "a kernel of 64 threads";
  EXPECT_OK(cudaStreamWaitEvent(nullptr, end, 0));
  EXPECT_OK(cudaEventDestroy(start));
  EXPECT_OK(cudaEventDestroy(end));
}

TEST_F(Order, HostFunctionsTakeTheirTurn) {
  struct Seen {
    unsigned* data;
    int calls = 0;
  } seen{data_};
  ASSERT_OK(multiply(2, stream_));
  ASSERT_OK(cudaLaunchHostFunc(
      stream_, [](void* p) { ++static_cast<Seen*>(p)->calls; }, &seen));
  ASSERT_OK(cudaStreamAddCallback(
      stream_,
      [](cudaStream_t, cudaError_t status, void* p) {
        static_cast<Seen*>(p)->calls += status == cudaSuccess ? 10 : 100;
      },
      &seen, 0));
  ASSERT_OK(cudaStreamSynchronize(stream_));
  EXPECT_EQ(seen.calls, 11);
}

TEST_F(Order, ACapturedStreamRunsLaterAndAgain) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  ASSERT_OK(multiply(2, stream_));
  ASSERT_OK(multiply(1, stream_));
  ASSERT_OK(cudaStreamEndCapture(stream_, &graph));
  EXPECT_EQ(value(), 1U) << "nothing ran while it was captured";
  std::size_t nodes = 0;
  ASSERT_OK(cudaGraphGetNodes(graph, nullptr, &nodes));
  EXPECT_EQ(nodes, 2U);
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(cudaGraphLaunch(exec, stream_));
  ASSERT_OK(cudaGraphLaunch(exec, stream_));
  ASSERT_OK(cudaStreamSynchronize(stream_));
  EXPECT_EQ(value(), 18U * 18U);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

// Begins on stream_, draws another stream in with one kernel on each, and destroys it again.
class DrawnIn : public Order {
 protected:
  cudaError_t capture(bool join, cudaGraph_t* graph) {
    cudaStream_t other = nullptr;
    cudaEvent_t fork = nullptr;
    EXPECT_OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    EXPECT_OK(cudaEventCreate(&fork));
    EXPECT_OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    EXPECT_OK(multiply(2, stream_));
    EXPECT_OK(cudaEventRecord(fork, stream_));
    EXPECT_OK(cudaStreamWaitEvent(other, fork, 0));
    EXPECT_OK(multiply(1, other));
    if (join) {
      EXPECT_OK(cudaEventRecord(fork, other));
      EXPECT_OK(cudaStreamWaitEvent(stream_, fork, 0));
    }
    EXPECT_OK(cudaStreamDestroy(other));
    EXPECT_OK(cudaEventDestroy(fork));
    return cudaStreamEndCapture(stream_, graph);
  }
};

TEST_F(DrawnIn, AStreamMayGoOnceItIsJoined) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  ASSERT_OK(capture(true, &graph));
  ASSERT_OK(cudaGraphInstantiate(&exec, graph, 0));
  ASSERT_OK(cudaGraphLaunch(exec, stream_));
  ASSERT_OK(cudaStreamSynchronize(stream_));
  EXPECT_EQ(value(), 18U);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

TEST_F(DrawnIn, WhatAStreamLeftBehindMustBeJoined) {
  cudaGraph_t graph = nullptr;
  expect_error(capture(false, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(graph, nullptr);
}

TEST_F(Order, AGraphIsBuiltNodeByNode) {
  cudaGraph_t graph = nullptr;
  cudaGraphNode_t set = nullptr;
  cudaGraphNode_t run = nullptr;
  ASSERT_OK(cudaGraphCreate(&graph, 0));
  const cudaMemsetParams ones{data_, 0, 1, 4, kCount, 1};
  ASSERT_OK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &ones));
  unsigned by = 7;
  void* arguments[] = {&data_, &by};
  cudaKernelNodeParams parameters{};
  parameters.func = kernel_;
  parameters.gridDim = {2, 1, 1};
  parameters.blockDim = {32, 1, 1};
  parameters.kernelParams = arguments;
  ASSERT_OK(cudaGraphAddKernelNode(&run, graph, &set, 1, &parameters));
  std::vector<unsigned> back(kCount);
  cudaGraphNode_t copy = nullptr;
  ASSERT_OK(cudaGraphAddMemcpyNode1D(&copy, graph, &run, 1, back.data(), data_,
                                     kCount * sizeof(unsigned), cudaMemcpyDeviceToHost));
  cudaGraphNodeType type{};
  ASSERT_OK(cudaGraphNodeGetType(run, &type));
  EXPECT_EQ(type, cudaGraphNodeTypeKernel);
  cudaGraphExec_t exec = nullptr;
  ASSERT_OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  ASSERT_OK(multiply(50, nullptr));  // undone by the graph's set
  ASSERT_OK(cudaGraphLaunch(exec, stream_));
  ASSERT_OK(cudaStreamSynchronize(stream_));
  EXPECT_EQ(back[kCount - 1], 21U);
  by = 2;
  ASSERT_OK(cudaGraphExecKernelNodeSetParams(exec, run, &parameters));
  ASSERT_OK(cudaGraphLaunch(exec, stream_));
  ASSERT_OK(cudaStreamSynchronize(stream_));
  EXPECT_EQ(back[0], 6U);
  EXPECT_OK(cudaGraphExecDestroy(exec));
  EXPECT_OK(cudaGraphDestroy(graph));
}

TEST_F(Order, StreamsTellWhatTheyAre) {
  cudaStream_t other = nullptr;
  ASSERT_OK(cudaStreamCreateWithPriority(&other, cudaStreamNonBlocking, -1));
  unsigned flags = 0;
  EXPECT_OK(cudaStreamGetFlags(other, &flags));
  EXPECT_EQ(flags, static_cast<unsigned>(cudaStreamNonBlocking));
  int priority = 0;
  EXPECT_OK(cudaStreamGetPriority(other, &priority));
  EXPECT_EQ(priority, -1);
  unsigned long long first = 0;
  unsigned long long second = 0;
  EXPECT_OK(cudaStreamGetId(other, &first));
  EXPECT_OK(cudaStreamGetId(stream_, &second));
  EXPECT_NE(first, second);
  EXPECT_OK(cudaStreamQuery(other));
  EXPECT_OK(cudaStreamDestroy(other));
}

TEST_F(Order, DevicesDescribeThemselves) {
  int count = 0;
  ASSERT_OK(cudaGetDeviceCount(&count));
  ASSERT_GE(count, 1);
  cudaDeviceProp properties{};
  ASSERT_OK(cudaGetDeviceProperties(&properties, 0));
  EXPECT_EQ(properties.warpSize, 32);
  EXPECT_EQ(properties.maxThreadsPerBlock, 1024);
  EXPECT_EQ(properties.maxGridSize[1], 65535);
  EXPECT_GT(properties.multiProcessorCount, 0);
  EXPECT_GT(properties.totalGlobalMem, 0U);
  int major = 0;
  ASSERT_OK(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0));
  EXPECT_EQ(major, properties.major);
  expect_error(cudaSetDevice(count), cudaErrorInvalidDevice);
  int runtime = 0;
  ASSERT_OK(cudaRuntimeGetVersion(&runtime));
  EXPECT_EQ(runtime, CUDART_VERSION);
  int driver = 0;
  ASSERT_OK(cudaDriverGetVersion(&driver));
  EXPECT_GE(driver, runtime);
}

}  // namespace
}  // namespace drgpum::emulator::runtime

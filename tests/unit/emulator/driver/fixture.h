// SPDX-License-Identifier: Apache-2.0
#pragma once
// A program's view of the emulated device: a context to work in, and kernels as PTX text.

#include <string>
#include <vector>

#include <cuda.h>
#include <gtest/gtest.h>

#define EXPECT_CUDA(call) EXPECT_EQ(call, CUDA_SUCCESS)
#define ASSERT_CUDA(call) ASSERT_EQ(call, CUDA_SUCCESS)

namespace drgpum::emulator {

// Each test has a context of its own, so that a fault in one does not end the others.
class DriverTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_CUDA(cuInit(0));
    CUctxCreateParams parameters{};
    ASSERT_CUDA(cuCtxCreate(&context_, &parameters, 0, 0));
  }
  void TearDown() override {
    if (context_ != nullptr) cuCtxDestroy(context_);
  }

  static CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr address = 0;
    EXPECT_CUDA(cuMemAlloc(&address, bytes));
    return address;
  }

  template <typename T>
  static CUdeviceptr upload(const std::vector<T>& values) {
    const CUdeviceptr address = allocate(values.size() * sizeof(T));
    EXPECT_CUDA(cuMemcpyHtoD(address, values.data(), values.size() * sizeof(T)));
    return address;
  }

  template <typename T>
  static std::vector<T> download(CUdeviceptr address, std::size_t count) {
    std::vector<T> values(count);
    EXPECT_CUDA(cuMemcpyDtoH(values.data(), address, count * sizeof(T)));
    return values;
  }

  static CUfunction load(const char* text, const char* name) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_CUDA(cuModuleLoadData(&module, text));
    EXPECT_CUDA(cuModuleGetFunction(&function, module, name));
    return function;
  }

  CUcontext context_ = nullptr;
};

// p[i] = p[i] + value for i < count; also a variable of the module.
inline constexpr const char* kAddPtx = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .global .align 4 .u32 counter = 7;
.visible .entry add(.param .u64 p, .param .u32 value, .param .u32 count)
{
  .reg .pred %q;
  .reg .b32 %r<8>;
  .reg .b64 %d<4>;
  ld.param.u64 %d1, [p];
  ld.param.u32 %r1, [value];
  ld.param.u32 %r2, [count];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %q, %r6, %r2;
  @%q bra done;
  cvta.to.global.u64 %d1, %d1;
  mul.wide.u32 %d2, %r6, 4;
  add.s64 %d3, %d1, %d2;
  ld.global.u32 %r7, [%d3];
  add.u32 %r7, %r7, %r1;
  st.global.u32 [%d3], %r7;
done:
  ret;
}
)";

inline CUresult launch_add(CUfunction function, CUdeviceptr address, unsigned value, unsigned count,
                           CUstream stream = nullptr) {
  void* arguments[] = {&address, &value, &count};
  return cuLaunchKernel(function, (count + 127) / 128, 1, 1, 128, 1, 1, 0, stream, arguments,
                        nullptr);
}

}  // namespace drgpum::emulator

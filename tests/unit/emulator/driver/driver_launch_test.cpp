// SPDX-License-Identifier: Apache-2.0
// Modules and launches: arguments, limits, and what a kernel's fault does to its context.

#include <cstdio>
#include <fstream>
#include <sstream>

#include "fixture.h"

namespace drgpum::emulator {
namespace {

using Launch = DriverTest;

TEST_F(Launch, TakesArgumentsByPointer) {
  const CUdeviceptr address = upload<unsigned>({1, 2, 3});
  ASSERT_CUDA(launch_add(load(kAddPtx, "add"), address, 100, 2));
  EXPECT_EQ(download<unsigned>(address, 3), (std::vector<unsigned>{101, 102, 3}));
}

TEST_F(Launch, TakesArgumentsAsOneBuffer) {
  const CUdeviceptr address = upload<unsigned>({1});
  struct {
    CUdeviceptr p;
    unsigned value, count;
  } packed{address, 5, 1};
  std::size_t size = sizeof packed;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                   CU_LAUNCH_PARAM_END};
  const CUfunction add = load(kAddPtx, "add");
  ASSERT_CUDA(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_EQ(download<unsigned>(address, 1)[0], 6u);
  size = 8;
  EXPECT_EQ(cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra),
            CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Launch, RefusesShapesBeyondTheLimits) {
  const CUfunction add = load(kAddPtx, "add");
  CUdeviceptr p = 0;
  unsigned none = 0;
  void* arguments[] = {&p, &none, &none};
  const auto launch = [&](unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned shared) {
    return cuLaunchKernel(add, gx, gy, gz, bx, by, bz, shared, nullptr, arguments, nullptr);
  };
  EXPECT_CUDA(launch(1, 1, 1, 1024, 1, 1, 0));
  EXPECT_EQ(launch(0, 1, 1, 32, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 65536, 1, 32, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1, 1, 1024, 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1, 1, 1, 1, 65, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(launch(1, 1, 1, 32, 1, 1, (48 << 10) + 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
  EXPECT_CUDA(launch(1, 1, 1, 32, 1, 1, 64 << 10));
}

TEST_F(Launch, OfTooManyCooperativeBlocksIsRefused) {
  const CUfunction add = load(kAddPtx, "add");
  int per_processor = 0, processors = 0;
  ASSERT_CUDA(cuOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, add, 1024, 0));
  ASSERT_CUDA(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
  EXPECT_EQ(per_processor, 2);
  CUdeviceptr p = 0;
  unsigned none = 0;
  void* arguments[] = {&p, &none, &none};
  const auto most = static_cast<unsigned>(per_processor * processors);
  EXPECT_CUDA(cuLaunchCooperativeKernel(add, most, 1, 1, 1024, 1, 1, 0, nullptr, arguments));
  EXPECT_EQ(cuLaunchCooperativeKernel(add, most + 1, 1, 1, 1024, 1, 1, 0, nullptr, arguments),
            CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST_F(Launch, PastTheEndOfMemoryEndsTheContextWithOneBlockOfText) {
  const CUfunction add = load(kAddPtx, "add");
  const CUdeviceptr address = upload<unsigned>({1, 2, 3});
  testing::internal::CaptureStderr();
  EXPECT_CUDA(launch_add(add, address, 1, 4)) << "launches are asynchronous";
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  CUdeviceptr more = 0;
  EXPECT_EQ(cuMemAlloc(&more, 4), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(launch_add(add, address, 1, 1), CUDA_ERROR_ILLEGAL_ADDRESS);
  char missed[32];
  std::snprintf(missed, sizeof missed, "0x%llx", address + 12);
  for (const char* part :
       {"add", "thread (3,0,0)", static_cast<const char*>(missed), "size 12 bytes", "700"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " is not in\n" << text;
}

TEST_F(Launch, OfAFreedAllocationSaysSo) {
  const CUfunction add = load(kAddPtx, "add");
  const CUdeviceptr address = allocate(64);
  ASSERT_CUDA(cuMemFree(address));
  testing::internal::CaptureStderr();
  EXPECT_CUDA(launch_add(add, address, 1, 1));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("freed"), std::string::npos);
}

TEST_F(Launch, WithoutPtxNamesTheRemedy) {
  const std::string elf(
      "\x7f"
      "ELF\0\0\0\0\0\0\0\0\0\0\0\0",
      16);
  CUmodule module = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuModuleLoadData(&module, elf.data()), CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("nvcc"), std::string::npos);
}

TEST_F(Launch, OfBrokenPtxNamesTheLine) {
  CUmodule module = nullptr;
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\n.target sm_75\n.address_size 64\n.entry x( {"),
            CUDA_ERROR_INVALID_PTX);
  EXPECT_NE(testing::internal::GetCapturedStderr().find(":4:"), std::string::npos);
}

TEST_F(Launch, OfAnInstructionThatIsNotServedNamesItAndTheKernel) {
  const char* text = R"(
.version 8.0
.target sm_75
.address_size 64
.entry odd() { frobnicate.u32; ret; }
.entry plain() { ret; }
)";
  CUmodule module = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, text));
  CUfunction odd = nullptr, plain = nullptr;
  ASSERT_CUDA(cuModuleGetFunction(&odd, module, "odd"));
  ASSERT_CUDA(cuModuleGetFunction(&plain, module, "plain"));
  EXPECT_CUDA(cuLaunchKernel(plain, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr))
      << "only kernels that run are looked at";
  char status[] = "/tmp/drgpum-status-XXXXXX";
  ASSERT_GE(mkstemp(status), 0);
  setenv("DRGPUM_EMULATOR_STATUS", status, 1);
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuLaunchKernel(odd, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr),
            CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  const std::string said = testing::internal::GetCapturedStderr();
  unsetenv("DRGPUM_EMULATOR_STATUS");
  EXPECT_NE(said.find("frobnicate.u32"), std::string::npos) << said;
  EXPECT_NE(said.find("odd"), std::string::npos) << said;
  std::ifstream file(status);
  std::stringstream kept;
  kept << file.rdbuf();
  EXPECT_EQ(kept.str().rfind("unsupported-ptx\t", 0), 0u) << kept.str();
  remove(status);
}

TEST_F(Launch, LinksTextsThatNeedEachOther) {
  const std::string caller = R"(
.version 8.0
.target sm_75
.address_size 64
.extern .func (.param .b32 r) seven();
.visible .entry store(.param .u64 p)
{
  .reg .b32 %r<2>;
  .reg .b64 %d<2>;
  .param .b32 back;
  ld.param.u64 %d1, [p];
  call.uni (back), seven;
  ld.param.b32 %r1, [back];
  st.global.u32 [%d1], %r1;
  ret;
}
)";
  const std::string callee = R"(
.version 8.0
.target sm_75
.address_size 64
.visible .func (.param .b32 r) seven() { st.param.b32 [r], 7; ret; }
)";
  CUlinkState link = nullptr;
  ASSERT_CUDA(cuLinkCreate(0, nullptr, nullptr, &link));
  for (const std::string& text : {caller, callee})
    ASSERT_CUDA(cuLinkAddData(link, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()),
                              text.size() + 1, "unit", 0, nullptr, nullptr));
  void* image = nullptr;
  std::size_t size = 0;
  ASSERT_CUDA(cuLinkComplete(link, &image, &size));
  const CUfunction store = load(static_cast<const char*>(image), "store");
  ASSERT_CUDA(cuLinkDestroy(link));
  CUdeviceptr address = upload<unsigned>({0});
  void* arguments[] = {&address};
  ASSERT_CUDA(cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT_EQ(download<unsigned>(address, 1)[0], 7u);
}

TEST_F(Launch, FindsKernelsOfALibraryInEveryContext) {
  CUlibrary library = nullptr;
  CUkernel kernel = nullptr;
  ASSERT_CUDA(cuLibraryLoadData(&library, kAddPtx, nullptr, nullptr, 0, nullptr, nullptr, 0));
  ASSERT_CUDA(cuLibraryGetKernel(&kernel, library, "add"));
  CUcontext other = nullptr;
  CUctxCreateParams parameters{};
  for (int round = 0; round < 2; ++round) {
    const CUdeviceptr address = upload<unsigned>({1});
    ASSERT_CUDA(launch_add(reinterpret_cast<CUfunction>(kernel), address, 1, 1));
    EXPECT_EQ(download<unsigned>(address, 1)[0], 2u);
    if (round == 0) {
      ASSERT_CUDA(cuCtxCreate(&other, &parameters, 0, 0));
    }
  }
  EXPECT_CUDA(cuCtxDestroy(other));
  EXPECT_CUDA(cuLibraryUnload(library));
}

TEST_F(Launch, KnowsAFunctionsParameters) {
  const CUfunction add = load(kAddPtx, "add");
  std::size_t offset = 0, size = 0;
  ASSERT_CUDA(cuFuncGetParamInfo(add, 2, &offset, &size));
  EXPECT_EQ(offset, 12u);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(cuFuncGetParamInfo(add, 3, &offset, &size), CUDA_ERROR_INVALID_VALUE);
  int value = 0;
  ASSERT_CUDA(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, add));
  EXPECT_EQ(value, 75);
}

}  // namespace
}  // namespace drgpum::emulator

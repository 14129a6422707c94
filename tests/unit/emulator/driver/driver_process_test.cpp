// SPDX-License-Identifier: Apache-2.0
// The library in its process: start-up, injected tools, children, threads, names.

#include <cstdlib>
#include <cstring>
#include <thread>

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

namespace drgpum::emulator {
namespace {

// Runs `body` in a process of its own, before any CUDA call of this one, and returns what it does.
template <typename Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(Process, RefusesCallsBeforeItStarts) {
  EXPECT_EQ(in_child([] {
              int count = 0;
              const bool early = cuDriverGetVersion(&count) == CUDA_SUCCESS && count == 13000;
              return early && cuDeviceGetCount(&count) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1;
            }),
            0);
}

TEST(Process, LoadsAnInjectedToolOnce) {
  EXPECT_EQ(in_child([] {
              setenv("CUDA_INJECTION64_PATH", INJECTED_TOOL, 1);
              if (cuInit(0) != CUDA_SUCCESS || cuInit(0) != CUDA_SUCCESS) return 1;
              const char* mark = getenv("DRGPUM_TEST_INJECTED");
              return mark != nullptr && std::strcmp(mark, "once") == 0 ? 0 : 2;
            }),
            0);
}

TEST(Process, OffersAsManyDevicesAsAskedFor) {
  EXPECT_EQ(in_child([] {
              setenv("DRGPUM_EMULATOR_DEVICES", "3", 1);
              setenv("DRGPUM_EMULATOR_PRESET", "rtx3090", 1);
              setenv("DRGPUM_EMULATOR_DEVICE_MEMORY", "1GiB", 1);
              int count = 0, major = 0;
              std::size_t bytes = 0;
              if (cuInit(0) != CUDA_SUCCESS) return 1;
              if (cuDeviceGetCount(&count) != CUDA_SUCCESS || count != 3) return 2;
              cuDeviceTotalMem(&bytes, 2);
              cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 2);
              return bytes == 1u << 30 && major == 8 ? 0 : 3;
            }),
            0);
}

TEST(Process, CopiesBetweenDevices) {
  EXPECT_EQ(in_child([] {
              setenv("DRGPUM_EMULATOR_DEVICES", "2", 1);
              CUcontext context[2] = {};
              CUdeviceptr address[2] = {};
              if (cuInit(0) != CUDA_SUCCESS) return 1;
              for (int i = 0; i < 2; ++i) {
                cuDevicePrimaryCtxRetain(&context[i], i);
                cuCtxSetCurrent(context[i]);
                if (cuMemAlloc(&address[i], 4) != CUDA_SUCCESS) return 2;
              }
              unsigned value = 0;
              cuMemsetD32(address[0], 5, 1);
              if (cuMemcpyPeer(address[1], context[1], address[0], context[0], 4) != CUDA_SUCCESS)
                return 3;
              cuMemcpyDtoH(&value, address[1], 4);
              return value == 5 && address[0] != address[1] ? 0 : 4;
            }),
            0);
}

TEST(Process, RefusesSettingsThatMakeNoSense) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(in_child([] {
              setenv("DRGPUM_EMULATOR_PRESET", "voodoo", 1);
              return cuInit(0) == CUDA_ERROR_INVALID_VALUE ? 0 : 1;
            }),
            0);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("no device preset named \"voodoo\""),
            std::string::npos);
}

using ProcessWithContext = DriverTest;

TEST_F(ProcessWithContext, ForkedChildrenGetErrorsInsteadOfCrashes) {
  const CUdeviceptr address = allocate(4);
  EXPECT_EQ(in_child([&] {
              CUdeviceptr more = 0;
              if (cuMemAlloc(&more, 4) != CUDA_ERROR_NOT_INITIALIZED) return 1;
              if (cuMemFree(address) != CUDA_ERROR_NOT_INITIALIZED) return 2;
              return cuInit(0) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 3;
            }),
            0);
  EXPECT_CUDA(cuMemFree(address));
}

TEST_F(ProcessWithContext, ThreadsWorkSideBySide) {
  const CUfunction add = load(kAddPtx, "add");
  std::vector<std::thread> threads;
  std::vector<unsigned> results(4);
  for (unsigned i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      EXPECT_CUDA(cuCtxSetCurrent(context_));
      CUstream stream = nullptr;
      EXPECT_CUDA(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
      for (int round = 0; round < 20; ++round) {
        const CUdeviceptr address = allocate(400);
        EXPECT_CUDA(cuMemsetD32Async(address, i, 100, stream));
        EXPECT_CUDA(launch_add(add, address, 10, 100, stream));
        EXPECT_CUDA(cuMemcpyDtoHAsync(&results[i], address + 396, 4, stream));
        EXPECT_CUDA(cuStreamSynchronize(stream));
        EXPECT_CUDA(cuMemFree(address));
      }
      EXPECT_CUDA(cuStreamDestroy(stream));
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(results, (std::vector<unsigned>{10, 11, 12, 13}));
}

TEST_F(ProcessWithContext, ContextsStackPerThread) {
  CUcontext current = nullptr;
  ASSERT_CUDA(cuCtxPushCurrent(context_));
  ASSERT_CUDA(cuCtxPopCurrent(&current));
  EXPECT_EQ(current, context_);
  std::thread([] {
    CUcontext other = nullptr;
    EXPECT_CUDA(cuCtxGetCurrent(&other));
    EXPECT_EQ(other, nullptr);
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc(&address, 4), CUDA_ERROR_INVALID_CONTEXT);
  }).join();
}

TEST_F(ProcessWithContext, ThePrimaryContextIsCounted) {
  CUcontext first = nullptr, second = nullptr;
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&first, 0));
  ASSERT_CUDA(cuDevicePrimaryCtxRetain(&second, 0));
  EXPECT_EQ(first, second);
  unsigned flags = 0;
  int active = 0;
  ASSERT_CUDA(cuDevicePrimaryCtxRelease(0));
  ASSERT_CUDA(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 1);
  ASSERT_CUDA(cuDevicePrimaryCtxRelease(0));
  ASSERT_CUDA(cuDevicePrimaryCtxGetState(0, &flags, &active));
  EXPECT_EQ(active, 0);
  EXPECT_EQ(cuDevicePrimaryCtxRelease(0), CUDA_ERROR_INVALID_CONTEXT);
}

TEST_F(ProcessWithContext, ErrorsHaveNames) {
  const char* text = nullptr;
  ASSERT_CUDA(cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text));
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  ASSERT_CUDA(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(998), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

TEST_F(ProcessWithContext, EntryPointsFitTheVersionAskedFor) {
  const auto find = [](const char* name, int version, cuuint64_t flags = 0) {
    void* function = nullptr;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    EXPECT_CUDA(cuGetProcAddress(name, &function, version, flags, &status));
    Dl_info info{};
    return function != nullptr && dladdr(function, &info) != 0 ? std::string(info.dli_sname)
                                                               : std::string("none");
  };
  EXPECT_EQ(find("cuMemAlloc", 13000), "cuMemAlloc_v2");
  EXPECT_EQ(find("cuCtxCreate", 11000), "cuCtxCreate_v2");
  EXPECT_EQ(find("cuCtxCreate", 13000), "cuCtxCreate_v4");
  EXPECT_EQ(find("cuMemsetD8", 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
            "cuMemsetD8_v2_ptds");
  EXPECT_EQ(find("cuNothing", 13000), "none");
}

TEST_F(ProcessWithContext, WhatIsNotServedSaysSo) {
  CUipcMemHandle handle{};
  EXPECT_EQ(cuIpcGetMemHandle(&handle, allocate(4)), CUDA_ERROR_NOT_SUPPORTED);
  const void* table = &handle;
  CUuuid id{};
  testing::internal::CaptureStderr();
  EXPECT_EQ(cuGetExportTable(&table, &id), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("-cudart shared"), std::string::npos);
  EXPECT_EQ(table, nullptr);
}

}  // namespace
}  // namespace drgpum::emulator

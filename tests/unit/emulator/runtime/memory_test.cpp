// SPDX-License-Identifier: Apache-2.0
// Allocation: what every entry point gives, takes back and refuses.
#include <cstring>

#include "tests/unit/emulator/runtime/runtime_fixture.h"

namespace drgpum::emulator::runtime {
namespace {

using Memory = RuntimeTest;

TEST_F(Memory, NothingIsAllocatedForNothing) {
  void* pointer = &pointer;
  EXPECT_OK(cudaMalloc(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_OK(cudaFree(nullptr));
  pointer = &pointer;
  EXPECT_OK(cudaMallocHost(&pointer, 0));
  EXPECT_EQ(pointer, nullptr);
  EXPECT_OK(cudaFreeHost(nullptr));
  std::size_t pitch = 1;
  EXPECT_OK(cudaMallocPitch(&pointer, &pitch, 0, 10));
  EXPECT_EQ(pointer, nullptr);
  expect_error(cudaMallocManaged(&pointer, 0, cudaMemAttachGlobal), cudaErrorInvalidValue);
}

TEST_F(Memory, FreeMemoryGoesDownAndUpAgain) {
  std::size_t before = 0;
  std::size_t during = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  void* pointer = nullptr;
  ASSERT_OK(cudaMemGetInfo(&before, &total));
  ASSERT_OK(cudaMalloc(&pointer, 10 << 20));
  ASSERT_OK(cudaMemGetInfo(&during, &total));
  ASSERT_OK(cudaFree(pointer));
  ASSERT_OK(cudaMemGetInfo(&after, &total));
  EXPECT_EQ(before - during, 10U << 20);
  EXPECT_EQ(before, after);
  EXPECT_LE(before, total);
}

TEST_F(Memory, TooMuchIsRefusedAndDoesNoHarm) {
  std::size_t free = 0;
  std::size_t total = 0;
  ASSERT_OK(cudaMemGetInfo(&free, &total));
  void* pointer = nullptr;
  expect_error(cudaMalloc(&pointer, total + 1), cudaErrorMemoryAllocation);
  ASSERT_OK(cudaMalloc(&pointer, 100));
  EXPECT_OK(cudaFree(pointer));
}

TEST_F(Memory, WhatWasNotAllocatedCannotBeFreed) {
  void* pointer = nullptr;
  ASSERT_OK(cudaMalloc(&pointer, 1024));
  expect_error(cudaFree(static_cast<char*>(pointer) + 512), cudaErrorInvalidValue);
  EXPECT_OK(cudaFree(pointer));
  expect_error(cudaFree(pointer), cudaErrorInvalidValue);
  int local = 0;
  expect_error(cudaFreeHost(&local), cudaErrorInvalidValue);
}

TEST_F(Memory, PitchedRowsAreAlignedAndWideEnough) {
  void* pointer = nullptr;
  std::size_t pitch = 0;
  ASSERT_OK(cudaMallocPitch(&pointer, &pitch, 1001, 7));
  EXPECT_GE(pitch, 1001U);
  EXPECT_EQ(pitch % 32, 0U);
  EXPECT_OK(cudaFree(pointer));
  cudaPitchedPtr box{};
  ASSERT_OK(cudaMalloc3D(&box, {1001, 7, 3}));
  EXPECT_EQ(box.pitch, pitch);
  EXPECT_EQ(box.xsize, 1001U);
  EXPECT_EQ(box.ysize, 7U);
  EXPECT_OK(cudaFree(box.ptr));
}

TEST_F(Memory, ManagedAndPinnedMemoryBelongToTheHostToo) {
  char* managed = nullptr;
  char* pinned = nullptr;
  ASSERT_OK(cudaMallocManaged(reinterpret_cast<void**>(&managed), 64, cudaMemAttachGlobal));
  ASSERT_OK(cudaHostAlloc(reinterpret_cast<void**>(&pinned), 64, cudaHostAllocMapped));
  std::memset(managed, 1, 64);
  std::memset(pinned, 2, 64);
  ASSERT_OK(cudaMemcpy(managed, pinned, 32, cudaMemcpyDefault));
  EXPECT_EQ(managed[31], 2);
  EXPECT_EQ(managed[32], 1);
  void* seen = nullptr;
  EXPECT_OK(cudaHostGetDevicePointer(&seen, pinned, 0));
  EXPECT_EQ(seen, pinned);
  unsigned flags = 0;
  EXPECT_OK(cudaHostGetFlags(&flags, pinned));
  EXPECT_NE(flags & cudaHostAllocMapped, 0U);
  EXPECT_OK(cudaFree(managed));
  EXPECT_OK(cudaFreeHost(pinned));
}

TEST_F(Memory, PointersTellWhatTheyPointAt) {
  void* device = nullptr;
  void* managed = nullptr;
  void* pinned = nullptr;
  int local = 0;
  ASSERT_OK(cudaMalloc(&device, 64));
  ASSERT_OK(cudaMallocManaged(&managed, 64, cudaMemAttachGlobal));
  ASSERT_OK(cudaMallocHost(&pinned, 64));
  const auto type_of = [](const void* pointer) {
    cudaPointerAttributes attributes{};
    EXPECT_OK(cudaPointerGetAttributes(&attributes, pointer));
    return attributes.type;
  };
  EXPECT_EQ(type_of(device), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(static_cast<char*>(device) + 63), cudaMemoryTypeDevice);
  EXPECT_EQ(type_of(managed), cudaMemoryTypeManaged);
  EXPECT_EQ(type_of(pinned), cudaMemoryTypeHost);
  EXPECT_EQ(type_of(&local), cudaMemoryTypeUnregistered);
  EXPECT_OK(cudaFree(device));
  EXPECT_OK(cudaFree(managed));
  EXPECT_OK(cudaFreeHost(pinned));
}

TEST_F(Memory, HostMemoryIsRegisteredOnce) {
  alignas(4096) static char buffer[8192];
  ASSERT_OK(cudaHostRegister(buffer, sizeof buffer, cudaHostRegisterDefault));
  expect_error(cudaHostRegister(buffer, sizeof buffer, cudaHostRegisterDefault),
               cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_OK(cudaHostUnregister(buffer));
  expect_error(cudaHostUnregister(buffer), cudaErrorHostMemoryNotRegistered);
}

TEST_F(Memory, PoolsHoldStreamOrderedMemory) {
  cudaMemPool_t pool = nullptr;
  cudaStream_t stream = nullptr;
  void* pointer = nullptr;
  ASSERT_OK(cudaStreamCreate(&stream));
  ASSERT_OK(cudaDeviceGetDefaultMemPool(&pool, 0));
  std::uint64_t keep = ~std::uint64_t{0};
  EXPECT_OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
  ASSERT_OK(cudaMallocAsync(&pointer, 1 << 20, stream));
  std::uint64_t used = 0;
  EXPECT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_GE(used, std::uint64_t{1} << 20);
  EXPECT_OK(cudaMemsetAsync(pointer, 3, 1 << 20, stream));
  EXPECT_OK(cudaFreeAsync(pointer, stream));
  EXPECT_OK(cudaStreamSynchronize(stream));
  EXPECT_OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
  EXPECT_EQ(used, 0U);
  EXPECT_OK(cudaMemPoolTrimTo(pool, 0));

  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  cudaMemPool_t own = nullptr;
  ASSERT_OK(cudaMemPoolCreate(&own, &properties));
  ASSERT_OK(cudaMallocFromPoolAsync(&pointer, 512, own, stream));
  EXPECT_OK(cudaFree(pointer));
  EXPECT_OK(cudaMemPoolDestroy(own));
  EXPECT_OK(cudaStreamDestroy(stream));
}

TEST_F(Memory, AdviceAndPrefetchAreTakenForManagedMemory) {
  void* managed = nullptr;
  ASSERT_OK(cudaMallocManaged(&managed, 4096, cudaMemAttachGlobal));
  const cudaMemLocation device{cudaMemLocationTypeDevice, {0}};
  EXPECT_OK(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, device));
  EXPECT_OK(cudaMemPrefetchAsync(managed, 4096, device, 0, nullptr));
  EXPECT_OK(cudaDeviceSynchronize());
  EXPECT_OK(cudaFree(managed));
}

}  // namespace
}  // namespace drgpum::emulator::runtime

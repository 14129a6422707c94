// SPDX-License-Identifier: Apache-2.0
// Allocation in all its forms.

#include <cstring>

#include "fixture.h"

namespace drgpum::emulator {
namespace {

using Memory = DriverTest;

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  EXPECT_CUDA(cuMemGetInfo(&free, &total));
  return free;
}

TEST_F(Memory, StartsWhereEveryRunStarts) {
  EXPECT_EQ(allocate(1), 0x2000'0000'0000u);
}

TEST_F(Memory, IsGivenAgainAfterItWasFreed) {
  const CUdeviceptr first = allocate(1000);
  allocate(1000);
  EXPECT_CUDA(cuMemFree(first));
  EXPECT_EQ(allocate(1000), first);
}

TEST_F(Memory, RunsOutWithAnErrorAndWorksOn) {
  const std::size_t all = free_bytes();
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAlloc(&address, all + 1), CUDA_ERROR_OUT_OF_MEMORY);
  ASSERT_CUDA(cuMemAlloc(&address, all));
  CUdeviceptr more = 0;
  EXPECT_EQ(cuMemAlloc(&more, 1), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(free_bytes(), 0u);
  EXPECT_CUDA(cuMemFree(address));
  EXPECT_EQ(free_bytes(), all);
}

TEST_F(Memory, RefusesWhatWasNeverAllocated) {
  const CUdeviceptr address = allocate(64);
  EXPECT_EQ(cuMemFree(address + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemFree(address));
  EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
  EXPECT_CUDA(cuMemFree(0));
  CUdeviceptr none = 0;
  EXPECT_EQ(cuMemAlloc(&none, 0), CUDA_ERROR_INVALID_VALUE);
}

TEST_F(Memory, PadsRowsToAPitch) {
  CUdeviceptr address = 0;
  std::size_t pitch = 0;
  ASSERT_CUDA(cuMemAllocPitch(&address, &pitch, 100, 3, 4));
  EXPECT_EQ(pitch, 512u);
  CUdeviceptr base = 0;
  std::size_t size = 0;
  ASSERT_CUDA(cuMemGetAddressRange(&base, &size, address + 1000));
  EXPECT_EQ(base, address);
  EXPECT_EQ(size, 1536u);
}

TEST_F(Memory, ManagedIsTheSameForHostAndDevice) {
  CUdeviceptr address = 0;
  ASSERT_CUDA(cuMemAllocManaged(&address, 4 * sizeof(unsigned), CU_MEM_ATTACH_GLOBAL));
  auto* values = reinterpret_cast<unsigned*>(address);
  for (unsigned i = 0; i < 4; ++i)
    values[i] = i;
  ASSERT_CUDA(launch_add(load(kAddPtx, "add"), address, 10, 4));
  ASSERT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(values[3], 13u);
}

TEST_F(Memory, PinnedAndRegisteredMemoryServesKernels) {
  const CUfunction add = load(kAddPtx, "add");
  void* pinned = nullptr;
  ASSERT_CUDA(cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_DEVICEMAP));
  static unsigned own[16];
  ASSERT_CUDA(cuMemHostRegister(own, sizeof own, 0));
  for (void* host : {pinned, static_cast<void*>(own)}) {
    std::memset(host, 0, 64);
    CUdeviceptr address = 0;
    ASSERT_CUDA(cuMemHostGetDevicePointer(&address, host, 0));
    ASSERT_CUDA(launch_add(add, address, 5, 16));
    ASSERT_CUDA(cuCtxSynchronize());
    EXPECT_EQ(static_cast<unsigned*>(host)[15], 5u);
  }
  EXPECT_EQ(cuMemHostRegister(own, 4, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_CUDA(cuMemHostUnregister(own));
  EXPECT_EQ(cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_CUDA(cuMemFreeHost(pinned));
}

TEST_F(Memory, ComesFromPoolsInStreamOrder) {
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.maxSize = 4096;
  CUmemoryPool pool = nullptr;
  ASSERT_CUDA(cuMemPoolCreate(&pool, &properties));
  CUdeviceptr address = 0, more = 0;
  ASSERT_CUDA(cuMemAllocFromPoolAsync(&address, 3000, pool, nullptr));
  EXPECT_EQ(cuMemAllocFromPoolAsync(&more, 3000, pool, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
  cuuint64_t used = 0;
  ASSERT_CUDA(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(used, 3000u);
  EXPECT_CUDA(cuMemFreeAsync(address, nullptr));
  ASSERT_CUDA(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  EXPECT_EQ(used, 0u);
  ASSERT_CUDA(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &used));
  EXPECT_EQ(used, 3000u);
  EXPECT_CUDA(cuMemPoolDestroy(pool));
}

TEST_F(Memory, IsMappedPieceByPiece) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  std::size_t page = 0;
  ASSERT_CUDA(cuMemGetAllocationGranularity(&page, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr range = 0;
  ASSERT_CUDA(cuMemAddressReserve(&range, 2 * page, 0, 0, 0));
  CUmemGenericAllocationHandle low = 0, high = 0;
  ASSERT_CUDA(cuMemCreate(&low, page, &properties, 0));
  ASSERT_CUDA(cuMemCreate(&high, page, &properties, 0));
  ASSERT_CUDA(cuMemMap(range, page, 0, low, 0));
  ASSERT_CUDA(cuMemMap(range + page, page, 0, high, 0));
  EXPECT_EQ(cuMemcpyHtoD(range, &page, 8), CUDA_ERROR_INVALID_VALUE) << "no access yet";
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  ASSERT_CUDA(cuMemSetAccess(range, 2 * page, &access, 1));
  std::vector<unsigned char> bytes(2 * page, 3);
  ASSERT_CUDA(cuMemcpyHtoD(range, bytes.data(), bytes.size()));
  EXPECT_EQ(download<unsigned char>(range + page - 1, 2), (std::vector<unsigned char>{3, 3}));
  EXPECT_EQ(cuMemAddressFree(range, 2 * page), CUDA_ERROR_INVALID_VALUE) << "still mapped";
  EXPECT_CUDA(cuMemUnmap(range, 2 * page));
  EXPECT_CUDA(cuMemRelease(low));
  EXPECT_CUDA(cuMemRelease(high));
  EXPECT_CUDA(cuMemAddressFree(range, 2 * page));
}

TEST_F(Memory, TellsWhatAPointerIs) {
  const CUdeviceptr address = allocate(100);
  unsigned type = 0, managed = 1;
  std::size_t size = 0;
  CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
                                 CU_POINTER_ATTRIBUTE_RANGE_SIZE};
  void* values[] = {&type, &managed, &size};
  ASSERT_CUDA(cuPointerGetAttributes(3, which, values, address + 50));
  EXPECT_EQ(type, static_cast<unsigned>(CU_MEMORYTYPE_DEVICE));
  EXPECT_EQ(managed, 0u);
  EXPECT_EQ(size, 100u);
  int local = 0;
  const auto host = reinterpret_cast<CUdeviceptr>(&local);
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, host),
            CUDA_ERROR_INVALID_VALUE);
  ASSERT_CUDA(cuPointerGetAttributes(1, which, values, host));
  EXPECT_EQ(type, 0u);
}

TEST_F(Memory, OfAContextEndsWithIt) {
  const std::size_t before = free_bytes();
  CUcontext other = nullptr;
  CUctxCreateParams parameters{};
  ASSERT_CUDA(cuCtxCreate(&other, &parameters, 0, 0));
  allocate(1 << 20);
  ASSERT_CUDA(cuCtxDestroy(other));
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(Memory, OfAModuleHoldsItsInitialValue) {
  CUmodule module = nullptr;
  ASSERT_CUDA(cuModuleLoadData(&module, kAddPtx));
  CUdeviceptr address = 0;
  std::size_t size = 0;
  ASSERT_CUDA(cuModuleGetGlobal(&address, &size, module, "counter"));
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(download<unsigned>(address, 1)[0], 7u);
  EXPECT_EQ(cuModuleGetGlobal(&address, &size, module, "nothing"), CUDA_ERROR_NOT_FOUND);
}

}  // namespace
}  // namespace drgpum::emulator

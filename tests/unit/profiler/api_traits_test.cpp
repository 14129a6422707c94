// SPDX-License-Identifier: Apache-2.0
#include "profiler/api_traits.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

// Types of the driver API's first version, which cuda.h no longer has.
using CUdeviceptr_v1 = unsigned;
struct CUDA_MEMCPY2D_v1 {};
struct CUDA_MEMCPY3D_v1 {};
struct CUDA_ARRAY_DESCRIPTOR_v1 {};
struct CUDA_ARRAY3D_DESCRIPTOR_v1 {};
#include <generated_cuda_meta.h>
#include <generated_cuda_runtime_api_meta.h>

namespace drgpum::profiler {
namespace {

TEST(ApiTraits, NamesAreAsTheProgrammerWritesThem) {
  EXPECT_EQ(traits_of("cuMemAlloc_v2").name, "cuMemAlloc");
  EXPECT_EQ(traits_of("cudaMemcpyAsync_ptsz").name, "cudaMemcpyAsync");
  EXPECT_EQ(traits_of("cuMemcpyHtoD_v2_ptds").name, "cuMemcpyHtoD");
  EXPECT_EQ(traits_of("cudaGetDeviceProperties_v2").name, "cudaGetDeviceProperties");
  EXPECT_EQ(traits_of("cudaMalloc").name, "cudaMalloc");
}

TEST(ApiTraits, ThePerThreadDefaultStreamIsInTheName) {
  EXPECT_TRUE(traits_of("cudaMemcpyAsync_ptsz").per_thread_default);
  EXPECT_TRUE(traits_of("cudaMemcpy_ptds").per_thread_default);
  EXPECT_FALSE(traits_of("cudaMemcpyAsync").per_thread_default);
}

TEST(ApiTraits, CopiesThatAreNotAsyncMayBlock) {
  EXPECT_EQ(traits_of("cudaMemcpy2D").role, ApiRole::kCopy);
  EXPECT_EQ(traits_of("cuMemcpyDtoH_v2").role, ApiRole::kCopy);
  EXPECT_EQ(traits_of("cudaMemcpy2DAsync").role, ApiRole::kOther);
  EXPECT_EQ(traits_of("cudaMemset").role, ApiRole::kOther);
}

// The layouts are read as words; NVIDIA's own structs say whether that is right.
TEST(RequestedBytes, AgreesWithTheParameterStructs) {
  const cudaMalloc_v3020_params plain{nullptr, 1000};
  EXPECT_EQ(requested_bytes(traits_of("cudaMalloc").role, &plain), 1000u);
  const cudaMallocManaged_v6000_params managed{nullptr, 1001, 1};
  EXPECT_EQ(requested_bytes(traits_of("cudaMallocManaged").role, &managed), 1001u);
  const cudaHostAlloc_v3020_params host{nullptr, 1002, 0};
  EXPECT_EQ(requested_bytes(traits_of("cudaHostAlloc").role, &host), 1002u);
  const cudaHostRegister_v4000_params registered{nullptr, 1003, 0};
  EXPECT_EQ(requested_bytes(traits_of("cudaHostRegister").role, &registered), 1003u);
  const cudaMallocPitch_v3020_params pitched{nullptr, nullptr, 100, 7};
  EXPECT_EQ(requested_bytes(traits_of("cudaMallocPitch").role, &pitched), 700u);
  const cudaMalloc3D_v3020_params cube{nullptr, {100, 7, 3}};
  EXPECT_EQ(requested_bytes(traits_of("cudaMalloc3D").role, &cube), 2100u);
  const cudaMallocAsync_v11020_params pooled{nullptr, 1004, nullptr};
  EXPECT_EQ(requested_bytes(traits_of("cudaMallocAsync").role, &pooled), 1004u);
  const cuMemAlloc_v2_params driver{nullptr, 1005};
  EXPECT_EQ(requested_bytes(traits_of("cuMemAlloc_v2").role, &driver), 1005u);
  const cuMemMap_params mapped{0x1000, 4096, 0, 0, 0};
  EXPECT_EQ(requested_bytes(traits_of("cuMemMap").role, &mapped), 4096u);
  EXPECT_EQ(requested_bytes(ApiRole::kOther, &driver), 0u);
}

TEST(DynamicSharedBytes, AgreesWithTheParameterStructs) {
  cudaLaunchKernel_v7000_params runtime{};
  runtime.sharedMem = 48;
  EXPECT_EQ(dynamic_shared_bytes(traits_of("cudaLaunchKernel"), &runtime), 48u);
  cuLaunchKernel_params driver{};
  driver.sharedMemBytes = 64;
  EXPECT_EQ(dynamic_shared_bytes(traits_of("cuLaunchKernel"), &driver), 64u);
  EXPECT_EQ(dynamic_shared_bytes(traits_of("cudaMalloc"), &driver), 0u);
}

TEST(ArrayBytes, AgreesWithTheDescriptors) {
  const cudaChannelFormatDesc float2{32, 32, 0, 0, cudaChannelFormatKindFloat};
  const cudaMallocArray_v3020_params flat{nullptr, &float2, 10, 0, 0};
  EXPECT_EQ(array_bytes(traits_of("cudaMallocArray"), &flat), 80u);
  const cudaMalloc3DArray_v3020_params cube{nullptr, &float2, {10, 4, 3}, 0};
  EXPECT_EQ(array_bytes(traits_of("cudaMalloc3DArray"), &cube), 960u);
  const CUDA_ARRAY_DESCRIPTOR halves{10, 4, CU_AD_FORMAT_HALF, 2};
  const cuArrayCreate_v2_params driver{nullptr, &halves};
  EXPECT_EQ(array_bytes(traits_of("cuArrayCreate_v2"), &driver), 160u);
  const CUDA_ARRAY3D_DESCRIPTOR bytes{10, 4, 3, CU_AD_FORMAT_UNSIGNED_INT8, 4, 0};
  const cuArray3DCreate_v2_params driver3d{nullptr, &bytes};
  EXPECT_EQ(array_bytes(traits_of("cuArray3DCreate_v2"), &driver3d), 480u);
}

TEST(ApiTraits, FindsTheMemoryThatATextureReads) {
  struct Resource {
    std::uint32_t type;
    std::uint64_t memory;
  };
  const auto memory_of = [](const Resource& resource) {
    const void* parameters[] = {nullptr, &resource, nullptr, nullptr};
    return texture_memory(parameters);
  };
  EXPECT_EQ(memory_of({0, 0x1000}), 0u) << "an array";
  EXPECT_EQ(memory_of({2, 0x1000}), 0x1000u) << "linear";
  EXPECT_EQ(memory_of({3, 0x2000}), 0x2000u) << "pitched";
  const void* nothing[] = {nullptr, nullptr, nullptr, nullptr};
  EXPECT_EQ(texture_memory(nothing), 0u);
  EXPECT_EQ(traits_of("cuTexObjectCreate").role, ApiRole::kTexture);
  EXPECT_EQ(traits_of("cudaCreateTextureObject_v5000").role, ApiRole::kTexture);
}

}  // namespace
}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
// cudaDeviceProp, put together from the driver's device attributes.
#include <array>
#include <cstdlib>
#include <cstring>

#include "emulator/runtime/api.h"

namespace drgpum::emulator::runtime {
namespace {

// Where an attribute goes; exactly one of the destinations is set.
struct Field {
  CUdevice_attribute attribute;
  int cudaDeviceProp::*as_int = nullptr;
  std::size_t cudaDeviceProp::*as_size = nullptr;
  unsigned cudaDeviceProp::*as_unsigned = nullptr;
};

#define INT_FIELD(attribute, member)                                           \
  Field {                                                                      \
    CU_DEVICE_ATTRIBUTE_##attribute, &cudaDeviceProp::member, nullptr, nullptr \
  }
#define SIZE_FIELD(attribute, member)                                          \
  Field {                                                                      \
    CU_DEVICE_ATTRIBUTE_##attribute, nullptr, &cudaDeviceProp::member, nullptr \
  }
#define UNSIGNED_FIELD(attribute, member)                                      \
  Field {                                                                      \
    CU_DEVICE_ATTRIBUTE_##attribute, nullptr, nullptr, &cudaDeviceProp::member \
  }

constexpr Field kFields[] = {
    SIZE_FIELD(MAX_SHARED_MEMORY_PER_BLOCK, sharedMemPerBlock),
    INT_FIELD(MAX_REGISTERS_PER_BLOCK, regsPerBlock),
    INT_FIELD(WARP_SIZE, warpSize),
    SIZE_FIELD(MAX_PITCH, memPitch),
    INT_FIELD(MAX_THREADS_PER_BLOCK, maxThreadsPerBlock),
    SIZE_FIELD(TOTAL_CONSTANT_MEMORY, totalConstMem),
    INT_FIELD(COMPUTE_CAPABILITY_MAJOR, major),
    INT_FIELD(COMPUTE_CAPABILITY_MINOR, minor),
    SIZE_FIELD(TEXTURE_ALIGNMENT, textureAlignment),
    SIZE_FIELD(TEXTURE_PITCH_ALIGNMENT, texturePitchAlignment),
    INT_FIELD(MULTIPROCESSOR_COUNT, multiProcessorCount),
    INT_FIELD(INTEGRATED, integrated),
    INT_FIELD(CAN_MAP_HOST_MEMORY, canMapHostMemory),
    INT_FIELD(MAXIMUM_TEXTURE1D_WIDTH, maxTexture1D),
    INT_FIELD(MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH, maxTexture1DMipmap),
    INT_FIELD(MAXIMUM_TEXTURECUBEMAP_WIDTH, maxTextureCubemap),
    INT_FIELD(MAXIMUM_SURFACE1D_WIDTH, maxSurface1D),
    INT_FIELD(MAXIMUM_SURFACECUBEMAP_WIDTH, maxSurfaceCubemap),
    SIZE_FIELD(SURFACE_ALIGNMENT, surfaceAlignment),
    INT_FIELD(CONCURRENT_KERNELS, concurrentKernels),
    INT_FIELD(ECC_ENABLED, ECCEnabled),
    INT_FIELD(PCI_BUS_ID, pciBusID),
    INT_FIELD(PCI_DEVICE_ID, pciDeviceID),
    INT_FIELD(PCI_DOMAIN_ID, pciDomainID),
    INT_FIELD(TCC_DRIVER, tccDriver),
    INT_FIELD(ASYNC_ENGINE_COUNT, asyncEngineCount),
    INT_FIELD(UNIFIED_ADDRESSING, unifiedAddressing),
    INT_FIELD(GLOBAL_MEMORY_BUS_WIDTH, memoryBusWidth),
    INT_FIELD(L2_CACHE_SIZE, l2CacheSize),
    INT_FIELD(MAX_PERSISTING_L2_CACHE_SIZE, persistingL2CacheMaxSize),
    INT_FIELD(MAX_THREADS_PER_MULTIPROCESSOR, maxThreadsPerMultiProcessor),
    INT_FIELD(STREAM_PRIORITIES_SUPPORTED, streamPrioritiesSupported),
    INT_FIELD(GLOBAL_L1_CACHE_SUPPORTED, globalL1CacheSupported),
    INT_FIELD(LOCAL_L1_CACHE_SUPPORTED, localL1CacheSupported),
    SIZE_FIELD(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, sharedMemPerMultiprocessor),
    INT_FIELD(MAX_REGISTERS_PER_MULTIPROCESSOR, regsPerMultiprocessor),
    INT_FIELD(MANAGED_MEMORY, managedMemory),
    INT_FIELD(MULTI_GPU_BOARD, isMultiGpuBoard),
    INT_FIELD(MULTI_GPU_BOARD_GROUP_ID, multiGpuBoardGroupID),
    INT_FIELD(HOST_NATIVE_ATOMIC_SUPPORTED, hostNativeAtomicSupported),
    INT_FIELD(PAGEABLE_MEMORY_ACCESS, pageableMemoryAccess),
    INT_FIELD(CONCURRENT_MANAGED_ACCESS, concurrentManagedAccess),
    INT_FIELD(COMPUTE_PREEMPTION_SUPPORTED, computePreemptionSupported),
    INT_FIELD(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, canUseHostPointerForRegisteredMem),
    INT_FIELD(COOPERATIVE_LAUNCH, cooperativeLaunch),
    SIZE_FIELD(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, sharedMemPerBlockOptin),
    INT_FIELD(PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, pageableMemoryAccessUsesHostPageTables),
    INT_FIELD(DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, directManagedMemAccessFromHost),
    INT_FIELD(MAX_BLOCKS_PER_MULTIPROCESSOR, maxBlocksPerMultiProcessor),
    INT_FIELD(MAX_ACCESS_POLICY_WINDOW_SIZE, accessPolicyMaxWindowSize),
    SIZE_FIELD(RESERVED_SHARED_MEMORY_PER_BLOCK, reservedSharedMemPerBlock),
    INT_FIELD(HOST_REGISTER_SUPPORTED, hostRegisterSupported),
    INT_FIELD(SPARSE_CUDA_ARRAY_SUPPORTED, sparseCudaArraySupported),
    INT_FIELD(READ_ONLY_HOST_REGISTER_SUPPORTED, hostRegisterReadOnlySupported),
    INT_FIELD(TIMELINE_SEMAPHORE_INTEROP_SUPPORTED, timelineSemaphoreInteropSupported),
    INT_FIELD(MEMORY_POOLS_SUPPORTED, memoryPoolsSupported),
    INT_FIELD(GPU_DIRECT_RDMA_SUPPORTED, gpuDirectRDMASupported),
    UNSIGNED_FIELD(GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS, gpuDirectRDMAFlushWritesOptions),
    INT_FIELD(GPU_DIRECT_RDMA_WRITES_ORDERING, gpuDirectRDMAWritesOrdering),
    UNSIGNED_FIELD(MEMPOOL_SUPPORTED_HANDLE_TYPES, memoryPoolSupportedHandleTypes),
    INT_FIELD(DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED, deferredMappingCudaArraySupported),
    INT_FIELD(IPC_EVENT_SUPPORTED, ipcEventSupported),
    INT_FIELD(CLUSTER_LAUNCH, clusterLaunch),
    INT_FIELD(UNIFIED_FUNCTION_POINTERS, unifiedFunctionPointers),
};

class Reader {
 public:
  explicit Reader(CUdevice device) : device_(device) {}

  // 0 where the driver does not know the attribute.
  [[nodiscard]] int get(CUdevice_attribute attribute) const {
    int value = 0;
    return CU(cuDeviceGetAttribute)(&value, attribute, device_) == CUDA_SUCCESS ? value : 0;
  }

  template <std::size_t N>
  void fill(int (&destination)[N], const CUdevice_attribute (&attributes)[N]) const {
    for (std::size_t i = 0; i < N; ++i)
      destination[i] = get(attributes[i]);
  }

 private:
  CUdevice device_;
};

void fill_scalars(const Reader& reader, cudaDeviceProp& properties) {
  for (const Field& field : kFields) {
    const int value = reader.get(field.attribute);
    if (field.as_int != nullptr) properties.*field.as_int = value;
    if (field.as_size != nullptr) properties.*field.as_size = static_cast<std::size_t>(value);
    if (field.as_unsigned != nullptr) properties.*field.as_unsigned = static_cast<unsigned>(value);
  }
}

#define ATTRIBUTE(name) CU_DEVICE_ATTRIBUTE_##name

void fill_shapes(const Reader& reader, cudaDeviceProp& properties) {
  reader.fill(properties.maxThreadsDim,
              {ATTRIBUTE(MAX_BLOCK_DIM_X), ATTRIBUTE(MAX_BLOCK_DIM_Y), ATTRIBUTE(MAX_BLOCK_DIM_Z)});
  reader.fill(properties.maxGridSize,
              {ATTRIBUTE(MAX_GRID_DIM_X), ATTRIBUTE(MAX_GRID_DIM_Y), ATTRIBUTE(MAX_GRID_DIM_Z)});
  reader.fill(properties.maxTexture2D,
              {ATTRIBUTE(MAXIMUM_TEXTURE2D_WIDTH), ATTRIBUTE(MAXIMUM_TEXTURE2D_HEIGHT)});
  reader.fill(properties.maxTexture2DMipmap, {ATTRIBUTE(MAXIMUM_TEXTURE2D_MIPMAPPED_WIDTH),
                                              ATTRIBUTE(MAXIMUM_TEXTURE2D_MIPMAPPED_HEIGHT)});
  reader.fill(properties.maxTexture2DLinear, {ATTRIBUTE(MAXIMUM_TEXTURE2D_LINEAR_WIDTH),
                                              ATTRIBUTE(MAXIMUM_TEXTURE2D_LINEAR_HEIGHT),
                                              ATTRIBUTE(MAXIMUM_TEXTURE2D_LINEAR_PITCH)});
  reader.fill(properties.maxTexture2DGather, {ATTRIBUTE(MAXIMUM_TEXTURE2D_GATHER_WIDTH),
                                              ATTRIBUTE(MAXIMUM_TEXTURE2D_GATHER_HEIGHT)});
  reader.fill(properties.maxTexture3D,
              {ATTRIBUTE(MAXIMUM_TEXTURE3D_WIDTH), ATTRIBUTE(MAXIMUM_TEXTURE3D_HEIGHT),
               ATTRIBUTE(MAXIMUM_TEXTURE3D_DEPTH)});
  reader.fill(properties.maxTexture3DAlt, {ATTRIBUTE(MAXIMUM_TEXTURE3D_WIDTH_ALTERNATE),
                                           ATTRIBUTE(MAXIMUM_TEXTURE3D_HEIGHT_ALTERNATE),
                                           ATTRIBUTE(MAXIMUM_TEXTURE3D_DEPTH_ALTERNATE)});
}

void fill_layers(const Reader& reader, cudaDeviceProp& properties) {
  reader.fill(properties.maxTexture1DLayered, {ATTRIBUTE(MAXIMUM_TEXTURE1D_LAYERED_WIDTH),
                                               ATTRIBUTE(MAXIMUM_TEXTURE1D_LAYERED_LAYERS)});
  reader.fill(properties.maxTexture2DLayered, {ATTRIBUTE(MAXIMUM_TEXTURE2D_LAYERED_WIDTH),
                                               ATTRIBUTE(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT),
                                               ATTRIBUTE(MAXIMUM_TEXTURE2D_LAYERED_LAYERS)});
  reader.fill(properties.maxTextureCubemapLayered,
              {ATTRIBUTE(MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH),
               ATTRIBUTE(MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS)});
  reader.fill(properties.maxSurface2D,
              {ATTRIBUTE(MAXIMUM_SURFACE2D_WIDTH), ATTRIBUTE(MAXIMUM_SURFACE2D_HEIGHT)});
  reader.fill(properties.maxSurface3D,
              {ATTRIBUTE(MAXIMUM_SURFACE3D_WIDTH), ATTRIBUTE(MAXIMUM_SURFACE3D_HEIGHT),
               ATTRIBUTE(MAXIMUM_SURFACE3D_DEPTH)});
  reader.fill(properties.maxSurface1DLayered, {ATTRIBUTE(MAXIMUM_SURFACE1D_LAYERED_WIDTH),
                                               ATTRIBUTE(MAXIMUM_SURFACE1D_LAYERED_LAYERS)});
  reader.fill(properties.maxSurface2DLayered, {ATTRIBUTE(MAXIMUM_SURFACE2D_LAYERED_WIDTH),
                                               ATTRIBUTE(MAXIMUM_SURFACE2D_LAYERED_HEIGHT),
                                               ATTRIBUTE(MAXIMUM_SURFACE2D_LAYERED_LAYERS)});
  reader.fill(properties.maxSurfaceCubemapLayered,
              {ATTRIBUTE(MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH),
               ATTRIBUTE(MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS)});
}

// How far a device is from what was asked for, for cudaChooseDevice; small is near.
long long distance(const cudaDeviceProp& wanted, const cudaDeviceProp& device) {
  constexpr long long kMissingCapability = 1'000'000;
  const bool too_old =
      wanted.major > device.major || (wanted.major == device.major && wanted.minor > device.minor);
  long long total = too_old ? kMissingCapability : 0;
  if (wanted.totalGlobalMem > device.totalGlobalMem) total += kMissingCapability;
  return total + std::abs(wanted.multiProcessorCount - device.multiProcessorCount);
}

cudaError_t read_properties(cudaDeviceProp* properties, int ordinal) {
  if (properties == nullptr) return cudaErrorInvalidValue;
  RETURN_IF_CUDA_ERROR(ensure_driver());
  CUdevice device = 0;
  RETURN_IF_CUDA_ERROR(CU(cuDeviceGet)(&device, ordinal));
  std::memset(properties, 0, sizeof *properties);
  RETURN_IF_CUDA_ERROR(CU(cuDeviceGetName)(properties->name, sizeof properties->name, device));
  RETURN_IF_CUDA_ERROR(CU(cuDeviceTotalMem)(&properties->totalGlobalMem, device));
  static_assert(sizeof(CUuuid) == sizeof properties->uuid);
  CU(cuDeviceGetUuid)(reinterpret_cast<CUuuid*>(&properties->uuid), device);
  const Reader reader(device);
  fill_scalars(reader, *properties);
  fill_shapes(reader, *properties);
  fill_layers(reader, *properties);
  return cudaSuccess;
}

}  // namespace

RUNTIME_API(cudaGetDeviceProperties, v12000, (cudaDeviceProp * properties, int device), properties,
            device) {
  return read_properties(properties, device);
}

RUNTIME_API(cudaChooseDevice, v3020, (int* device, const cudaDeviceProp* wanted), device, wanted) {
  if (device == nullptr || wanted == nullptr) return cudaErrorInvalidValue;
  RETURN_IF_CUDA_ERROR(ensure_driver());
  int count = 0;
  RETURN_IF_CUDA_ERROR(CU(cuDeviceGetCount)(&count));
  long long best = -1;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties;
    RETURN_IF_CUDA_ERROR(read_properties(&properties, i));
    const long long away = distance(*wanted, properties);
    if (best >= 0 && away >= best) continue;
    best = away;
    *device = i;
  }
  return best < 0 ? cudaErrorNoDevice : cudaSuccess;
}

}  // namespace drgpum::emulator::runtime

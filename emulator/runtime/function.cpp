// SPDX-License-Identifier: Apache-2.0
// Kernels as objects: their attributes and how many blocks of them fit.
#include "emulator/runtime/api.h"
#include "emulator/runtime/registry.h"

namespace drgpum::emulator::runtime {
namespace {

// 0 where the driver does not know the attribute.
int attribute_of(CUfunction function, CUfunction_attribute attribute) {
  int value = 0;
  return CU(cuFuncGetAttribute)(&value, attribute, function) == CUDA_SUCCESS ? value : 0;
}

std::size_t size_of(CUfunction function, CUfunction_attribute attribute) {
  return static_cast<std::size_t>(attribute_of(function, attribute));
}

void fill(CUfunction function, cudaFuncAttributes& attributes) {
  attributes.sharedSizeBytes = size_of(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  attributes.constSizeBytes = size_of(function, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  attributes.localSizeBytes = size_of(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  attributes.maxThreadsPerBlock = attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  attributes.numRegs = attribute_of(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
  attributes.ptxVersion = attribute_of(function, CU_FUNC_ATTRIBUTE_PTX_VERSION);
  attributes.binaryVersion = attribute_of(function, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  attributes.cacheModeCA = attribute_of(function, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
  attributes.maxDynamicSharedSizeBytes =
      attribute_of(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  attributes.preferredShmemCarveout =
      attribute_of(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  attributes.clusterDimMustBeSet =
      attribute_of(function, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
  attributes.requiredClusterWidth =
      attribute_of(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
  attributes.requiredClusterHeight =
      attribute_of(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
  attributes.requiredClusterDepth =
      attribute_of(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
  attributes.clusterSchedulingPolicyPreference =
      attribute_of(function, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  attributes.nonPortableClusterSizeAllowed =
      attribute_of(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
}

CUlaunchConfig driver_config(const cudaLaunchConfig_t& config) {
  CUlaunchConfig result{};
  result.gridDimX = config.gridDim.x;
  result.gridDimY = config.gridDim.y;
  result.gridDimZ = config.gridDim.z;
  result.blockDimX = config.blockDim.x;
  result.blockDimY = config.blockDim.y;
  result.blockDimZ = config.blockDim.z;
  result.sharedMemBytes = static_cast<unsigned>(config.dynamicSmemBytes);
  result.hStream = config.stream;
  result.attrs = reinterpret_cast<CUlaunchAttribute*>(config.attrs);
  result.numAttrs = config.numAttrs;
  return result;
}

}  // namespace

RUNTIME_API(cudaFuncGetAttributes, v3020, (cudaFuncAttributes * attributes, const void* entry),
            attributes, entry) {
  if (attributes == nullptr) return cudaErrorInvalidValue;
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  *attributes = {};
  fill(function, *attributes);
  return cudaSuccess;
}

// Runtime and driver number the settable attributes alike.
RUNTIME_API(cudaFuncSetAttribute, v9000,
            (const void* entry, cudaFuncAttribute attribute, int value), entry, attribute, value) {
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  return to_error(
      CU(cuFuncSetAttribute)(function, static_cast<CUfunction_attribute>(attribute), value));
}

RUNTIME_API(cudaFuncSetCacheConfig, v3020, (const void* entry, cudaFuncCache config), entry,
            config) {
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  return to_error(CU(cuFuncSetCacheConfig)(function, static_cast<CUfunc_cache>(config)));
}

RUNTIME_API(cudaFuncSetSharedMemConfig, v4020, (const void* entry, cudaSharedMemConfig config),
            entry, config) {
  if (config > cudaSharedMemBankSizeEightByte) return cudaErrorInvalidValue;
  CUfunction function = nullptr;
  return registry().function_of(entry, &function);
}

RUNTIME_API(cudaFuncGetName, v12030, (const char** name, const void* entry), name, entry) {
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  return to_error(CU(cuFuncGetName)(name, function));
}

RUNTIME_API(cudaFuncGetParamInfo, v12040,
            (const void* entry, std::size_t index, std::size_t* offset, std::size_t* size), entry,
            index, offset, size) {
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  return to_error(CU(cuFuncGetParamInfo)(function, index, offset, size));
}

RUNTIME_API(cudaGetFuncBySymbol, v11000, (cudaFunction_t * function, const void* entry), function,
            entry) {
  if (function == nullptr) return cudaErrorInvalidValue;
  return registry().function_of(entry, function);
}

RUNTIME_API(cudaGetKernel, v12000, (cudaKernel_t * kernel, const void* entry), kernel, entry) {
  if (kernel == nullptr) return cudaErrorInvalidValue;
  Kernel* found = registry().find_kernel(entry);
  *kernel = reinterpret_cast<cudaKernel_t>(found);
  return found == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

RUNTIME_API(cudaKernelSetAttributeForDevice, v12060,
            (cudaKernel_t kernel, cudaFuncAttribute attribute, int value, int device), kernel,
            attribute, value, device) {
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(kernel, &function));
  if (device != current_device()) return cudaErrorNotSupported;
  return to_error(
      CU(cuFuncSetAttribute)(function, static_cast<CUfunction_attribute>(attribute), value));
}

RUNTIME_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor, v6050,
            (int* blocks, const void* entry, int block_size, std::size_t shared_bytes), blocks,
            entry, block_size, shared_bytes) {
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  return to_error(
      CU(cuOccupancyMaxActiveBlocksPerMultiprocessor)(blocks, function, block_size, shared_bytes));
}

RUNTIME_API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, v7000,
            (int* blocks, const void* entry, int block_size, std::size_t shared_bytes,
             unsigned flags),
            blocks, entry, block_size, shared_bytes, flags) {
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  return to_error(CU(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(
      blocks, function, block_size, shared_bytes, flags));
}

RUNTIME_API(cudaOccupancyAvailableDynamicSMemPerBlock, v10200,
            (std::size_t * bytes, const void* entry, int blocks, int block_size), bytes, entry,
            blocks, block_size) {
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  return to_error(CU(cuOccupancyAvailableDynamicSMemPerBlock)(bytes, function, blocks, block_size));
}

RUNTIME_API(cudaOccupancyMaxPotentialClusterSize, v11070,
            (int* size, const void* entry, const cudaLaunchConfig_t* config), size, entry, config) {
  if (config == nullptr) return cudaErrorInvalidValue;
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  const CUlaunchConfig converted = driver_config(*config);
  return to_error(CU(cuOccupancyMaxPotentialClusterSize)(size, function, &converted));
}

RUNTIME_API(cudaOccupancyMaxActiveClusters, v11070,
            (int* clusters, const void* entry, const cudaLaunchConfig_t* config), clusters, entry,
            config) {
  if (config == nullptr) return cudaErrorInvalidValue;
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  const CUlaunchConfig converted = driver_config(*config);
  return to_error(CU(cuOccupancyMaxActiveClusters)(clusters, function, &converted));
}

}  // namespace drgpum::emulator::runtime

// SPDX-License-Identifier: Apache-2.0
// Launches and the device limits that they must keep.
#include "emulator/runtime/launch.h"

#include <array>

#include "emulator/runtime/api.h"
#include "emulator/runtime/registry.h"

namespace drgpum::emulator::runtime {
namespace {

struct Limit {
  CUdevice_attribute attribute;
  std::uint64_t asked;
};

bool within(CUdevice device, const Limit& limit) {
  int allowed = 0;
  if (CU(cuDeviceGetAttribute)(&allowed, limit.attribute, device) != CUDA_SUCCESS) return true;
  return limit.asked >= 1 && limit.asked <= static_cast<std::uint64_t>(allowed);
}

}  // namespace

cudaError_t check_shape(const LaunchShape& shape) {
  const std::uint64_t threads =
      std::uint64_t{shape.block.x} * shape.block.y * std::uint64_t{shape.block.z};
  const std::array<Limit, 7> limits{{
      {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, threads},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, shape.block.x},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, shape.block.y},
      {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, shape.block.z},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, shape.grid.x},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, shape.grid.y},
      {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, shape.grid.z},
  }};
  const CUdevice device = current_device();
  for (const Limit& limit : limits)
    if (!within(device, limit)) return cudaErrorInvalidConfiguration;
  return cudaSuccess;
}

cudaError_t launch(CUfunction function, const LaunchShape& shape, void** arguments) {
  RETURN_IF_CUDA_ERROR(check_shape(shape));
  return to_error(CU(cuLaunchKernel)(
      function, shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y,
      shape.block.z, static_cast<unsigned>(shape.shared_bytes), shape.stream, arguments, nullptr));
}

namespace {

const char* symbol_of(const void* function) {
  const Kernel* kernel = registry().find_kernel(function);
  return kernel == nullptr ? nullptr : kernel->name.c_str();
}

cudaError_t launch_entry(const void* entry, const LaunchShape& shape, void** arguments) {
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  return launch(function, shape, arguments);
}

cudaError_t launch_cooperative(const void* entry, const LaunchShape& shape, void** arguments) {
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  RETURN_IF_CUDA_ERROR(check_shape(shape));
  return to_error(CU(cuLaunchCooperativeKernel)(
      function, shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y,
      shape.block.z, static_cast<unsigned>(shape.shared_bytes), shape.stream, arguments));
}

cudaError_t launch_extended(const cudaLaunchConfig_t& config, const void* entry, CUstream stream,
                            void** arguments) {
  CUfunction function = nullptr;
  RETURN_IF_CUDA_ERROR(registry().function_of(entry, &function));
  const LaunchShape shape{config.gridDim, config.blockDim, config.dynamicSmemBytes, stream};
  RETURN_IF_CUDA_ERROR(check_shape(shape));
  CUlaunchConfig driver_config{};
  driver_config.gridDimX = shape.grid.x;
  driver_config.gridDimY = shape.grid.y;
  driver_config.gridDimZ = shape.grid.z;
  driver_config.blockDimX = shape.block.x;
  driver_config.blockDimY = shape.block.y;
  driver_config.blockDimZ = shape.block.z;
  driver_config.sharedMemBytes = static_cast<unsigned>(shape.shared_bytes);
  driver_config.hStream = stream;
  // Runtime and driver attributes are the same struct by documentation.
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  driver_config.attrs = reinterpret_cast<CUlaunchAttribute*>(config.attrs);
  driver_config.numAttrs = config.numAttrs;
  return to_error(CU(cuLaunchKernelEx)(&driver_config, function, arguments, nullptr));
}

}  // namespace

#define LAUNCH_EXPORT(name, version, launcher, meaning)                                            \
  extern "C" DRGPUM_EXPORT cudaError_t name(const void* func, dim3 grid, dim3 block, void** args,  \
                                            std::size_t shared_bytes, cudaStream_t stream) {       \
    const name##_##version##_params traced{func, grid, block, args, shared_bytes, stream};         \
    ApiScope scope(CUPTI_RUNTIME_TRACE_CBID_##name##_##version, #name, &traced, symbol_of(func));  \
    return scope.finish(launcher(                                                                  \
        func, {grid, block, shared_bytes, resolve_stream(stream, DefaultStream::meaning)}, args)); \
  }

LAUNCH_EXPORT(cudaLaunchKernel, v7000, launch_entry, kLegacy)
LAUNCH_EXPORT(cudaLaunchKernel_ptsz, v7000, launch_entry, kPerThread)
LAUNCH_EXPORT(cudaLaunchCooperativeKernel, v9000, launch_cooperative, kLegacy)
LAUNCH_EXPORT(cudaLaunchCooperativeKernel_ptsz, v9000, launch_cooperative, kPerThread)

#define LAUNCH_EXTENDED_EXPORT(name, version, meaning)                                            \
  extern "C" DRGPUM_EXPORT cudaError_t name(const cudaLaunchConfig_t* config, const void* func,   \
                                            void** args) {                                        \
    const name##_##version##_params traced{config, func, args};                                   \
    ApiScope scope(CUPTI_RUNTIME_TRACE_CBID_##name##_##version, #name, &traced, symbol_of(func)); \
    if (config == nullptr) return scope.finish(cudaErrorInvalidValue);                            \
    return scope.finish(launch_extended(                                                          \
        *config, func, resolve_stream(config->stream, DefaultStream::meaning), args));            \
  }

LAUNCH_EXTENDED_EXPORT(cudaLaunchKernelExC, v11060, kLegacy)
LAUNCH_EXTENDED_EXPORT(cudaLaunchKernelExC_ptsz, v11060, kPerThread)

STREAM_API(cudaLaunchHostFunc, v10000, v10000,
           (cudaStream_t stream, cudaHostFn_t function, void* user), stream, function, user) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return to_error(CU(cuLaunchHostFunc)(stream, function, user));
}

}  // namespace drgpum::emulator::runtime

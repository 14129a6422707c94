// SPDX-License-Identifier: Apache-2.0
// Entry points that nvcc's start-up code and launch stubs call.
#include <array>

#include <vector_types.h>

#include "emulator/runtime/api.h"
#include "emulator/runtime/launch.h"
#include "emulator/runtime/registry.h"

namespace drgpum::emulator::runtime {
namespace {

// Launch configurations between <<<...>>> and the stub; nested calls in arguments stack up.
constexpr std::size_t kDeepestNesting = 16;

struct ConfigurationStack {
  std::array<LaunchShape, kDeepestNesting> entries;
  std::size_t depth;
};
thread_local ConfigurationStack configurations;

// Handles are pointers to the FatBinary, seen as void** by the program.
FatBinary* binary_of(void** handle) {
  return reinterpret_cast<FatBinary*>(handle);
}

cudaError_t launch_traced(std::uint32_t id, const char* name, Kernel* kernel,
                          const LaunchShape& shape, void** arguments) {
  const cudaLaunchKernel_v7000_params traced{kernel,    shape.grid,         shape.block,
                                             arguments, shape.shared_bytes, shape.stream};
  ApiScope scope(id, name, &traced, kernel == nullptr ? nullptr : kernel->name.c_str());
  if (kernel == nullptr) return scope.finish(cudaErrorInvalidDeviceFunction);
  CUfunction function = nullptr;
  const cudaError_t found = registry().function_of(*kernel, &function);
  if (found != cudaSuccess) return scope.finish(found);
  return scope.finish(launch(function, shape, arguments));
}

}  // namespace

extern "C" {

DRGPUM_EXPORT void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(
      registry().add_binary(static_cast<const FatBinaryWrapper*>(wrapper)));
}

// Everything is loaded at first use.
DRGPUM_EXPORT void __cudaRegisterFatBinaryEnd(void**) {}

DRGPUM_EXPORT void __cudaUnregisterFatBinary(void** handle) {
  if (handle != nullptr) registry().remove_binary(binary_of(handle));
}

DRGPUM_EXPORT void __cudaRegisterFunction(void** handle, const char* host_function, char*,
                                          const char* name, int, uint3*, uint3*, dim3*, dim3*,
                                          int*) {
  registry().add_kernel(binary_of(handle), host_function, name);
}

DRGPUM_EXPORT void __cudaRegisterVar(void** handle, char* symbol, char*, const char* name, int,
                                     std::size_t, int, int) {
  registry().add_variable(binary_of(handle), symbol, name);
}

DRGPUM_EXPORT void __cudaRegisterManagedVar(void** handle, void** pointer, char*, const char* name,
                                            int, std::size_t, int, int) {
  registry().add_managed(binary_of(handle), pointer, name);
}

// 1: the module's managed variables can be used.
DRGPUM_EXPORT char __cudaInitModule(void** handle) {
  FatBinary* binary = binary_of(handle);
  if (binary == nullptr || binary->managed.empty()) return 1;
  const cudaError_t error = registry().initialize(binary);
  record_error(error);
  return error == cudaSuccess ? 1 : 0;
}

DRGPUM_EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                                   CUstream_st* stream) {
  ConfigurationStack& stack = configurations;
  if (stack.depth == kDeepestNesting) return cudaErrorLaunchFailure;
  stack.entries[stack.depth++] = LaunchShape{grid, block, shared_bytes, stream};
  return cudaSuccess;
}

DRGPUM_EXPORT cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block,
                                                     std::size_t* shared_bytes, void* stream) {
  ConfigurationStack& stack = configurations;
  if (stack.depth == 0) return cudaErrorMissingConfiguration;
  const LaunchShape& top = stack.entries[--stack.depth];
  *grid = top.grid;
  *block = top.block;
  *shared_bytes = top.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

DRGPUM_EXPORT cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function) {
  Kernel* found = registry().find_kernel(host_function);
  *kernel = reinterpret_cast<cudaKernel_t>(found);
  return found == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess;
}

DRGPUM_EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block,
                                             void** arguments, std::size_t shared_bytes,
                                             cudaStream_t stream) {
  return launch_traced(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel",
                       reinterpret_cast<Kernel*>(kernel), {grid, block, shared_bytes, stream},
                       arguments);
}

DRGPUM_EXPORT cudaError_t __cudaLaunchKernel_ptsz(cudaKernel_t kernel, dim3 grid, dim3 block,
                                                  void** arguments, std::size_t shared_bytes,
                                                  cudaStream_t stream) {
  stream = resolve_stream(stream, DefaultStream::kPerThread);
  return launch_traced(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000,
                       "cudaLaunchKernel_ptsz", reinterpret_cast<Kernel*>(kernel),
                       {grid, block, shared_bytes, stream}, arguments);
}

}  // extern "C"
}  // namespace drgpum::emulator::runtime

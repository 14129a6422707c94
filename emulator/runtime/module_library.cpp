// SPDX-License-Identifier: Apache-2.0
// Code that the program loads itself, the driver's entry points, and sharing between processes.
#include <bit>

#include "emulator/runtime/forward.h"

namespace drgpum::emulator::runtime {

static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle));
static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle));

// Options are numbered alike.
FORWARD_API(cudaLibraryLoadData, v12060, cuLibraryLoadData,
            (cudaLibrary_t * library, const void* code, cudaJitOption* jit_options,
             void** jit_values, unsigned jit_count, cudaLibraryOption* options, void** values,
             unsigned count),
            library, code, jit_options, jit_values, jit_count, options, values, count)
FORWARD_API(cudaLibraryLoadFromFile, v12060, cuLibraryLoadFromFile,
            (cudaLibrary_t * library, const char* file, cudaJitOption* jit_options,
             void** jit_values, unsigned jit_count, cudaLibraryOption* options, void** values,
             unsigned count),
            library, file, jit_options, jit_values, jit_count, options, values, count)
FORWARD_API(cudaLibraryUnload, v12060, cuLibraryUnload, (cudaLibrary_t library), library)
FORWARD_API(cudaLibraryGetKernel, v12060, cuLibraryGetKernel,
            (cudaKernel_t * kernel, cudaLibrary_t library, const char* name), kernel, library, name)
FORWARD_API(cudaLibraryGetGlobal, v12060, cuLibraryGetGlobal,
            (void** pointer, std::size_t* size, cudaLibrary_t library, const char* name), pointer,
            size, library, name)
FORWARD_API(cudaLibraryGetManaged, v12060, cuLibraryGetManaged,
            (void** pointer, std::size_t* size, cudaLibrary_t library, const char* name), pointer,
            size, library, name)
FORWARD_API(cudaLibraryGetKernelCount, v12060, cuLibraryGetKernelCount,
            (unsigned* count, cudaLibrary_t library), count, library)
FORWARD_API(cudaLibraryEnumerateKernels, v12060, cuLibraryEnumerateKernels,
            (cudaKernel_t * kernels, unsigned count, cudaLibrary_t library), kernels, count,
            library)
FORWARD_API(cudaLibraryGetUnifiedFunction, v12060, cuLibraryGetUnifiedFunction,
            (void** function, cudaLibrary_t library, const char* symbol), function, library, symbol)

RUNTIME_API_0(cudaCtxResetPersistingL2Cache, v11000) {
  return forward(CU(cuCtxResetPersistingL2Cache));
}

FORWARD_API(cudaIpcGetMemHandle, v4010, cuIpcGetMemHandle,
            (cudaIpcMemHandle_t * handle, void* pointer), handle, pointer)
FORWARD_API(cudaIpcCloseMemHandle, v4010, cuIpcCloseMemHandle, (void* pointer), pointer)
FORWARD_API(cudaIpcGetEventHandle, v4010, cuIpcGetEventHandle,
            (cudaIpcEventHandle_t * handle, cudaEvent_t event), handle, event)

// These take handles by value.
RUNTIME_API(cudaIpcOpenMemHandle, v4010,
            (void** pointer, cudaIpcMemHandle_t handle, unsigned flags), pointer, handle, flags) {
  return forward(CU(cuIpcOpenMemHandle), pointer, std::bit_cast<CUipcMemHandle>(handle), flags);
}

RUNTIME_API(cudaIpcOpenEventHandle, v4010, (cudaEvent_t * event, cudaIpcEventHandle_t handle),
            event, handle) {
  return forward(CU(cuIpcOpenEventHandle), event, std::bit_cast<CUipcEventHandle>(handle));
}

namespace {

// Runtime and driver number flags and answers alike; 1 is "no such function".
cudaError_t entry_point(const char* symbol, void** function, unsigned version,
                        unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  RETURN_IF_CUDA_ERROR(ensure_driver());
  CUdriverProcAddressQueryResult answer{};
  const CUresult result =
      CU(cuGetProcAddress)(symbol, function, static_cast<int>(version), flags, &answer);
  if (status == nullptr) return to_error(result);
  *status = static_cast<cudaDriverEntryPointQueryResult>(answer);
  return result == CUDA_ERROR_NOT_FOUND ? cudaSuccess : to_error(result);
}

unsigned long long per_thread(unsigned long long flags) {
  if (flags == cudaEnableDefault) return cudaEnablePerThreadDefaultStream;
  return flags;
}

}  // namespace

RUNTIME_API(cudaGetDriverEntryPoint, v11030,
            (const char* symbol, void** function, unsigned long long flags,
             cudaDriverEntryPointQueryResult* status),
            symbol, function, flags, status) {
  return entry_point(symbol, function, CUDART_VERSION, flags, status);
}

RUNTIME_API(cudaGetDriverEntryPoint_ptsz, v11030,
            (const char* symbol, void** function, unsigned long long flags,
             cudaDriverEntryPointQueryResult* status),
            symbol, function, flags, status) {
  return entry_point(symbol, function, CUDART_VERSION, per_thread(flags), status);
}

RUNTIME_API(cudaGetDriverEntryPointByVersion, v12050,
            (const char* symbol, void** function, unsigned version, unsigned long long flags,
             cudaDriverEntryPointQueryResult* status),
            symbol, function, version, flags, status) {
  return entry_point(symbol, function, version, flags, status);
}

RUNTIME_API(cudaGetDriverEntryPointByVersion_ptsz, v12050,
            (const char* symbol, void** function, unsigned version, unsigned long long flags,
             cudaDriverEntryPointQueryResult* status),
            symbol, function, version, flags, status) {
  return entry_point(symbol, function, version, per_thread(flags), status);
}

}  // namespace drgpum::emulator::runtime

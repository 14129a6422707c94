// SPDX-License-Identifier: Apache-2.0
// Primary contexts, the thread's device and its last error.
#include "emulator/runtime/context.h"

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "emulator/runtime/driver.h"
#include "emulator/runtime/registry.h"

namespace drgpum::emulator::runtime {
namespace {

// Plain data: threads may call the runtime while their other thread-local objects are destroyed.
thread_local int thread_device = 0;
thread_local cudaError_t last_error = cudaSuccess;

std::atomic<bool> exiting{false};

void note_exits() {
  static std::once_flag once;
  std::call_once(once, [] { std::atexit([] { exiting = true; }); });
}

cudaError_t use_primary_context(int device) {
  CUdevice handle = 0;
  RETURN_IF_CUDA_ERROR(CU(cuDeviceGet)(&handle, device));
  CUcontext context = nullptr;
  RETURN_IF_CUDA_ERROR(CU(cuDevicePrimaryCtxRetain)(&context, handle));
  RETURN_IF_CUDA_ERROR(CU(cuCtxSetCurrent)(context));
  note_exits();
  return cudaSuccess;
}

}  // namespace

cudaError_t ensure_driver() {
  if (!driver_is_there()) return cudaErrorInsufficientDriver;
  static std::atomic<bool> ready{false};
  if (ready.load(std::memory_order_acquire)) return cudaSuccess;
  RETURN_IF_CUDA_ERROR(CU(cuInit)(0));
  ready.store(true, std::memory_order_release);
  return cudaSuccess;
}

CUcontext current_context() {
  CUcontext context = nullptr;
  return CU(cuCtxGetCurrent)(&context) == CUDA_SUCCESS ? context : nullptr;
}

cudaError_t ensure_context() {
  RETURN_IF_CUDA_ERROR(ensure_driver());
  return current_context() != nullptr ? cudaSuccess : use_primary_context(thread_device);
}

cudaError_t select_device(int device) {
  RETURN_IF_CUDA_ERROR(ensure_driver());
  int count = 0;
  RETURN_IF_CUDA_ERROR(CU(cuDeviceGetCount)(&count));
  if (device < 0 || device >= count) return cudaErrorInvalidDevice;
  RETURN_IF_CUDA_ERROR(use_primary_context(device));
  thread_device = device;
  return cudaSuccess;
}

cudaError_t reset_device() {
  RETURN_IF_CUDA_ERROR(ensure_driver());
  CUdevice device = 0;
  RETURN_IF_CUDA_ERROR(CU(cuDeviceGet)(&device, current_device()));
  if (CUcontext context = current_context()) registry().forget_context(context);
  RETURN_IF_CUDA_ERROR(CU(cuDevicePrimaryCtxReset)(device));
  return to_error(CU(cuCtxSetCurrent)(nullptr));
}

int current_device() {
  CUdevice device = 0;
  if (current_context() != nullptr && CU(cuCtxGetDevice)(&device) == CUDA_SUCCESS) return device;
  return thread_device;
}

bool process_is_exiting() {
  return exiting;
}

void record_error(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
}

cudaError_t peek_error() {
  return last_error;
}

cudaError_t take_error() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

}  // namespace drgpum::emulator::runtime

// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a thread of the program knows of the runtime: its device and its last error; and the
// primary contexts, made at the first call that needs one.

#include <cuda.h>
#include <driver_types.h>

namespace drgpum::emulator::runtime {

// Driver and runtime number the errors that they share alike.
inline cudaError_t to_error(CUresult result) {
  return static_cast<cudaError_t>(result);
}

// cudaErrorInsufficientDriver without a driver; else what cuInit says. Cheap after the first call.
cudaError_t ensure_driver();
// A context is current after it: the program's own, or the primary one of the thread's device.
cudaError_t ensure_context();
cudaError_t select_device(int device);  // makes its primary context current
cudaError_t reset_device();
// The device of the current context, else the one that the thread selected last.
int current_device();
CUcontext current_context();
// True once the process runs its exit handlers: nothing is torn down any more.
bool process_is_exiting();

// Last error of this thread.
void record_error(cudaError_t error);
cudaError_t peek_error();
cudaError_t take_error();

}  // namespace drgpum::emulator::runtime

// Leaves the function with the error of a driver or runtime call.
#define RETURN_IF_CUDA_ERROR(expr)                                                             \
  do {                                                                                         \
    if (const auto code_ = static_cast<cudaError_t>(expr); code_ != cudaSuccess) return code_; \
  } while (false)

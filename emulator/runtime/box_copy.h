// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies of rectangles and boxes between pitched memory and arrays, in the driver's words.

#include <cuda.h>
#include <driver_types.h>

namespace drgpum::emulator::runtime {

// cudaErrorInvalidMemcpyDirection, cudaErrorInvalidPitchValue or cudaErrorInvalidValue when the
// parameters do not fit each other. A box without bytes gives WidthInBytes, Height or Depth 0.
cudaError_t driver_copy(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy);
// A copy of `size` bytes in a row.
cudaError_t driver_copy(void* destination, const void* source, std::size_t size,
                        cudaMemcpyKind kind, CUDA_MEMCPY3D* copy);
cudaMemcpy3DParms runtime_copy(const CUDA_MEMCPY3D& copy);

inline bool is_empty(const CUDA_MEMCPY3D& copy) {
  return copy.WidthInBytes == 0 || copy.Height == 0 || copy.Depth == 0;
}

}  // namespace drgpum::emulator::runtime

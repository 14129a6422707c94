// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernel launches, however the program spells them.

#include <cstddef>

#include <cuda.h>
#include <driver_types.h>
#include <vector_types.h>

namespace drgpum::emulator::runtime {

struct LaunchShape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};

// cudaErrorInvalidConfiguration for a shape that the current device cannot run.
cudaError_t check_shape(const LaunchShape& shape);
// `arguments` points at one pointer per parameter.
cudaError_t launch(CUfunction function, const LaunchShape& shape, void** arguments);

}  // namespace drgpum::emulator::runtime

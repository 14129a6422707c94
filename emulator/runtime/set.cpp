// SPDX-License-Identifier: Apache-2.0
// Sets of device memory, byte by byte.
#include "emulator/runtime/api.h"

namespace drgpum::emulator::runtime {
namespace {

unsigned char byte_of(int value) {
  return static_cast<unsigned char>(value);
}

CUdeviceptr device_pointer(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

// Calls `set_rows(address, rows)` for the planes of a box; one call where they lie end to end.
template <typename SetRows>
cudaError_t set_planes(const cudaPitchedPtr& pitched, const cudaExtent& extent, SetRows set_rows) {
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return cudaSuccess;
  if (extent.width > pitched.pitch) return cudaErrorInvalidPitchValue;
  const CUdeviceptr base = device_pointer(pitched.ptr);
  if (extent.height == pitched.ysize || extent.depth == 1)
    return to_error(set_rows(base, extent.height * extent.depth));
  for (std::size_t plane = 0; plane < extent.depth; ++plane) {
    const CUdeviceptr at = base + plane * pitched.pitch * pitched.ysize;
    RETURN_IF_CUDA_ERROR(set_rows(at, extent.height));
  }
  return cudaSuccess;
}

}  // namespace

BLOCKING_API(cudaMemset, v3020, v7000,
             (DefaultStream meaning, void* pointer, int value, std::size_t size),
             (void* pointer, int value, std::size_t size), pointer, value, size) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  if (size == 0) return cudaSuccess;
  return to_error(CU_MEANING(meaning, cuMemsetD8)(device_pointer(pointer), byte_of(value), size));
}

STREAM_API(cudaMemsetAsync, v3020, v7000,
           (void* pointer, int value, std::size_t size, cudaStream_t stream), pointer, value, size,
           stream) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  if (size == 0) return cudaSuccess;
  return to_error(CU(cuMemsetD8Async)(device_pointer(pointer), byte_of(value), size, stream));
}

BLOCKING_API(cudaMemset2D, v3020, v7000,
             (DefaultStream meaning, void* pointer, std::size_t pitch, int value, std::size_t width,
              std::size_t height),
             (void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height),
             pointer, pitch, value, width, height) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  if (width == 0 || height == 0) return cudaSuccess;
  if (height > 1 && width > pitch) return cudaErrorInvalidValue;
  return to_error(CU_MEANING(meaning, cuMemsetD2D8)(device_pointer(pointer), pitch, byte_of(value),
                                                    width, height));
}

STREAM_API(cudaMemset2DAsync, v3020, v7000,
           (void* pointer, std::size_t pitch, int value, std::size_t width, std::size_t height,
            cudaStream_t stream),
           pointer, pitch, value, width, height, stream) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  if (width == 0 || height == 0) return cudaSuccess;
  if (height > 1 && width > pitch) return cudaErrorInvalidValue;
  return to_error(
      CU(cuMemsetD2D8Async)(device_pointer(pointer), pitch, byte_of(value), width, height, stream));
}

BLOCKING_API(cudaMemset3D, v3020, v7000,
             (DefaultStream meaning, cudaPitchedPtr pitched, int value, cudaExtent extent),
             (cudaPitchedPtr pitched, int value, cudaExtent extent), pitched, value, extent) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return set_planes(pitched, extent, [&](CUdeviceptr at, std::size_t rows) {
    return CU_MEANING(meaning, cuMemsetD2D8)(at, pitched.pitch, byte_of(value), extent.width, rows);
  });
}

STREAM_API(cudaMemset3DAsync, v3020, v7000,
           (cudaPitchedPtr pitched, int value, cudaExtent extent, cudaStream_t stream), pitched,
           value, extent, stream) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return set_planes(pitched, extent, [&](CUdeviceptr at, std::size_t rows) {
    return CU(cuMemsetD2D8Async)(at, pitched.pitch, byte_of(value), extent.width, rows, stream);
  });
}

}  // namespace drgpum::emulator::runtime

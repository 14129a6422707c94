// SPDX-License-Identifier: Apache-2.0
#pragma once
// CUDA arrays: channel descriptors in the driver's words.

#include <optional>

#include <cuda.h>
#include <driver_types.h>

namespace drgpum::emulator::runtime {

// An array is the same object to runtime and driver; only the pointer's type differs.
inline CUarray driver_array(cudaArray_const_t array) {
  return reinterpret_cast<CUarray>(const_cast<cudaArray_t>(array));
}
inline cudaArray_t runtime_array(CUarray array) {
  return reinterpret_cast<cudaArray_t>(array);
}

struct ElementFormat {
  CUarray_format format;
  unsigned channels;
};

// Absent for descriptors that no array can have (three channels, mixed widths, odd widths).
std::optional<ElementFormat> format_of(const cudaChannelFormatDesc& descriptor);
cudaChannelFormatDesc descriptor_of(const ElementFormat& element);
std::size_t element_bytes(const ElementFormat& element);
// Bytes of one element of an array; cudaErrorInvalidResourceHandle for what is none.
cudaError_t array_element_bytes(cudaArray_const_t array, std::size_t* bytes);

}  // namespace drgpum::emulator::runtime

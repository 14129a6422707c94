// SPDX-License-Identifier: Apache-2.0
#pragma once
// CUDA arrays: storage in rows of texels, rows without padding.

#include <cstdint>
#include <vector>

#include <cuda.h>

#include "emulator/memory/allocation_table.h"

namespace drgpum::emulator {

struct Context;

struct Array {
  Context* context = nullptr;
  CUDA_ARRAY3D_DESCRIPTOR descriptor{};
  Block* block = nullptr;
  bool is_level = false;  // of a mipmapped array, which owns it

  [[nodiscard]] std::uint64_t texel_bytes() const;
  [[nodiscard]] std::uint64_t row_bytes() const { return descriptor.Width * texel_bytes(); }
  [[nodiscard]] std::uint64_t rows() const { return descriptor.Height ? descriptor.Height : 1; }
  [[nodiscard]] std::uint64_t slices() const { return descriptor.Depth ? descriptor.Depth : 1; }
  [[nodiscard]] std::uint64_t bytes() const { return row_bytes() * rows() * slices(); }
};

struct MipmappedArray {
  Context* context = nullptr;
  std::vector<Array*> levels;
};

// Bytes of one channel; 0 for formats that are not served.
std::uint64_t channel_bytes(CUarray_format format);

}  // namespace drgpum::emulator

// SPDX-License-Identifier: Apache-2.0
#pragma once
// The function that PyTorch's allocators report to (c10/core/Allocator.h), in a shared library of its
// own as libc10.so is: so the sample's allocator is seen in the way that PyTorch's is.

#include <cstddef>
#include <cstdint>

namespace c10 {

struct Device {
  std::int8_t type;  // 1: CUDA
  std::int8_t index;
};

void reportMemoryUsageToProfiler(void* block, std::int64_t bytes, std::size_t allocated,
                                 std::size_t reserved, Device device);

}  // namespace c10

// How many reports have come through.
std::size_t reports_received();

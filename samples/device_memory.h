// SPDX-License-Identifier: Apache-2.0
#pragma once
// Memory for programs without a plan: a cudaMalloc and a cudaFree each time.

#include <cstddef>

#include "samples/check.h"

struct DeviceMemory {
  void* take(std::size_t bytes) {
    void* memory = nullptr;
    CHECK(cudaMalloc(&memory, bytes));
    return memory;
  }
  void give_back(void* memory) { CHECK(cudaFree(memory)); }
  void begin_iteration() {}
};

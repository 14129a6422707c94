// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every sample does with an error: say where and what, and end with status 1.

#include <cstdio>
#include <cstdlib>

#include <cuda_runtime.h>

#define CHECK(call)                                                                       \
  do {                                                                                    \
    const cudaError_t error_ = (call);                                                    \
    if (error_ != cudaSuccess) {                                                          \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error_)); \
      std::exit(1);                                                                       \
    }                                                                                     \
  } while (false)

// Prints the verdict of a sample's own result check and gives its exit status.
inline int verdict(bool right) {
  std::puts(right ? "result: right" : "result: WRONG");
  return right ? 0 : 1;
}

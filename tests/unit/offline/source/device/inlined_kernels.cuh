// SPDX-License-Identifier: Apache-2.0
#pragma once
// Device functions that inline into kernels.

__device__ inline float get(const float* from, int i) {
  return from[i];
}

__device__ inline float get_two(const float* from, int i) {
  return get(from, i) + get(from, i + 100);
}

__device__ inline void put(float* to, int i, float value) {
  to[i] = value;
}

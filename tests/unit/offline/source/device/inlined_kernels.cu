// SPDX-License-Identifier: Apache-2.0
// Kernels whose line tables are known: inlining two deep, a function kept apart, no inlining.
#include "inlined_kernels.cuh"

__device__ __noinline__ float kept_apart(float x) {
  return x > 0 ? x * x + 3.0f : -x;
}

extern "C" __global__ void entry(float* to, const float* from, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) {
    float sum = get_two(from, i);
    for (int k = 0; k < n; ++k)
      sum += kept_apart(sum + k);
    put(to, i, sum);
  }
}

__global__ void second(double* p) {
  p[threadIdx.x] += 1.0;
}

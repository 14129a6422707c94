// SPDX-License-Identifier: Apache-2.0
// The same program with the table in shared memory: each block reads every entry once.

#include <vector>

#include "samples/check.h"

constexpr int kKinds = 256;

__global__ void weigh(const float* weights, const int* kinds, float* values, int n) {
  __shared__ float table[kKinds];
  table[threadIdx.x] = weights[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = table[kinds[i]];
}

int main() {
  constexpr int kElements = 1 << 18;
  std::vector<float> table(kKinds), output(kElements);
  for (int i = 0; i < kKinds; ++i)
    table[i] = 0.25f * static_cast<float>(i);
  std::vector<int> host_kinds(kElements);
  for (int i = 0; i < kElements; ++i)
    host_kinds[i] = i % 8 == 0 ? i / 8 % kKinds : i % 16;

  float *weights = nullptr, *values = nullptr;
  int* kinds = nullptr;
  CHECK(cudaMalloc(&weights, kKinds * sizeof(float)));
  CHECK(cudaMalloc(&kinds, kElements * sizeof(int)));
  CHECK(cudaMalloc(&values, kElements * sizeof(float)));
  CHECK(cudaMemcpy(weights, table.data(), kKinds * sizeof(float), cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(kinds, host_kinds.data(), kElements * sizeof(int), cudaMemcpyHostToDevice));
  weigh<<<kElements / kKinds, kKinds>>>(weights, kinds, values, kElements);
  CHECK(cudaMemcpy(output.data(), values, kElements * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(weights));
  CHECK(cudaFree(kinds));
  CHECK(cudaFree(values));

  bool right = true;
  for (int i = 0; i < kElements; ++i)
    right = right && output[i] == table[host_kinds[i]];
  return verdict(right);
}

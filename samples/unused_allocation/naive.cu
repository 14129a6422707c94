// SPDX-License-Identifier: Apache-2.0
// Unused allocation: weights is allocated, cleared and uploaded, and no kernel ever reads it: the
// option that used it is off. Filling it does not make it used.

#include <vector>

#include "samples/check.h"

__global__ void square(float* values, const float* weights, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  values[i] = weights != nullptr ? values[i] * weights[i] : values[i] * values[i];
}

int main() {
  constexpr int kElements = 1 << 20;
  constexpr std::size_t kBytes = kElements * sizeof(float);
  const bool weighted = false;
  std::vector<float> input(kElements), ones(kElements, 1.0f), output(kElements);
  for (int i = 0; i < kElements; ++i)
    input[i] = static_cast<float>(i % 64);

  float* values = nullptr;
  CHECK(cudaMalloc(&values, kBytes));
  float* weights = nullptr;
  CHECK(cudaMalloc(&weights, kBytes));
  CHECK(cudaMemcpy(weights, ones.data(), kBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(values, input.data(), kBytes, cudaMemcpyHostToDevice));
  square<<<kElements / 256, 256>>>(values, weighted ? weights : nullptr, kElements);
  CHECK(cudaMemcpy(output.data(), values, kBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(weights));
  CHECK(cudaFree(values));

  bool right = true;
  for (int i = 0; i < kElements; ++i)
    right = right && output[i] == input[i] * input[i];
  return verdict(right);
}

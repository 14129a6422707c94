// SPDX-License-Identifier: Apache-2.0
// The same program with result allocated where it is first needed.

#include <vector>

#include "samples/check.h"

__global__ void smooth(float* values, float* scratch, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  scratch[i] = values[i] * 0.5f;
  values[i] = scratch[i] + 1.0f;
}

__global__ void shrink(const float* values, float* result, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) result[i] = values[2 * i] + values[2 * i + 1];
}

int main() {
  constexpr int kElements = 1 << 20;
  constexpr std::size_t kBytes = kElements * sizeof(float);
  constexpr std::size_t kResultBytes = kBytes / 2;
  std::vector<float> input(kElements), output(kElements / 2);
  for (int i = 0; i < kElements; ++i)
    input[i] = static_cast<float>(i % 100);

  float* values = nullptr;
  CHECK(cudaMalloc(&values, kBytes));
  CHECK(cudaMemcpy(values, input.data(), kBytes, cudaMemcpyHostToDevice));

  float* scratch = nullptr;
  CHECK(cudaMalloc(&scratch, kBytes));
  smooth<<<kElements / 256, 256>>>(values, scratch, kElements);
  CHECK(cudaFree(scratch));

  float* result = nullptr;
  CHECK(cudaMalloc(&result, kResultBytes));
  shrink<<<kElements / 512, 256>>>(values, result, kElements / 2);
  CHECK(cudaMemcpy(output.data(), result, kResultBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(values));
  CHECK(cudaFree(result));

  bool right = true;
  for (int i = 0; i < kElements / 2; ++i) {
    const float expected = (input[2 * i] * 0.5f + 1.0f) + (input[2 * i + 1] * 0.5f + 1.0f);
    right = right && output[i] == expected;
  }
  return verdict(right);
}

// SPDX-License-Identifier: Apache-2.0
// The same program with one buffer for both passes: second() writes over what middle() has read.

#include <vector>

#include "samples/check.h"

__global__ void first(float* first_pass, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) first_pass[i] = static_cast<float>(i % 256);
}

__global__ void middle(const float* first_pass, float* halves, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) halves[i] = first_pass[2 * i] + first_pass[2 * i + 1];
}

__global__ void second(const float* halves, float* second_pass, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) second_pass[i] = halves[i / 2] * static_cast<float>(1 + i % 2);
}

int main() {
  constexpr int kElements = 1 << 20;
  constexpr std::size_t kBytes = kElements * sizeof(float);
  std::vector<float> output(kElements);

  float* pass = nullptr;
  CHECK(cudaMalloc(&pass, kBytes));
  first<<<kElements / 256, 256>>>(pass, kElements);
  float* halves = nullptr;
  CHECK(cudaMalloc(&halves, kBytes / 2));
  middle<<<kElements / 512, 256>>>(pass, halves, kElements / 2);
  second<<<kElements / 256, 256>>>(halves, pass, kElements);
  CHECK(cudaMemcpy(output.data(), pass, kBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(pass));
  CHECK(cudaFree(halves));

  bool right = true;
  for (int i = 0; i < kElements; ++i) {
    const int pair = i / 2 * 2;
    const float half = static_cast<float>(pair % 256) + static_cast<float>((pair + 1) % 256);
    right = right && output[i] == half * static_cast<float>(1 + i % 2);
  }
  return verdict(right);
}

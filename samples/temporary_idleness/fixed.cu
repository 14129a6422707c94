// SPDX-License-Identifier: Apache-2.0
// The same program, which moves field to the host while it is idle.

#include <vector>

#include "samples/check.h"

__global__ void start(float* field, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) field[i] = static_cast<float>(i % 32);
}

__global__ void work(float* buffer, int n, float step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) buffer[i] = (step == 0.0f ? 0.0f : buffer[i]) + step;
}

__global__ void take_mean(const float* buffer, float* mean) {
  *mean = 0.5f * (buffer[0] + buffer[1]);
}

__global__ void finish(float* field, const float* mean, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) field[i] += *mean;
}

int main() {
  constexpr int kElements = 1 << 20;
  constexpr std::size_t kBytes = kElements * sizeof(float);
  std::vector<float> output(kElements), parked(kElements);

  float* field = nullptr;
  CHECK(cudaMalloc(&field, kBytes));
  start<<<kElements / 256, 256>>>(field, kElements);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(parked.data(), field, kBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(field));

  float* buffer = nullptr;
  CHECK(cudaMalloc(&buffer, 2 * kBytes));
  for (int step = 0; step < 3; ++step) {
    work<<<2 * kElements / 256, 256>>>(buffer, 2 * kElements, static_cast<float>(step));
  }
  float* mean = nullptr;
  CHECK(cudaMalloc(&mean, sizeof(float)));
  take_mean<<<1, 1>>>(buffer, mean);
  CHECK(cudaFree(buffer));

  CHECK(cudaMalloc(&field, kBytes));
  CHECK(cudaMemcpy(field, parked.data(), kBytes, cudaMemcpyHostToDevice));
  finish<<<kElements / 256, 256>>>(field, mean, kElements);
  CHECK(cudaMemcpy(output.data(), field, kBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(mean));
  CHECK(cudaFree(field));

  bool right = true;
  for (int i = 0; i < kElements; ++i)
    right = right && output[i] == static_cast<float>(i % 32) + 3.0f;
  return verdict(right);
}

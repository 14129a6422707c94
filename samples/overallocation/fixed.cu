// SPDX-License-Identifier: Apache-2.0
// The same program with room for the particles that there are.

#include <vector>

#include "samples/check.h"

__global__ void place(float* positions, int particles) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < particles) positions[i] = static_cast<float>(i % 64);
}

__global__ void move(float* positions, int particles) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < particles) positions[i] += 0.5f;
}

int main() {
  constexpr int kParticles = 100'000;
  constexpr std::size_t kRoom = kParticles;
  std::vector<float> output(kParticles);

  float* positions = nullptr;
  CHECK(cudaMalloc(&positions, kRoom * sizeof(float)));
  place<<<(kParticles + 255) / 256, 256>>>(positions, kParticles);
  move<<<(kParticles + 255) / 256, 256>>>(positions, kParticles);
  CHECK(cudaMemcpy(output.data(), positions, kParticles * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(positions));

  bool right = true;
  for (int i = 0; i < kParticles; ++i)
    right = right && output[i] == static_cast<float>(i % 64) + 0.5f;
  return verdict(right);
}

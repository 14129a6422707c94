// SPDX-License-Identifier: Apache-2.0
// The same program with room for one slice.

#include <vector>

#include "samples/check.h"

__global__ void brighten(float* frame, int pixels) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < pixels) frame[i] = 2.0f * frame[i] + 1.0f;
}

int main() {
  constexpr int kFrames = 8;
  constexpr int kPixels = 1 << 16;
  constexpr std::size_t kFrameBytes = kPixels * sizeof(float);
  std::vector<float> video(kFrames * kPixels);
  for (int i = 0; i < kFrames * kPixels; ++i)
    video[i] = static_cast<float>(i % 100);

  float* frames = nullptr;
  CHECK(cudaMalloc(&frames, kFrameBytes));
  for (int frame = 0; frame < kFrames; ++frame) {
    float* host = &video[frame * kPixels];
    float* device = frames;
    CHECK(cudaMemcpy(device, host, kFrameBytes, cudaMemcpyHostToDevice));
    brighten<<<kPixels / 256, 256>>>(device, kPixels);
    CHECK(cudaMemcpy(host, device, kFrameBytes, cudaMemcpyDeviceToHost));
  }
  CHECK(cudaFree(frames));

  bool right = true;
  for (int i = 0; i < kFrames * kPixels; ++i)
    right = right && video[i] == 2.0f * static_cast<float>(i % 100) + 1.0f;
  return verdict(right);
}

// SPDX-License-Identifier: Apache-2.0
// A five-point stencil on pitched grids with a halo: the corners are never read, the halo of the
// output never written, and the rows' padding never touched. Nothing of that is waste.

#include <utility>
#include <vector>

#include "samples/check.h"

constexpr int kWidth = 100;  // with the halo: 400 bytes of a 512-byte pitch
constexpr int kHeight = 62;

__global__ void start(float* grid, std::size_t pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y;
  if (x >= kWidth) return;
  const bool edge = x == 0 || y == 0 || x == kWidth - 1 || y == kHeight - 1;
  grid[y * pitch + x] = edge ? 1.0f : 0.0f;
}

__global__ void relax(const float* from, float* to, std::size_t pitch) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
  const int y = blockIdx.y + 1;
  if (x >= kWidth - 1) return;
  const std::size_t at = y * pitch + x;
  to[at] = 0.25f * (from[at - 1] + from[at + 1] + from[at - pitch] + from[at + pitch]);
}

int main() {
  constexpr std::size_t kRowBytes = kWidth * sizeof(float);
  float *a = nullptr, *b = nullptr;
  std::size_t pitch = 0;
  CHECK(cudaMallocPitch(&a, &pitch, kRowBytes, kHeight));
  CHECK(cudaMallocPitch(&b, &pitch, kRowBytes, kHeight));
  start<<<dim3(1, kHeight), 128>>>(a, pitch / sizeof(float));
  start<<<dim3(1, kHeight), 128>>>(b, pitch / sizeof(float));
  for (int step = 0; step < 4; ++step) {
    relax<<<dim3(1, kHeight - 2), 128>>>(a, b, pitch / sizeof(float));
    std::swap(a, b);
  }
  std::vector<float> output(kWidth * kHeight);
  CHECK(cudaMemcpy2D(output.data(), kRowBytes, a, pitch, kRowBytes, kHeight,
                     cudaMemcpyDeviceToHost));
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));

  std::vector<float> grid(kWidth * kHeight), next;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x)
      grid[y * kWidth + x] = x == 0 || y == 0 || x == kWidth - 1 || y == kHeight - 1 ? 1.0f : 0.0f;
  }
  for (int step = 0; step < 4; ++step) {
    next = grid;
    for (int y = 1; y < kHeight - 1; ++y) {
      for (int x = 1; x < kWidth - 1; ++x) {
        const int at = y * kWidth + x;
        next[at] = 0.25f * (grid[at - 1] + grid[at + 1] + grid[at - kWidth] + grid[at + kWidth]);
      }
    }
    grid = next;
  }
  return verdict(output == grid);
}

// SPDX-License-Identifier: Apache-2.0
// The same program with room for what the two touch together; each alone leaves three eighths out.

#include <vector>

#include "samples/check.h"

// Adds to `count` bins from `first` on.
__global__ void collect(int* bins, int first, int count, int samples) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < samples) atomicAdd(&bins[first + i % count], 1);
}

int main() {
  constexpr int kBins = 1 << 12;
  constexpr int kPart = kBins / 8 * 5;
  constexpr int kSamples = kPart * 32;
  constexpr std::size_t kBytes = kBins * sizeof(int);
  std::vector<int> output(kBins);

  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams)
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int* bins = nullptr;
  CHECK(cudaMalloc(&bins, kBytes));
  CHECK(cudaMemset(bins, 0, kBytes));
  CHECK(cudaDeviceSynchronize());
  collect<<<kSamples / 256, 256, 0, streams[0]>>>(bins, 0, kPart, kSamples);
  collect<<<kSamples / 256, 256, 0, streams[1]>>>(bins, kBins - kPart, kPart, kSamples);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(output.data(), bins, kBins * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(bins));
  for (cudaStream_t stream : streams)
    CHECK(cudaStreamDestroy(stream));

  bool right = true;
  for (int i = 0; i < kBins; ++i) {
    const int kernels = (i < kPart ? 1 : 0) + (i >= kBins - kPart ? 1 : 0);
    right = right && output[i] == 32 * kernels;
  }
  return verdict(right);
}

// SPDX-License-Identifier: Apache-2.0
// Allocates ten times the bytes that it touches, an odd number of them, one byte at a time.

#include <vector>

#include "samples/check.h"

__global__ void fill(unsigned char* bytes, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) bytes[i] = static_cast<unsigned char>(i % 251);
}

int main() {
  constexpr int kTouched = 100'003;
  std::vector<unsigned char> output(kTouched);
  unsigned char* bytes = nullptr;
  CHECK(cudaMalloc(&bytes, 10 * kTouched));
  fill<<<(kTouched + 255) / 256, 256>>>(bytes, kTouched);
  CHECK(cudaMemcpy(output.data(), bytes, kTouched, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(bytes));
  bool right = true;
  for (int i = 0; i < kTouched; ++i)
    right = right && output[i] == i % 251;
  return verdict(right);
}

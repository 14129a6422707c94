// SPDX-License-Identifier: Apache-2.0
// c = a + b, as everybody writes it first. There is nothing to find here.

#include <vector>

#include "samples/check.h"

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  constexpr int kElements = 1 << 20;
  constexpr std::size_t kBytes = kElements * sizeof(float);
  std::vector<float> a(kElements), b(kElements), c(kElements);
  for (int i = 0; i < kElements; ++i) {
    a[i] = static_cast<float>(i % 1000);
    b[i] = static_cast<float>(i % 77);
  }

  float* d_a = nullptr;
  float* d_b = nullptr;
  float* d_c = nullptr;
  CHECK(cudaMalloc(&d_a, kBytes));
  CHECK(cudaMalloc(&d_b, kBytes));
  CHECK(cudaMalloc(&d_c, kBytes));
  CHECK(cudaMemcpy(d_a, a.data(), kBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_b, b.data(), kBytes, cudaMemcpyHostToDevice));
  add<<<kElements / 256, 256>>>(d_a, d_b, d_c, kElements);
  CHECK(cudaMemcpy(c.data(), d_c, kBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(d_a));
  CHECK(cudaFree(d_b));
  CHECK(cudaFree(d_c));

  bool right = true;
  for (int i = 0; i < kElements; ++i)
    right = right && c[i] == a[i] + b[i];
  return verdict(right);
}

// SPDX-License-Identifier: Apache-2.0
// The same program with raw freed after its last reader.

#include <vector>

#include "samples/check.h"

constexpr int kRows = 4096;
constexpr int kColumns = 256;

__global__ void reduce_rows(const float* raw, float* sums) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= kRows) return;
  float sum = 0.0f;
  for (int column = 0; column < kColumns; ++column)
    sum += raw[column * kRows + row];
  sums[row] = sum;
}

__global__ void expand(const float* sums, float* wide, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) wide[i] = sums[i % kRows] + static_cast<float>(i / kRows);
}

int main() {
  constexpr int kElements = kRows * kColumns;
  constexpr std::size_t kRawBytes = kElements * sizeof(float);
  constexpr std::size_t kWideBytes = 2 * kRawBytes;
  std::vector<float> input(kElements), output(2 * kElements);
  for (int i = 0; i < kElements; ++i)
    input[i] = static_cast<float>(i % 16);

  float* raw = nullptr;
  float* sums = nullptr;
  CHECK(cudaMalloc(&raw, kRawBytes));
  CHECK(cudaMalloc(&sums, kRows * sizeof(float)));
  CHECK(cudaMemcpy(raw, input.data(), kRawBytes, cudaMemcpyHostToDevice));
  reduce_rows<<<kRows / 256, 256>>>(raw, sums);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(raw));

  float* wide = nullptr;
  CHECK(cudaMalloc(&wide, kWideBytes));
  expand<<<2 * kElements / 256, 256>>>(sums, wide, 2 * kElements);
  CHECK(cudaMemcpy(output.data(), wide, kWideBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(sums));
  CHECK(cudaFree(wide));

  bool right = true;
  for (int i = 0; i < 2 * kElements; ++i) {
    const float sum = static_cast<float>(i % kRows % 16) * kColumns;
    right = right && output[i] == sum + static_cast<float>(i / kRows);
  }
  return verdict(right);
}

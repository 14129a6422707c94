// SPDX-License-Identifier: Apache-2.0
// Dead write: table is cleared and then wholly overwritten by an upload before anything reads it.

#include <vector>

#include "samples/check.h"

__global__ void look_up(const int* table, int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = table[values[i]];
}

int main() {
  constexpr int kElements = 1 << 20;
  constexpr std::size_t kBytes = kElements * sizeof(int);
  std::vector<int> squares(kElements), output(kElements);
  for (int i = 0; i < kElements; ++i)
    squares[i] = (i % 1000) * (i % 1000);
  std::vector<int> places(kElements);
  for (int i = 0; i < kElements; ++i)
    places[i] = kElements - 1 - i;

  int* table = nullptr;
  int* values = nullptr;
  CHECK(cudaMalloc(&table, kBytes));
  CHECK(cudaMalloc(&values, kBytes));
  CHECK(cudaMemset(table, 0, kBytes));  // dead: the next line writes the same bytes
  CHECK(cudaMemcpy(table, squares.data(), kBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(values, places.data(), kBytes, cudaMemcpyHostToDevice));
  look_up<<<kElements / 256, 256>>>(table, values, kElements);
  CHECK(cudaMemcpy(output.data(), values, kBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaFree(table));
  CHECK(cudaFree(values));

  bool right = true;
  for (int i = 0; i < kElements; ++i)
    right = right && output[i] == squares[kElements - 1 - i];
  return verdict(right);
}

// SPDX-License-Identifier: Apache-2.0
// The same program with the table of each round freed.

#include <vector>

#include "samples/check.h"

__global__ void fill(int* table, int n, int round, int* total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  table[i] = i * round;
  if (i == 0 || i == n - 1) atomicAdd(total, table[i]);
}

void add_round(int round, int n, int* total) {
  int* table = nullptr;
  CHECK(cudaMalloc(&table, n * sizeof(int)));
  fill<<<(n + 255) / 256, 256>>>(table, n, round, total);
  CHECK(cudaFree(table));
}

int main() {
  constexpr int kElements = 1 << 18;
  constexpr int kRounds = 3;

  int* total = nullptr;
  CHECK(cudaMalloc(&total, sizeof(int)));
  CHECK(cudaMemset(total, 0, sizeof(int)));
  for (int round = 1; round <= kRounds; ++round)
    add_round(round, kElements, total);
  int answer = 0;
  CHECK(cudaMemcpy(&answer, total, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK(cudaFree(total));

  return verdict(answer == (1 + 2 + 3) * (kElements - 1));
}

// SPDX-License-Identifier: Apache-2.0
// A program that says by drgpum.h what it does: a pool in a pool, named blocks, phases, iterations.

#include "profiler/api/drgpum.h"
#include "samples/check.h"

__global__ void fill(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) values[i] = i;
}

int main() {
  constexpr int kBlock = 4096;  // bytes
  drgpum_phase all("all");
  char* base = nullptr;
  CHECK(cudaMalloc(&base, 8 * kBlock));
  drgpum_name(base, "base");
  drgpum_pool(base + 2 * kBlock, 4 * kBlock, "arena");
  for (int step = 0; step < 2; ++step) {
    drgpum_iteration(step == 0 ? "0" : "1");
    const drgpum_phase phase("forward");
    char* block = base + (2 + step) * kBlock;
    drgpum_alloc(block, kBlock, "activations");
    if (step == 1) drgpum_stop();
    fill<<<kBlock / 1024, 256>>>(reinterpret_cast<int*>(block), kBlock / 4);
    if (step == 1) drgpum_start();
    drgpum_mark("launched");
    drgpum_free(block);
  }
  drgpum_alloc(base + 3 * kBlock, kBlock, "left over");
  drgpum_pool_end(base + 2 * kBlock);
  CHECK(cudaFree(base));
  return 0;
}

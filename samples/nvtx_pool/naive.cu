// SPDX-License-Identifier: Apache-2.0
// Tensors in a pool, told of by NVTX: "workspace" is taken before the first layer and used by the
// last one alone, "mask" is never used at all. At the level of allocations there is one object, the
// pool, and nothing to say about it.

#include <vector>

#include "samples/nvtx_pool/pool.h"

__global__ void scale(const float* in, float* out, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i];
}

int main() {
  constexpr int kElements = 1 << 18;
  constexpr std::size_t kBytes = kElements * sizeof(float);
  std::vector<float> input(kElements, 3.0f), result(kElements);

  Pool pool(4 * kBytes);
  float* mask = pool.take(kBytes, "mask");
  float* workspace = pool.take(kBytes, "workspace");
  float* in = pool.take(kBytes, "input");
  float* hidden = pool.take(kBytes, "hidden");
  CHECK(cudaMemcpy(in, input.data(), kBytes, cudaMemcpyHostToDevice));
  scale<<<kElements / 256, 256>>>(in, hidden, 2.0f, kElements);
  scale<<<kElements / 256, 256>>>(hidden, in, 5.0f, kElements);
  scale<<<kElements / 256, 256>>>(in, workspace, 7.0f, kElements);
  CHECK(cudaMemcpy(result.data(), workspace, kBytes, cudaMemcpyDeviceToHost));
  pool.give_back(hidden);
  pool.give_back(in);
  pool.give_back(workspace);
  pool.give_back(mask);

  bool right = true;
  for (float value : result)
    right = right && value == 3.0f * 2 * 5 * 7;
  return verdict(right);
}

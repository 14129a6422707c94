// SPDX-License-Identifier: Apache-2.0
// Tensors of a caching allocator: the activation is kept although the loss no longer needs it, and
// the statistics are used on a second stream, so their block is free only when that stream is done.

#include <vector>

#include "samples/caching_allocator/allocator.h"

__global__ void scale(const float* in, float* out, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = factor * in[i];
}

int main() {
  constexpr int kElements = 1 << 17;
  constexpr std::size_t kBytes = kElements * sizeof(float);
  std::vector<float> input(kElements, 3.0f), result(kElements);
  CachingAllocator allocator;
  cudaStream_t side;
  CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));

  float* batch = allocator.take(kBytes);
  CHECK(cudaMemcpy(batch, input.data(), kBytes, cudaMemcpyHostToDevice));
  float* activation = allocator.take(kBytes);
  scale<<<kElements / 256, 256>>>(batch, activation, 2.0f, kElements);
  float* loss = allocator.take(kBytes);
  scale<<<kElements / 256, 256>>>(activation, loss, 5.0f, kElements);

  CHECK(cudaDeviceSynchronize());
  float* statistics = allocator.take(kBytes);
  allocator.record_stream(statistics, side);
  scale<<<kElements / 256, 256, 0, side>>>(loss, statistics, 1.0f, kElements);
  allocator.give_back(statistics);

  scale<<<kElements / 256, 256>>>(loss, batch, 7.0f, kElements);
  float* gradient = allocator.take(kBytes);
  scale<<<kElements / 256, 256>>>(batch, gradient, 1.0f, kElements);
  CHECK(cudaMemcpy(result.data(), gradient, kBytes, cudaMemcpyDeviceToHost));
  allocator.give_back(activation);
  allocator.give_back(gradient);
  allocator.give_back(loss);
  allocator.give_back(batch);
  allocator.empty();
  CHECK(cudaStreamDestroy(side));

  bool right = reports_received() == allocator.reports();
  for (float value : result)
    right = right && value == 3.0f * 2 * 5 * 7;
  return verdict(right);
}

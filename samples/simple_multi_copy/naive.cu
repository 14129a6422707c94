// SPDX-License-Identifier: Apache-2.0
// The double-buffered four-stream copy pipeline that many programs start from. First the whole
// array goes through one stream, as a reference; then it goes through four streams in chunks, so
// that copies in both directions and kernels overlap. What holds the memory: the reference's two
// buffers stay allocated through the pipeline.

#include "samples/check.h"

constexpr int kStreams = 4;
constexpr int kChunks = 8;
constexpr int kElements = 1 << 22;
constexpr int kChunkElements = kElements / kChunks;
constexpr std::size_t kBytes = kElements * sizeof(int);
constexpr std::size_t kChunkBytes = kChunkElements * sizeof(int);

__global__ void increment(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] + 1;
}

bool all_incremented(const int* in, int* out) {
  bool right = true;
  for (int i = 0; i < kElements; ++i) {
    right = right && out[i] == in[i] + 1;
    out[i] = 0;
  }
  return right;
}

bool run_whole(const int* h_in, int* h_out, int* d_whole_in, int* d_whole_out) {
  CHECK(cudaMemcpy(d_whole_in, h_in, kBytes, cudaMemcpyHostToDevice));
  increment<<<kElements / 256, 256>>>(d_whole_in, d_whole_out, kElements);
  CHECK(cudaMemcpy(h_out, d_whole_out, kBytes, cudaMemcpyDeviceToHost));
  return all_incremented(h_in, h_out);
}

bool run_pipeline(const int* h_in, int* h_out) {
  cudaStream_t streams[kStreams];
  int* d_in[kStreams];
  int* d_out[kStreams];
  for (int s = 0; s < kStreams; ++s) {
    CHECK(cudaStreamCreate(&streams[s]));
    CHECK(cudaMalloc(&d_in[s], kChunkBytes));
    CHECK(cudaMalloc(&d_out[s], kChunkBytes));
  }
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const int s = chunk % kStreams;
    const int first = chunk * kChunkElements;
    CHECK(cudaMemcpyAsync(d_in[s], h_in + first, kChunkBytes, cudaMemcpyHostToDevice, streams[s]));
    increment<<<kChunkElements / 256, 256, 0, streams[s]>>>(d_in[s], d_out[s], kChunkElements);
    CHECK(
        cudaMemcpyAsync(h_out + first, d_out[s], kChunkBytes, cudaMemcpyDeviceToHost, streams[s]));
  }
  CHECK(cudaDeviceSynchronize());
  for (int s = 0; s < kStreams; ++s) {
    CHECK(cudaFree(d_in[s]));
    CHECK(cudaFree(d_out[s]));
    CHECK(cudaStreamDestroy(streams[s]));
  }
  return all_incremented(h_in, h_out);
}

int main() {
  int* h_in = nullptr;
  int* h_out = nullptr;
  CHECK(cudaMallocHost(&h_in, kBytes));
  CHECK(cudaMallocHost(&h_out, kBytes));
  for (int i = 0; i < kElements; ++i)
    h_in[i] = i;

  int* d_whole_in = nullptr;
  int* d_whole_out = nullptr;
  CHECK(cudaMalloc(&d_whole_in, kBytes));
  CHECK(cudaMalloc(&d_whole_out, kBytes));
  const bool reference_right = run_whole(h_in, h_out, d_whole_in, d_whole_out);
  const bool pipeline_right = run_pipeline(h_in, h_out);
  CHECK(cudaFree(d_whole_in));
  CHECK(cudaFree(d_whole_out));

  CHECK(cudaFreeHost(h_in));
  CHECK(cudaFreeHost(h_out));
  return verdict(reference_right && pipeline_right);
}

// SPDX-License-Identifier: Apache-2.0
// Launches whose access maps are large, ended in a way that the word says: map_traffic WORD.
//   synchronize  waits for each launch       exit   waits for none
//   reset        resets the device in between, twice
//   threads      four threads at once, each with a stream and objects of its own

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kCount = 1 << 18;
constexpr int kLaunches = 24;

__global__ void add(float* out, const float* in, int part) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kCount / part) out[i] += in[i];
}

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  std::printf("%s\n", cudaGetErrorString(error));
  std::exit(1);
}

void work(bool waits, bool frees) {
  float *in = nullptr, *out = nullptr;
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  check(cudaMalloc(&in, kCount * sizeof(float)));
  check(cudaMalloc(&out, kCount * sizeof(float)));
  check(cudaMemsetAsync(in, 0, kCount * sizeof(float), stream));
  check(cudaMemsetAsync(out, 0, kCount * sizeof(float), stream));
  for (int launch = 0; launch < kLaunches; ++launch) {
    add<<<kCount / 256, 256, 0, stream>>>(out, in, 1 + launch % 3);
    check(cudaGetLastError());
    if (waits) check(cudaStreamSynchronize(stream));
  }
  if (!frees) return;
  check(cudaFree(in));
  check(cudaFree(out));
  check(cudaStreamDestroy(stream));
}

}  // namespace

int main(int, char** arguments) {
  const char* word = arguments[1];
  if (std::strcmp(word, "threads") == 0) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back(work, true, true);
    for (std::thread& thread : threads)
      thread.join();
  } else if (std::strcmp(word, "reset") == 0) {
    for (int i = 0; i < 3; ++i) {
      work(i != 1, i == 0);
      check(cudaDeviceReset());
    }
  } else {
    work(std::strcmp(word, "synchronize") == 0, false);
  }
  std::puts("done");
  return 0;
}

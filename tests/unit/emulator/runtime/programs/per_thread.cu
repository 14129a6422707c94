// SPDX-License-Identifier: Apache-2.0
// Built with --default-stream per-thread: every call without a stream goes to the thread's own.
#include <cstdio>
#include <cstdlib>
#include <thread>

#define OK(call)                                                       \
  do {                                                                 \
    if (const cudaError_t error = (call); error != cudaSuccess) {      \
      std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(error)); \
      std::exit(1);                                                    \
    }                                                                  \
  } while (false)

__global__ void add(int* value, int amount) {
  *value += amount;
}

void work(int* result, int amount) {
  int* device = nullptr;
  OK(cudaMalloc(&device, sizeof(int)));
  OK(cudaMemset(device, 0, sizeof(int)));
  for (int i = 0; i < 10; ++i)
    add<<<1, 1>>>(device, amount);
  OK(cudaMemcpyAsync(result, device, sizeof(int), cudaMemcpyDeviceToHost));
  OK(cudaStreamSynchronize(0));
  cudaEvent_t event;
  OK(cudaEventCreate(&event));
  OK(cudaEventRecord(event));
  OK(cudaEventSynchronize(event));
  OK(cudaEventDestroy(event));
  OK(cudaFree(device));
}

int main() {
  int results[3] = {};
  std::thread threads[3];
  for (int i = 0; i < 3; ++i)
    threads[i] = std::thread(work, &results[i], i + 1);
  for (auto& thread : threads)
    thread.join();
  if (results[0] != 10 || results[1] != 20 || results[2] != 30) return 1;
  std::puts("right");
}

// SPDX-License-Identifier: Apache-2.0
// What nvcc's start-up code and launch stubs need of the runtime: variables of every kind, kernels
// of every spelling, launch errors. Says what is wrong and ends with 1, or prints "right".
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cooperative_groups.h>

#define CHECK(condition)                                  \
  do {                                                    \
    if (!(condition)) {                                   \
      std::printf("line %d: %s\n", __LINE__, #condition); \
      std::exit(1);                                       \
    }                                                     \
  } while (false)
#define OK(call) CHECK((call) == cudaSuccess)

__device__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ float weights[4];
__managed__ int shared_count = 5;
static __device__ int file_local = 40;

struct Pair {
  int first;
  double second;
};

__global__ void many_parameters(char a, short b, Pair c, float d, int* out) {
  out[0] = a + b + c.first;
  out[1] = static_cast<int>(c.second + d);
  out[2] = table[3] + file_local;
  out[3] = static_cast<int>(weights[2]);
  shared_count += 1;
}

template <typename T>
__global__ void twice(T* values) {
  values[threadIdx.x] *= T(2);
}

__global__ void sum_of_block(const int* in, int* out) {
  extern __shared__ int partial[];
  partial[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (unsigned step = blockDim.x / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = partial[0];
}

__global__ void all_blocks(int* counter, int* out) {
  atomicAdd(counter, 1);
  cooperative_groups::this_grid().sync();
  out[blockIdx.x] = *counter;
}

int host_calls = 0;
int next_value() {
  return ++host_calls;
}

void variables() {
  const float values[4] = {10, 20, 30, 40};
  OK(cudaMemcpyToSymbol(weights, values, sizeof values));
  int second = 0;
  OK(cudaMemcpyFromSymbol(&second, table, sizeof second, sizeof second));
  CHECK(second == 2);
  const int hundred = 100;
  OK(cudaMemcpyToSymbol(table, &hundred, sizeof hundred, 3 * sizeof hundred));
  size_t bytes = 0;
  OK(cudaGetSymbolSize(&bytes, table));
  CHECK(bytes == sizeof table);
  void* address = nullptr;
  OK(cudaGetSymbolAddress(&address, table));
  int fourth = 0;
  OK(cudaMemcpy(&fourth, static_cast<int*>(address) + 3, sizeof fourth, cudaMemcpyDeviceToHost));
  CHECK(fourth == 100);
  CHECK(cudaMemcpyToSymbol(table, values, 1000) == cudaErrorInvalidValue);
  CHECK(cudaGetSymbolSize(&bytes, &bytes) == cudaErrorInvalidSymbol);
  CHECK(cudaGetLastError() == cudaErrorInvalidSymbol);
}

void launches() {
  int* out = nullptr;
  OK(cudaMalloc(&out, 64 * sizeof(int)));
  many_parameters<<<1, 1>>>(1, 2, {3, 4.5}, 0.5f, out);
  OK(cudaGetLastError());
  int back[4] = {};
  OK(cudaMemcpy(back, out, sizeof back, cudaMemcpyDeviceToHost));
  CHECK(back[0] == 6 && back[1] == 5 && back[2] == 140 && back[3] == 30);
  CHECK(shared_count == 6);

  int numbers[64];
  for (int i = 0; i < 64; ++i)
    numbers[i] = i;
  int* in = nullptr;
  OK(cudaMalloc(&in, sizeof numbers));
  OK(cudaMemcpy(in, numbers, sizeof numbers, cudaMemcpyHostToDevice));
  cudaStream_t stream;
  OK(cudaStreamCreate(&stream));
  twice<int><<<1, 64, 0, stream>>>(in);
  sum_of_block<<<1, 64, 64 * sizeof(int), stream>>>(in, out);
  int sum = 0;
  OK(cudaMemcpyAsync(&sum, out, sizeof sum, cudaMemcpyDeviceToHost, stream));
  OK(cudaStreamSynchronize(stream));
  CHECK(sum == 64 * 63);
  OK(cudaStreamDestroy(stream));

  // The configuration is evaluated before the arguments, whatever those do.
  twice<float><<<next_value(), 1>>>(reinterpret_cast<float*>(next_value() > 0 ? in : nullptr));
  OK(cudaDeviceSynchronize());
  CHECK(host_calls == 2);
  OK(cudaFree(in));
  OK(cudaFree(out));
}

void errors() {
  int* out = nullptr;
  OK(cudaMalloc(&out, sizeof(int)));
  twice<int><<<1, 4096>>>(out);
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaSuccess);
  twice<int><<<dim3(1, 70000), 1>>>(out);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(std::strcmp(cudaGetErrorName(cudaErrorInvalidConfiguration),
                    "cudaErrorInvalidConfiguration") == 0);
  CHECK(std::strlen(cudaGetErrorString(cudaErrorIllegalAddress)) > 0);
  OK(cudaFree(out));
}

void other_spellings() {
  int* data = nullptr;
  constexpr int kBlocks = 4;
  OK(cudaMalloc(&data, (1 + kBlocks) * sizeof(int)));
  OK(cudaMemset(data, 0, (1 + kBlocks) * sizeof(int)));
  int* results = data + 1;
  void* arguments[] = {&data, &results};
  OK(cudaLaunchCooperativeKernel(all_blocks, dim3(kBlocks), dim3(1), arguments));
  int back[1 + kBlocks] = {};
  OK(cudaMemcpy(back, data, sizeof back, cudaMemcpyDeviceToHost));
  for (int i = 0; i < kBlocks; ++i)
    CHECK(back[1 + i] == kBlocks);

  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1 + kBlocks);
  OK(cudaLaunchKernelEx(&config, twice<int>, data));
  OK(cudaMemcpy(back, data, sizeof back, cudaMemcpyDeviceToHost));
  CHECK(back[0] == 2 * kBlocks && back[kBlocks] == 2 * kBlocks);

  cudaFunction_t function;
  OK(cudaGetFuncBySymbol(&function, reinterpret_cast<const void*>(twice<int>)));
  cudaFuncAttributes attributes;
  OK(cudaFuncGetAttributes(&attributes, sum_of_block));
  CHECK(attributes.binaryVersion > 0 && attributes.maxThreadsPerBlock == 1024);
  int blocks = 0;
  int threads = 0;
  OK(cudaOccupancyMaxPotentialBlockSize(&blocks, &threads, twice<int>));
  CHECK(blocks > 0 && threads % 32 == 0 && threads > 0);
  OK(cudaFuncSetAttribute(sum_of_block, cudaFuncAttributeMaxDynamicSharedMemorySize, 32768));
  OK(cudaFree(data));
}

int main() {
  CHECK(shared_count == 5);  // before any call of the runtime
  variables();
  launches();
  errors();
  other_spellings();
  OK(cudaDeviceReset());
  int* again = nullptr;
  OK(cudaMalloc(&again, sizeof(int)));
  const int seven = 7;
  OK(cudaMemcpy(again, &seven, sizeof seven, cudaMemcpyHostToDevice));
  twice<int><<<1, 1>>>(again);
  int back = 0;
  OK(cudaMemcpy(&back, again, sizeof back, cudaMemcpyDeviceToHost));
  CHECK(back == 14);
  std::puts("right");
}

// SPDX-License-Identifier: Apache-2.0
// Programs for slowdown.py: slowdown_programs NAME runs one of them, sized to take seconds on the
// emulated device, with next to no work on the host.

#include <cstring>
#include <utility>

#include "samples/check.h"

constexpr int kThreads = 256;

float* zeros(std::size_t elements) {
  float* values = nullptr;
  CHECK(cudaMalloc(&values, elements * sizeof(float)));
  CHECK(cudaMemset(values, 0, elements * sizeof(float)));
  return values;
}

__global__ void saxpy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += 2.0f * x[i];
}

void run_saxpy() {
  constexpr int kElements = 1 << 22;
  float *x = zeros(kElements), *y = zeros(kElements);
  for (int step = 0; step < 150; ++step)
    saxpy<<<kElements / kThreads, kThreads>>>(x, y, kElements);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
}

__global__ void multiply(const float* a, const float* b, float* c, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  float sum = 0.0f;
  for (int k = 0; k < n; ++k)
    sum += a[i * n + k] * b[k * n + j];
  c[i * n + j] = sum;
}

void run_gemm() {
  constexpr int kN = 1024;
  float *a = zeros(kN * kN), *b = zeros(kN * kN), *c = zeros(kN * kN);
  multiply<<<dim3(kN / 32, kN / 8), dim3(32, 8)>>>(a, b, c, kN);
  multiply<<<dim3(kN / 32, kN / 8), dim3(32, 8)>>>(a, c, b, kN);
  CHECK(cudaDeviceSynchronize());
  for (float* matrix : {a, b, c})
    CHECK(cudaFree(matrix));
}

__global__ void tiled_multiply(const float* a, const float* b, float* c, int n) {
  __shared__ float left[16][16], right[16][16];
  const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
  float sum = 0.0f;
  for (int tile = 0; tile < n; tile += 16) {
    left[threadIdx.y][threadIdx.x] = a[i * n + tile + threadIdx.x];
    right[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + j];
    __syncthreads();
    for (int k = 0; k < 16; ++k)
      sum += left[threadIdx.y][k] * right[k][threadIdx.x];
    __syncthreads();
  }
  c[i * n + j] = sum;
}

void run_tiled_gemm() {
  constexpr int kN = 1024;
  float *a = zeros(kN * kN), *b = zeros(kN * kN), *c = zeros(kN * kN);
  tiled_multiply<<<dim3(kN / 16, kN / 16), dim3(16, 16)>>>(a, b, c, kN);
  CHECK(cudaDeviceSynchronize());
  for (float* matrix : {a, b, c})
    CHECK(cudaFree(matrix));
}

__global__ void relax(const float* from, float* to, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x == 0 || y == 0 || x >= n - 1 || y >= n - 1) return;
  const int at = y * n + x;
  to[at] = 0.25f * (from[at - 1] + from[at + 1] + from[at - n] + from[at + n]);
}

void run_stencil() {
  constexpr int kN = 1024;
  float *a = zeros(kN * kN), *b = zeros(kN * kN);
  for (int step = 0; step < 250; ++step, std::swap(a, b))
    relax<<<dim3(kN / kThreads, kN), kThreads>>>(a, b, kN);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
}

__global__ void gather(const float* table, float* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  values[i] += table[(i * 40503u + 12345u) % static_cast<unsigned>(n)];
}

void run_gather() {
  constexpr int kElements = 1 << 20;
  float *table = zeros(kElements), *values = zeros(kElements);
  for (int step = 0; step < 120; ++step)
    gather<<<kElements / kThreads, kThreads>>>(table, values, kElements);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(table));
  CHECK(cudaFree(values));
}

// A kernel over little data, launched very often.
void run_launches() {
  constexpr int kElements = 1 << 16;
  float *x = zeros(kElements), *y = zeros(kElements);
  for (int step = 0; step < 4000; ++step)
    saxpy<<<kElements / kThreads, kThreads>>>(x, y, kElements);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
}

int main(int argc, char** argv) {
  const std::pair<const char*, void (*)()> programs[] = {
      {"saxpy", run_saxpy},     {"gemm", run_gemm},     {"tiled_gemm", run_tiled_gemm},
      {"stencil", run_stencil}, {"gather", run_gather}, {"launches", run_launches}};
  for (const auto& [name, program] : programs) {
    if (argc != 2 || std::strcmp(argv[1], name) != 0) continue;
    program();
    return 0;
  }
  return 2;
}

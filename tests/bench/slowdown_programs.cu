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
  for (int step = 0; step < 200; ++step)
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
  for (int step = 0; step < 4; ++step, std::swap(b, c))
    multiply<<<dim3(kN / 32, kN / 8), dim3(32, 8)>>>(a, b, c, kN);
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
  for (int step = 0; step < 2; ++step, std::swap(b, c))
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
  for (int step = 0; step < 400; ++step, std::swap(a, b))
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
  for (int step = 0; step < 320; ++step)
    gather<<<kElements / kThreads, kThreads>>>(table, values, kElements);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(table));
  CHECK(cudaFree(values));
}

// Columns are written: each lane of a warp in a row of its own.
__global__ void transpose(const float* from, float* to, int n) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  to[x * n + y] = from[y * n + x];
}

void run_transpose() {
  constexpr int kN = 2048;
  float *a = zeros(kN * kN), *b = zeros(kN * kN);
  for (int step = 0; step < 80; ++step, std::swap(a, b))
    transpose<<<dim3(kN / 32, kN / 8), dim3(32, 8)>>>(a, b, kN);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(a));
  CHECK(cudaFree(b));
}

// Each thread sums a run of its own, so that lanes are a run apart; then the block's tree.
__global__ void reduce(const float* values, float* sums, int run) {
  __shared__ float partial[kThreads];
  const std::size_t first = (std::size_t{blockIdx.x} * kThreads + threadIdx.x) * run;
  float sum = 0.0f;
  for (int i = 0; i < run; ++i)
    sum += values[first + i];
  partial[threadIdx.x] = sum;
  for (int half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}

void run_reduce() {
  constexpr int kElements = 1 << 22, kRun = 64, kBlocks = kElements / kRun / kThreads;
  float *values = zeros(kElements), *sums = zeros(kBlocks);
  for (int step = 0; step < 350; ++step)
    reduce<<<kBlocks, kThreads>>>(values, sums, kRun);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(values));
  CHECK(cudaFree(sums));
}

__global__ void histogram(const unsigned* values, unsigned* bins, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[(values[i] + i * 2654435761u) >> 24], 1u);
}

void run_histogram() {
  constexpr int kElements = 1 << 20;
  auto* values = reinterpret_cast<unsigned*>(zeros(kElements));
  auto* bins = reinterpret_cast<unsigned*>(zeros(256));
  for (int step = 0; step < 330; ++step)
    histogram<<<kElements / kThreads, kThreads>>>(values, bins, kElements);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(values));
  CHECK(cudaFree(bins));
}

__global__ void fill_rows(int* starts, int* columns, int rows, int most) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  starts[row] = row * most;
  for (int i = 0; i < most; ++i)
    columns[row * most + i] = static_cast<int>((row * 48271u + i * 40503u) % rows);
}

// A sparse matrix by rows, one thread a row, of 1 to `most` entries.
__global__ void multiply_sparse(const int* starts, const int* columns, const double* entries,
                                const double* x, double* y, int most) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  const int first = starts[row], count = 1 + row % most;
  double sum = 0.0;
  for (int i = first; i < first + count; ++i)
    sum += entries[i] * x[columns[i]];
  y[row] = sum;
}

void run_sparse() {
  constexpr int kRows = 1 << 17, kMost = 16;
  auto* starts = reinterpret_cast<int*>(zeros(kRows));
  auto* columns = reinterpret_cast<int*>(zeros(kRows * kMost));
  auto* entries = reinterpret_cast<double*>(zeros(2 * kRows * kMost));
  auto *x = reinterpret_cast<double*>(zeros(2 * kRows)), *y = reinterpret_cast<double*>(zeros(2 * kRows));
  fill_rows<<<kRows / kThreads, kThreads>>>(starts, columns, kRows, kMost);
  for (int step = 0; step < 120; ++step)
    multiply_sparse<<<kRows / kThreads, kThreads>>>(starts, columns, entries, x, y, kMost);
  CHECK(cudaDeviceSynchronize());
  for (void* values : {static_cast<void*>(starts), static_cast<void*>(columns), static_cast<void*>(entries),
                       static_cast<void*>(x), static_cast<void*>(y)})
    CHECK(cudaFree(values));
}

// A kernel over little data, launched very often.
void run_launches() {
  constexpr int kElements = 1 << 16;
  float *x = zeros(kElements), *y = zeros(kElements);
  for (int step = 0; step < 10000; ++step)
    saxpy<<<kElements / kThreads, kThreads>>>(x, y, kElements);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
}

__global__ void dot(const float* a, const float* b, float* result, int n) {
  float sum = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    sum += a[i] * b[i];
  for (int offset = 16; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(result, sum);
}

// A solver's steps: three kernels, each launched very often.
void run_solver() {
  constexpr int kN = 256, kElements = kN * kN;
  float *x = zeros(kElements), *r = zeros(kElements), *p = zeros(kElements), *sum = zeros(1);
  for (int step = 0; step < 2600; ++step) {
    relax<<<dim3(kN / kThreads, kN), kThreads>>>(p, r, kN);
    dot<<<32, kThreads>>>(p, r, sum, kElements);
    saxpy<<<kElements / kThreads, kThreads>>>(r, x, kElements);
  }
  CHECK(cudaDeviceSynchronize());
  for (float* vector : {x, r, p, sum})
    CHECK(cudaFree(vector));
}

int main(int argc, char** argv) {
  const std::pair<const char*, void (*)()> programs[] = {
      {"saxpy", run_saxpy},         {"gemm", run_gemm},           {"tiled_gemm", run_tiled_gemm},
      {"stencil", run_stencil},     {"gather", run_gather},       {"transpose", run_transpose},
      {"reduce", run_reduce},       {"histogram", run_histogram}, {"sparse", run_sparse},
      {"launches", run_launches},   {"solver", run_solver}};
  for (const auto& [name, program] : programs) {
    if (argc != 2 || std::strcmp(argv[1], name) != 0) continue;
    program();
    return 0;
  }
  return 2;
}

// SPDX-License-Identifier: Apache-2.0
// Modified Gram-Schmidt: A = Q R, a column of Q and a row of R at each step. R is written a row at
// a time (unequal parts: row k from its diagonal), Q a column at a time.

#include "tests/e2e/programs/matrices.h"

__global__ void norm_of_column(const float* a, float* r, int k) {
  if (blockIdx.x * blockDim.x + threadIdx.x != 0) return;
  float sum = 0.0f;
  for (int i = 0; i < kN; ++i)
    sum += a[i * kN + k] * a[i * kN + k];
  r[k * kN + k] = sqrtf(sum);
}

__global__ void normalise_column(const float* a, const float* r, float* q, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kN) q[i * kN + k] = a[i * kN + k] / r[k * kN + k];
}

__global__ void remove_column(float* a, float* r, const float* q, int k) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j <= k || j >= kN) return;
  float dot = 0.0f;
  for (int i = 0; i < kN; ++i)
    dot += q[i * kN + k] * a[i * kN + j];
  r[k * kN + j] = dot;
  for (int i = 0; i < kN; ++i)
    a[i * kN + j] -= q[i * kN + k] * dot;
}

int main() {
  Matrix a = made_matrix(1);
  for (int i = 0; i < kN; ++i)
    a[i * kN + i] += 4.0f;  // columns far from dependent

  float *d_a, *d_r, *d_q;
  for (float** pointer : {&d_a, &d_r, &d_q})
    CHECK(cudaMalloc(pointer, kMatrixBytes));
  CHECK(cudaMemcpy(d_a, a.data(), kMatrixBytes, cudaMemcpyHostToDevice));
  for (int k = 0; k < kN; ++k) {
    norm_of_column<<<1, 256>>>(d_a, d_r, k);
    CHECK(cudaDeviceSynchronize());
    normalise_column<<<1, 256>>>(d_a, d_r, d_q, k);
    CHECK(cudaDeviceSynchronize());
    remove_column<<<1, 256>>>(d_a, d_r, d_q, k);
    CHECK(cudaDeviceSynchronize());
  }
  Matrix remainder(kN * kN);
  CHECK(cudaMemcpy(remainder.data(), d_a, kMatrixBytes, cudaMemcpyDeviceToHost));
  for (float* pointer : {d_a, d_r, d_q})
    CHECK(cudaFree(pointer));

  // What is left of column j is orthogonal to what is left of every earlier column.
  bool right = true;
  for (int j = 0; j < kN; ++j) {
    for (int k = 0; k < j; ++k) {
      float dot = 0.0f, left = 0.0f, other = 0.0f;
      for (int i = 0; i < kN; ++i) {
        dot += remainder[i * kN + j] * remainder[i * kN + k];
        left += remainder[i * kN + j] * remainder[i * kN + j];
        other += remainder[i * kN + k] * remainder[i * kN + k];
      }
      right = right && std::fabs(dot) < 1e-2f * std::sqrt(left * other);
    }
  }
  return verdict(right);
}

// SPDX-License-Identifier: Apache-2.0
// s = transposed(A) r and q = A p, in two kernels, with everything allocated first and freed last.

#include "tests/e2e/programs/matrices.h"

constexpr std::size_t kVectorBytes = kN * sizeof(float);
constexpr int kThreads = kN < 256 ? kN : 256;

__global__ void transposed_times(const float* a, const float* r, float* s) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= kN) return;
  s[j] = 0.0f;
  for (int i = 0; i < kN; ++i)
    s[j] += a[i * kN + j] * r[i];
}

__global__ void times(const float* a, const float* p, float* q) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kN) return;
  q[i] = 0.0f;
  for (int j = 0; j < kN; ++j)
    q[i] += a[i * kN + j] * p[j];
}

int main() {
  const Matrix a = made_matrix(1);
  Matrix r(kN), p(kN), s(kN, 0.0f), q(kN, 0.0f);
  for (int i = 0; i < kN; ++i) {
    r[i] = static_cast<float>(i % 5);
    p[i] = static_cast<float>(i % 3);
  }

  float *d_a, *d_r, *d_s, *d_p, *d_q;
  CHECK(cudaMalloc(&d_a, kMatrixBytes));
  for (float** pointer : {&d_r, &d_s, &d_p, &d_q})
    CHECK(cudaMalloc(pointer, kVectorBytes));
  CHECK(cudaMemcpy(d_a, a.data(), kMatrixBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_r, r.data(), kVectorBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_s, s.data(), kVectorBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_p, p.data(), kVectorBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_q, q.data(), kVectorBytes, cudaMemcpyHostToDevice));
  transposed_times<<<kN / kThreads, kThreads>>>(d_a, d_r, d_s);
  CHECK(cudaDeviceSynchronize());
  times<<<kN / kThreads, kThreads>>>(d_a, d_p, d_q);
  CHECK(cudaDeviceSynchronize());
  CHECK(cudaMemcpy(s.data(), d_s, kVectorBytes, cudaMemcpyDeviceToHost));
  CHECK(cudaMemcpy(q.data(), d_q, kVectorBytes, cudaMemcpyDeviceToHost));
  for (float* pointer : {d_a, d_r, d_s, d_p, d_q})
    CHECK(cudaFree(pointer));

  Matrix expected_s(kN, 0.0f), expected_q(kN, 0.0f);
  for (int i = 0; i < kN; ++i) {
    for (int j = 0; j < kN; ++j) {
      expected_s[j] += a[i * kN + j] * r[i];
      expected_q[i] += a[i * kN + j] * p[j];
    }
  }
  return verdict(near(s, expected_s) && near(q, expected_q));
}

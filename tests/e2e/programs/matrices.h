// SPDX-License-Identifier: Apache-2.0
#pragma once
// Square matrices on host and device for the programs of this folder, and the check of their
// results.

#include <cmath>
#include <vector>

#include "samples/check.h"

#ifndef MATRIX_ROWS
#define MATRIX_ROWS 64
#endif

constexpr int kN = MATRIX_ROWS;  // rows and columns
constexpr std::size_t kMatrixBytes = std::size_t{kN} * kN * sizeof(float);

using Matrix = std::vector<float>;

inline Matrix made_matrix(int seed) {
  Matrix matrix(kN * kN);
  for (int i = 0; i < kN * kN; ++i)
    matrix[i] = static_cast<float>((i * 7 + seed * 13) % 11) / 8.0f;
  return matrix;
}

inline float* on_device(const Matrix& matrix) {
  float* device = nullptr;
  CHECK(cudaMalloc(&device, kMatrixBytes));
  CHECK(cudaMemcpy(device, matrix.data(), kMatrixBytes, cudaMemcpyHostToDevice));
  return device;
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(kN * kN, 0.0f);
  for (int i = 0; i < kN; ++i) {
    for (int k = 0; k < kN; ++k) {
      for (int j = 0; j < kN; ++j)
        c[i * kN + j] += a[i * kN + k] * b[k * kN + j];
    }
  }
  return c;
}

inline bool near(const Matrix& found, const Matrix& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (std::fabs(found[i] - expected[i]) > 1e-3f * (1.0f + std::fabs(expected[i]))) return false;
  }
  return true;
}

__global__ void multiply(const float* a, const float* b, float* c) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= kN || j >= kN) return;
  float sum = 0.0f;
  for (int k = 0; k < kN; ++k)
    sum += a[i * kN + k] * b[k * kN + j];
  c[i * kN + j] = sum;
}

inline void launch_multiply(const float* a, const float* b, float* c) {
  multiply<<<dim3(kN / 32, kN / 8), dim3(32, 8)>>>(a, b, c);
  CHECK(cudaDeviceSynchronize());
}

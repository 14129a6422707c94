// SPDX-License-Identifier: Apache-2.0
// E = (A B) D with everything allocated and uploaded first and freed last, outputs included.

#include "tests/e2e/programs/matrices.h"

int main() {
  const Matrix a = made_matrix(1), b = made_matrix(2), d = made_matrix(3), zero(kN * kN, 0.0f);
  float *d_a, *d_b, *d_c, *d_d, *d_e;
  for (float** pointer : {&d_a, &d_b, &d_c, &d_d, &d_e})
    CHECK(cudaMalloc(pointer, kMatrixBytes));
  CHECK(cudaMemcpy(d_a, a.data(), kMatrixBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_b, b.data(), kMatrixBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_c, zero.data(), kMatrixBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_d, d.data(), kMatrixBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_e, zero.data(), kMatrixBytes, cudaMemcpyHostToDevice));

  launch_multiply(d_a, d_b, d_c);
  launch_multiply(d_c, d_d, d_e);

  Matrix e(kN * kN);
  CHECK(cudaMemcpy(e.data(), d_e, kMatrixBytes, cudaMemcpyDeviceToHost));
  for (float* pointer : {d_a, d_b, d_c, d_d, d_e})
    CHECK(cudaFree(pointer));
  return verdict(near(e, product(product(a, b), d)));
}

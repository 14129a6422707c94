// SPDX-License-Identifier: Apache-2.0
// G = (A B) (C D) with everything allocated and uploaded first and freed last, outputs included.

#include "tests/e2e/programs/matrices.h"

int main() {
  const Matrix a = made_matrix(1), b = made_matrix(2), c = made_matrix(3), d = made_matrix(4);
  const Matrix zero(kN * kN, 0.0f);
  float *d_a, *d_b, *d_c, *d_d, *d_e, *d_f, *d_g;
  for (float** pointer : {&d_a, &d_b, &d_c, &d_d, &d_e, &d_f, &d_g})
    CHECK(cudaMalloc(pointer, kMatrixBytes));
  CHECK(cudaMemcpy(d_a, a.data(), kMatrixBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_b, b.data(), kMatrixBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_c, c.data(), kMatrixBytes, cudaMemcpyHostToDevice));
  CHECK(cudaMemcpy(d_d, d.data(), kMatrixBytes, cudaMemcpyHostToDevice));
  for (float* output : {d_e, d_f, d_g})
    CHECK(cudaMemcpy(output, zero.data(), kMatrixBytes, cudaMemcpyHostToDevice));

  launch_multiply(d_a, d_b, d_e);
  launch_multiply(d_c, d_d, d_f);
  launch_multiply(d_e, d_f, d_g);

  Matrix g(kN * kN);
  CHECK(cudaMemcpy(g.data(), d_g, kMatrixBytes, cudaMemcpyDeviceToHost));
  for (float* pointer : {d_a, d_b, d_c, d_d, d_e, d_f, d_g})
    CHECK(cudaFree(pointer));
  return verdict(near(g, product(product(a, b), product(c, d))));
}

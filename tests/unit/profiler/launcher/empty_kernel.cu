// SPDX-License-Identifier: Apache-2.0
// The smallest CUDA program, for tests that read program files.
__global__ void empty() {}
int main() {
  empty<<<1, 1>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

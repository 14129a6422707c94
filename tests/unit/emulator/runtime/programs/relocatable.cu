// SPDX-License-Identifier: Apache-2.0
// Built with -rdc=true: the device code is linked by the driver. The variable and the function are
// defined in a second unit (relocatable_part.cu).
#include <cstdio>

extern __device__ int elsewhere;
extern __device__ int cube(int value);

__global__ void use(int* out) {
  *out = cube(3) + elsewhere;
}

int main() {
  int* device = nullptr;
  int host = 0;
  if (cudaMalloc(&device, sizeof(int)) != cudaSuccess) return 1;
  use<<<1, 1>>>(device);
  if (cudaMemcpy(&host, device, sizeof host, cudaMemcpyDeviceToHost) != cudaSuccess) return 2;
  if (host != 27 + 5) return 3;
  int moved = 0;
  if (cudaMemcpyFromSymbol(&moved, elsewhere, sizeof moved) != cudaSuccess || moved != 5) return 4;
  cudaFree(device);
  std::puts("right");
}

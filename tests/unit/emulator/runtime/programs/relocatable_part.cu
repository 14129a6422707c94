// SPDX-License-Identifier: Apache-2.0
// The second unit of relocatable.cu.
__device__ int elsewhere = 5;
__device__ int cube(int value) {
  return value * value * value;
}

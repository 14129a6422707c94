// SPDX-License-Identifier: Apache-2.0
// The other one.
__device__ __noinline__ float far_away(float x) {
  float sum = 0;
  for (int k = 0; k < 10; ++k)
    sum += x * static_cast<float>(k);
  return sum;
}

// SPDX-License-Identifier: Apache-2.0
#pragma once
// The variable that a statement gives an allocation, read off its text.

#include <string>
#include <string_view>

namespace drgpum {

// Empty when the text does not tell. Examples:
//   cudaMalloc((void **)&ctx->buf[i], n);            ctx->buf[i]
//   CHECK(cudaMallocManaged(&this->data, n));        data
//   cudaError_t e = cudaMalloc(&d_A, n);             d_A
//   float* x = pool.alloc<float>(n);                 x
//   DeviceBuffer<float> weights(n);                  weights
//   return pool.alloc(n);                            (nothing)
std::string variable_of(std::string_view statement);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
// Statements in, variables out.
#include "offline/source/variable_name.h"

#include <string>

#include <gtest/gtest.h>

namespace drgpum {
namespace {

struct Example {
  const char* statement;
  const char* variable;
};

class VariableName : public testing::TestWithParam<Example> {};

TEST_P(VariableName, IsReadOffTheStatement) {
  EXPECT_EQ(variable_of(GetParam().statement), GetParam().variable) << GetParam().statement;
}

INSTANTIATE_TEST_SUITE_P(
    Statements, VariableName,
    testing::Values(
        Example{"cudaMalloc(&d_A, n * sizeof(float))", "d_A"},
        Example{"cudaMalloc((void **)&d_A, n)", "d_A"},
        Example{"cudaMalloc((void **)&ctx->buf[i], n)", "ctx->buf[i]"},
        Example{"cudaMalloc(reinterpret_cast<void**>(&x.y), n)", "x.y"},
        Example{"cudaMalloc<float>(&d_B, n)", "d_B"},
        Example{"cudaMalloc(&this->data_, n)", "data_"},
        Example{"cudaMalloc((void**)(&A), n)", "A"},
        Example{"checkCudaErrors(cudaMalloc((void **)&d_out, bytes))", "d_out"},
        Example{"cudaError_t e = cudaMalloc(&d_A, n)", "d_A"},
        Example{"if (cudaMalloc(&d_A, n) != cudaSuccess) return 1", "d_A"},
        Example{"auto status = cudaMallocAsync(&p, n, stream)", "p"},
        Example{"CUDA_CHECK(cuMemAlloc(&ptr, f(a, b)))", "ptr"},
        Example{"cudaMallocPitch(&img[k + 1], &pitch, w, h)", "img[k + 1]"},
        Example{"float* x = pool.alloc<float>(n)", "x"}, Example{"const auto y = allocate(n)", "y"},
        Example{"layers[i].weights = device_alloc(n)", "layers[i].weights"},
        Example{"ctx->scratch = static_cast<float*>(arena_alloc(ctx, n))", "ctx->scratch"},
        Example{"my_alloc(&d_x, n)", "d_x"}, Example{"gpuAlloc((void**)&d_x, n)", "d_x"},
        Example{"DeviceBuffer<float> weights(n)", "weights"}, Example{"Matrix m{rows, cols}", "m"},
        Example{"return pool.alloc(n)", ""}, Example{"return Buffer(n)", ""},
        Example{"pool.alloc(n)", ""}, Example{"consume(pool.alloc(n))", ""},
        Example{"cudaMalloc(nullptr, n)", ""}, Example{"cudaMalloc(next(), n)", ""},
        Example{"", ""}, Example{"((((((", ""}, Example{"cudaMalloc(", ""},
        Example{"a = = b", "a"}));

}  // namespace
}  // namespace drgpum

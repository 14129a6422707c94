// SPDX-License-Identifier: Apache-2.0
// Callback ids and parameter structs of every served function against NVIDIA's own headers. It is
// the compiler that checks; the test only has to be built.

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
//
#include <cstddef>

#include <cupti_driver_cbid.h>
#include <generated_cuda_meta.h>
#include <gtest/gtest.h>

#include "emulator/driver/api_parameters.h"
#include "emulator/driver/interface_checks.h"

namespace {

TEST(DriverInterface, HasNvidiasNumbersAndStructs) {
  EXPECT_EQ(sizeof(Parameters_cuLaunchKernel), sizeof(cuLaunchKernel_params));
}

}  // namespace

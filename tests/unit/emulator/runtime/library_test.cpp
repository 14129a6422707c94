// SPDX-License-Identifier: Apache-2.0
// The runtime as a library: what it exports, and how it behaves where no driver is installed.
#include <cstdlib>
#include <fstream>
#include <string>

#include <dlfcn.h>
#include <driver_types.h>
#include <gtest/gtest.h>

namespace {

class RuntimeLibrary : public testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(DRGPUM_CUDART, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
  }

  template <typename F>
  F find(const char* name) {
    return reinterpret_cast<F>(dlvsym(library_, name, "libcudart.so.13"));
  }

  void* library_ = nullptr;
};

using NoArguments = cudaError_t (*)();

TEST_F(RuntimeLibrary, ExportsEveryNameWithTheVersionThatProgramsAskFor) {
  std::ifstream names(DRGPUM_EXPORTS);
  std::string name;
  int count = 0;
  while (std::getline(names, name)) {
    EXPECT_NE(find<void*>(name.c_str()), nullptr) << name;
    ++count;
  }
  EXPECT_GE(count, 400);
}

TEST_F(RuntimeLibrary, KeepsTheLastErrorUntilItIsTaken) {
  const auto choose = find<cudaError_t (*)(int*, const void*)>("cudaChooseDevice");
  const auto peek = find<NoArguments>("cudaPeekAtLastError");
  const auto take = find<NoArguments>("cudaGetLastError");
  EXPECT_EQ(take(), cudaSuccess);
  EXPECT_EQ(choose(nullptr, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(peek(), cudaErrorInvalidValue);
  EXPECT_EQ(take(), cudaErrorInvalidValue);
  EXPECT_EQ(take(), cudaSuccess);
}

TEST_F(RuntimeLibrary, NamesItsErrors) {
  const auto name = find<const char* (*)(cudaError_t)>("cudaGetErrorName");
  EXPECT_STREQ(name(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(name(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
  EXPECT_STREQ(name(static_cast<cudaError_t>(12345)), "unrecognized error code");
}

TEST_F(RuntimeLibrary, AnswersNotSupportedForWhatItDoesNotServe) {
  const auto take = find<NoArguments>("cudaGetLastError");
  take();
  EXPECT_EQ(find<NoArguments>("cudaGLGetDevices")(), cudaErrorNotSupported);
  EXPECT_EQ(take(), cudaErrorNotSupported);
}

TEST_F(RuntimeLibrary, GivesBackTheLaunchConfigurationsInReverseOrder) {
  struct Dim {
    unsigned x, y, z;
  };
  const auto push =
      find<unsigned (*)(Dim, Dim, std::size_t, cudaStream_t)>("__cudaPushCallConfiguration");
  const auto pop =
      find<cudaError_t (*)(Dim*, Dim*, std::size_t*, void*)>("__cudaPopCallConfiguration");
  EXPECT_EQ(push({1, 2, 3}, {4, 5, 6}, 7, nullptr), 0U);
  EXPECT_EQ(push({8, 1, 1}, {9, 1, 1}, 10, nullptr), 0U);
  Dim grid{};
  Dim block{};
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
  EXPECT_EQ(pop(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(shared, 10U);
  EXPECT_EQ(pop(&grid, &block, &shared, &stream), cudaSuccess);
  EXPECT_EQ(grid.z, 3U);
  EXPECT_EQ(block.y, 5U);
  EXPECT_EQ(pop(&grid, &block, &shared, &stream), cudaErrorMissingConfiguration);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
// Real wrappers: nvcc's registration code, linked into this test, hands them to the functions here
// before main.

#include <gtest/gtest.h>

#include "emulator/ptx/load.h"

namespace {

std::vector<const void*>& registered() {
  static std::vector<const void*> wrappers;
  return wrappers;
}

}  // namespace

extern "C" {
void** __cudaRegisterFatBinary(const void* wrapper) {
  static void* handle;
  registered().push_back(wrapper);
  return &handle;
}
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaUnregisterFatBinary(void**) {}
void __cudaRegisterFunction() {}
void __cudaRegisterVar() {}
void __cudaInitModule() {}
int __cudaLaunchKernel() {
  return 0;
}
int __cudaGetKernel() {
  return 0;
}
unsigned __cudaPushCallConfiguration() {
  return 0;
}
int __cudaPopCallConfiguration() {
  return 0;
}
}

namespace drgpum::emulator::ptx {
namespace {

std::uint32_t version_of(const void* wrapper) {
  return static_cast<const std::uint32_t*>(wrapper)[1];
}

const void* wrapper_of_version(std::uint32_t version) {
  for (const void* wrapper : registered()) {
    if (version_of(wrapper) == version) return wrapper;
  }
  return nullptr;
}

TEST(FatbinWrapper, OfAWholeProgramHasOneUnit) {
  const auto units = read_fatbin_wrapper(wrapper_of_version(1));
  ASSERT_TRUE(units) << units.error().message;
  ASSERT_EQ(units->size(), 1u);
  EXPECT_EQ(units->front().size(), 3u);
  EXPECT_TRUE(load_units(*units, 75, "whole"));
}

TEST(FatbinWrapper, OfSeparateUnitsHasThemAllAndTheyLink) {
  const auto units = read_fatbin_wrapper(wrapper_of_version(2));
  ASSERT_TRUE(units) << units.error().message;
  EXPECT_EQ(units->size(), 2u);
  const auto program = load_units(*units, 86, "rdc");
  ASSERT_TRUE(program) << program.error().message;
  std::size_t without_body = 0;
  for (const Function& function : program->functions)
    without_body += function.has_body ? 0 : 1;
  EXPECT_EQ(without_body, 0u);
  EXPECT_EQ(program->variables.size(), 3u);  // shared_value and two of local_scale
}

TEST(FatbinWrapper, OfAnotherMagicIsRefused) {
  const std::uint64_t junk[4] = {1, 2, 3, 4};
  EXPECT_EQ(read_fatbin_wrapper(junk).error().message, "fatbin wrapper of an unknown kind");
  EXPECT_EQ(read_fatbin_wrapper(nullptr).error().message, "no fatbin wrapper");
}

}  // namespace
}  // namespace drgpum::emulator::ptx

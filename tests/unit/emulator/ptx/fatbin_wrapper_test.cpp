// SPDX-License-Identifier: Apache-2.0
// Real wrappers: nvcc's registration code, linked into this test, hands them to the functions here
// before main.

#include <cstring>

#include <gtest/gtest.h>

#include "emulator/ptx/fatbin.h"
#include "tests/unit/emulator/ptx/load.h"

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
  EXPECT_TRUE(pick_ptx(units->front(), 75));
}

TEST(FatbinWrapper, OfSeparateUnitsHasThemAllAndTheyLink) {
  const auto units = read_fatbin_wrapper(wrapper_of_version(2));
  ASSERT_TRUE(units) << units.error().message;
  EXPECT_EQ(units->size(), 2u);
  std::vector<std::string_view> texts;
  for (const auto& unit : *units)
    texts.push_back((*pick_ptx(unit, 86))->text());
  const auto program = load_texts(texts);
  ASSERT_TRUE(program) << program.error().message;
  std::size_t without_body = 0;
  for (const Function& function : program->functions)
    without_body += function.has_body ? 0 : 1;
  EXPECT_EQ(without_body, 0u);
  EXPECT_EQ(program->variables.size(), 3u);  // shared_value and two of local_scale
}

// A container with one raw PTX entry, written by hand.
std::vector<std::uint64_t> container(std::string text) {
  text.resize((text.size() + 7) / 8 * 8);
  std::vector<std::uint64_t> words(2 + 8 + text.size() / 8);
  words[0] = 0x0010'0001'BA55'ED50;  // header of 16 bytes, version 1, magic
  words[1] = 64 + text.size();
  words[2] = 0x0000'0040'0101'0001;  // header of 64 bytes, version, PTX
  words[3] = text.size();
  words[5] = 0x0000'004B'0009'0000;  // sm_75, ISA 9.0
  std::memcpy(&words[10], text.data(), text.size());
  return words;
}

TEST(FatbinWrapper, LeavesOutTheUnitOfTheDeviceRuntime) {
  const auto own = container(".version 9.0");
  const auto runtime = container("_f4510a67_22_cuda_device_runtime_cu_3ecce0c0_2317245");
  const void* containers[] = {own.data(), runtime.data(), nullptr};
  const std::uint64_t wrapper[] = {0x0000'0002'4662'43B1, 0,
                                   reinterpret_cast<std::uint64_t>(containers)};
  const auto units = read_fatbin_wrapper(wrapper);
  ASSERT_TRUE(units) << units.error().message;
  ASSERT_EQ(units->size(), 1u);
  EXPECT_EQ(units->front().front().text(), ".version 9.0");
  EXPECT_EQ(units->front().front().arch, 75u);
}

TEST(FatbinWrapper, OfAnotherMagicIsRefused) {
  const std::uint64_t junk[4] = {1, 2, 3, 4};
  EXPECT_EQ(read_fatbin_wrapper(junk).error().message, "fatbin wrapper of an unknown kind");
  EXPECT_EQ(read_fatbin_wrapper(nullptr).error().message, "no fatbin wrapper");
}

}  // namespace
}  // namespace drgpum::emulator::ptx

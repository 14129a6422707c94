// SPDX-License-Identifier: Apache-2.0
// Fatbins that nvcc wrote in, their entries or one error line out.

#include "emulator/ptx/fatbin.h"

#include <cstring>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "tests/unit/emulator/ptx/load.h"

namespace drgpum::emulator::ptx {
namespace {

std::vector<std::byte> file(const std::string& name) {
  std::ifstream stream(FIXTURES "/" + name, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  EXPECT_FALSE(bytes.empty()) << name;
  return bytes;
}

std::string error_of(std::span<const std::byte> bytes) {
  const auto entries = read_fatbin(bytes);
  return entries ? "no error" : entries.error().message;
}

class Compressions : public testing::TestWithParam<const char*> {};

TEST_P(Compressions, GiveTheSamePtx) {
  const auto entries = read_fatbin(file(std::string("vector_add.") + GetParam() + ".fatbin"));
  ASSERT_TRUE(entries) << entries.error().message;
  ASSERT_EQ(entries->size(), 3u);
  EXPECT_EQ((*entries)[0].kind, FatbinKind::kElf);
  EXPECT_EQ((*entries)[0].arch, 75u);
  EXPECT_EQ((*entries)[0].text().substr(1, 3), "ELF");
  EXPECT_EQ((*entries)[2].kind, FatbinKind::kPtx);
  EXPECT_EQ((*entries)[2].arch, 80u);
  EXPECT_EQ((*entries)[2].isa_major, 9u);
  EXPECT_NE((*entries)[1].text().find(".target sm_75"), std::string_view::npos);
  EXPECT_NE((*entries)[1].text().find(".visible .entry _Z10vector_addPfPKf"),
            std::string_view::npos);
}

INSTANTIATE_TEST_SUITE_P(Fatbin, Compressions, testing::Values("default", "speed", "none"));

TEST(Fatbin, ContainersMayFollowEachOther) {
  std::vector<std::byte> bytes = file("vector_add.default.fatbin");
  const std::vector<std::byte> second = file("vector_add.none.fatbin");
  bytes.resize((bytes.size() + 7) / 8 * 8);
  bytes.insert(bytes.end(), second.begin(), second.end());
  const auto entries = read_fatbin(bytes);
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ(entries->size(), 6u);
}

TEST(Fatbin, PicksTheHighestPtxThatTheDeviceRuns) {
  const auto entries = read_fatbin(file("vector_add.default.fatbin"));
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ((*pick_ptx(*entries, 75))->arch, 75u);
  EXPECT_EQ((*pick_ptx(*entries, 86))->arch, 80u);
  EXPECT_EQ((*pick_ptx(*entries, 120))->arch, 80u);
  EXPECT_EQ(pick_ptx(*entries, 70).error().message,
            "no PTX that a device of compute capability 7.0 could run; the image holds sm_75, "
            "compute_75, compute_80; build with -gencode arch=compute_75,code=compute_75");
}

TEST(Fatbin, ArchitectureSpecificPtxRunsThereAlone) {
  const auto entries = read_fatbin(file("vector_add.specific.fatbin"));
  ASSERT_TRUE(entries) << entries.error().message;
  EXPECT_EQ((*pick_ptx(*entries, 90))->variant, 'a');
  EXPECT_EQ((*pick_ptx(*entries, 103))->variant, 'f');
  EXPECT_TRUE(pick_ptx(*entries, 100));
  EXPECT_FALSE(pick_ptx(*entries, 89));
  EXPECT_FALSE(pick_ptx(*entries, 120));
}

TEST(Fatbin, HoldsTextThatLoads) {
  const auto entries = read_fatbin(file("vector_add.speed.fatbin"));
  ASSERT_TRUE(entries) << entries.error().message;
  const auto program = load_texts({(*pick_ptx(*entries, 86))->text()});
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->target, 80u);
}

TEST(Fatbin, SaysWhereTheFormatBreaks) {
  std::vector<std::byte> bytes = file("vector_add.default.fatbin");
  EXPECT_EQ(error_of({}), "fatbin, byte 0: empty");
  EXPECT_EQ(error_of(std::span(bytes).first(10)), "fatbin, byte 0: container header cut off");
  EXPECT_EQ(error_of(std::span(bytes).subspan(8)), "fatbin, byte 0: no container starts here");
  EXPECT_EQ(
      error_of(std::span(bytes).first(bytes.size() - 1)),
      "fatbin, byte 8: container of " + std::to_string(bytes.size() - 16) + " bytes is cut off");
  bytes[20] = std::byte{1};
  EXPECT_EQ(error_of(bytes), "fatbin, byte 20: entry header of 1 bytes");
}

TEST(Fatbin, NoTruncationCrashes) {
  for (const char* mode : {"default", "speed", "none"}) {
    const std::vector<std::byte> bytes = file(std::string("vector_add.") + mode + ".fatbin");
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      // A copy of its own, so that a read past the end is one for the sanitizer to see.
      const std::vector<std::byte> part(bytes.begin(),
                                        bytes.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(error_of(part).find('\n'), std::string::npos);
      EXPECT_NE(error_of(part), "no error") << mode << ' ' << size;
    }
  }
}

TEST(Fatbin, NoFlippedByteCrashes) {
  for (const char* mode : {"default", "speed", "none"}) {
    std::vector<std::byte> bytes = file(std::string("vector_add.") + mode + ".fatbin");
    for (std::byte& byte : bytes) {
      for (const std::byte mask : {std::byte{0x01}, std::byte{0x80}, std::byte{0xFF}}) {
        byte ^= mask;
        EXPECT_EQ(error_of(bytes).find('\n'), std::string::npos);
        byte ^= mask;
      }
    }
  }
}

}  // namespace
}  // namespace drgpum::emulator::ptx

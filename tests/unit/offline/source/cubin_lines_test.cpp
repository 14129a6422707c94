// SPDX-License-Identifier: Apache-2.0
// Lines of device code: known places of small kernels, NVIDIA's own disassembler where there is
// one, damaged images.
#include "offline/source/cubin_lines.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

namespace drgpum {
namespace {

constexpr std::uint64_t kInstructionBytes = 16;  // since sm_70

std::vector<std::uint8_t> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

CubinLines lines_of(const std::string& path) {
  auto lines = CubinLines::parse(bytes_of(path));
  EXPECT_TRUE(lines) << path << ": " << lines.error().message;
  return *std::move(lines);
}

// "put inlined_kernels.cuh:14 < entry inlined_kernels.cu:15"
std::string text_of(const std::vector<AddressFrame>& frames) {
  std::string text;
  for (const AddressFrame& frame : frames) {
    if (!text.empty()) text += " < ";
    text += frame.function + " " + frame.file.substr(frame.file.rfind('/') + 1) + ":" +
            std::to_string(frame.line);
  }
  return text;
}

std::set<std::string> places_in(const CubinLines& lines, const std::string& name) {
  std::set<std::string> places;
  for (const CubinLines::Function& function : lines.functions())
    if (function.name == name)
      for (std::uint64_t at = 0; at < function.size; at += kInstructionBytes)
        places.insert(text_of(lines.at(function, at)));
  return places;
}

class EveryArchitecture : public testing::TestWithParam<const char*> {};

TEST_P(EveryArchitecture, GivesLinesAndInlineChains) {
  const CubinLines lines = lines_of(GetParam());
  const std::set<std::string> entry = places_in(lines, "entry");
  for (const char* place :
       {"_Z3putPfif inlined_kernels.cuh:14 < entry inlined_kernels.cu:15",
        "_Z3getPKfi inlined_kernels.cuh:6 < _Z7get_twoPKfi inlined_kernels.cuh:10 < entry "
        "inlined_kernels.cu:12",
        "entry inlined_kernels.cu:14"})
    EXPECT_TRUE(entry.contains(place)) << place;
  EXPECT_FALSE(entry.contains(""));
  EXPECT_EQ(places_in(lines, "$entry$_Z10kept_apartf")
                .count("$entry$_Z10kept_apartf inlined_kernels.cu:6"),
            1u);
  EXPECT_TRUE(places_in(lines, "_Z6secondPd").contains("_Z6secondPd inlined_kernels.cu:20"));
  EXPECT_EQ(text_of(lines.at("_Z6secondPd", 1 << 20)), "");
  EXPECT_EQ(text_of(lines.at("none", 0)), "");
}

INSTANTIATE_TEST_SUITE_P(Cubins, EveryArchitecture,
                         testing::Values(INLINED_SM_75, INLINED_SM_80, INLINED_SM_90,
                                         INLINED_SM_100, INLINED_SM_120));

TEST(CubinLinesTest, LinkedUnitsKeepLinesAndLoseDoubtfulNames) {
  const CubinLines lines = lines_of(LINKED_SM_90);
  const std::set<std::string> scaled = places_in(lines, "_Z6scaledILi2EEvPKfPf");
  EXPECT_TRUE(scaled.contains(" inlined_kernels.cuh:14 < _Z6scaledILi2EEvPKfPf linked_a.cu:9"));
  EXPECT_TRUE(places_in(lines, "_Z8far_awayf").contains("_Z8far_awayf linked_b.cu:6"));
}

TEST(CubinLinesTest, WithoutLineInformationItSaysSo) {
  const auto lines = CubinLines::parse(bytes_of(PLAIN_SM_90));
  ASSERT_FALSE(lines);
  EXPECT_EQ(lines.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(lines.error().message, "was compiled without -lineinfo");
}

TEST(CubinLinesTest, WhatIsNoCubinIsRefused) {
  EXPECT_EQ(CubinLines::parse({}).error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(CubinLines::parse(std::vector<std::uint8_t>(5000)).error().code, ErrorCode::kCorrupt);
  EXPECT_FALSE(CubinLines::parse(bytes_of("/proc/self/exe")));
}

TEST(CubinLinesTest, DamagedImagesAreReadWithoutHarm) {
  const std::vector<std::uint8_t> good = bytes_of(INLINED_SM_90);
  std::mt19937 random(90);
  const char* asked = std::getenv("DRGPUM_MUTANTS");
  const int mutants = asked != nullptr ? std::atoi(asked) : 4000;
  int parsed = 0;
  for (int k = 0; k < mutants; ++k) {
    std::vector<std::uint8_t> bytes = good;
    for (std::uint32_t change = 1 + random() % 16; change > 0; --change)
      bytes[random() % bytes.size()] = static_cast<std::uint8_t>(random());
    if (k % 10 == 0) bytes.resize(random() % bytes.size());
    const auto lines = CubinLines::parse(bytes);
    if (!lines) continue;
    ++parsed;
    for (const CubinLines::Function& function : lines->functions())
      for (std::uint64_t at = 0; at < std::min<std::uint64_t>(function.size, 4096); at += 16)
        EXPECT_LE(lines->at(function, at).size(), 64u);
  }
  EXPECT_GT(parsed, mutants / 4);
}

// What nvdisasm -gi prints before an instruction: one line for each frame, innermost first. It
// prints nothing where the innermost line is that of the instruction before.
struct Printed {
  std::vector<std::string> chain;
  bool repeated = false;
};

// DRGPUM_NVDISASM in the environment, else what the build found; empty: neither.
std::string disassembler() {
  const char* given = std::getenv("DRGPUM_NVDISASM");
  return given != nullptr ? given : DRGPUM_NVDISASM;
}

std::map<std::pair<std::string, std::uint64_t>, Printed> disassembly_of(const std::string& path) {
  std::map<std::pair<std::string, std::uint64_t>, Printed> printed;
  std::string output;
  std::FILE* pipe = ::popen((disassembler() + " -gi " + path).c_str(), "r");
  char block[65536];
  for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, pipe)) > 0;)
    output.append(block, got);
  EXPECT_EQ(::pclose(pipe), 0);
  std::istringstream lines(output);
  std::string function;
  std::vector<std::string> chain;
  bool fresh = true;
  for (std::string line; std::getline(lines, line);) {
    char name[1024];
    char file[1024];
    unsigned number = 0;
    unsigned offset = 0;
    char first = 0;
    if (line.find("\t.section\t") != std::string::npos) {
      function.clear();
      chain.clear();  // code of the CUDA library has no lines
      fresh = true;
      if (std::sscanf(line.c_str(), "\t.section\t.text.%1023[^,]", name) == 1) function = name;
    } else if (std::sscanf(line.c_str(), " //## File \"%1023[^\"]\", line %u", file, &number) ==
               2) {
      if (std::exchange(fresh, false)) chain.clear();
      chain.push_back(std::string(file) + ":" + std::to_string(number));
    } else if (!function.empty() && std::sscanf(line.c_str(), " /*%x*/ %c", &offset, &first) == 2 &&
               first != '.') {
      printed[{function, offset}] = {chain, std::exchange(fresh, true)};
    }
  }
  return printed;
}

// Returns how many instructions were compared.
std::size_t compare_with_disassembly(const std::string& path) {
  const CubinLines lines = lines_of(path);
  std::size_t compared = 0;
  for (const auto& [place, printed] : disassembly_of(path)) {
    std::vector<std::string> ours;
    for (const AddressFrame& frame : lines.at(place.first, place.second))
      ours.push_back(frame.file + ":" + std::to_string(frame.line));
    if (printed.chain.empty()) continue;
    ++compared;
    if (printed.repeated) ours.resize(std::min<std::size_t>(ours.size(), 1));
    auto theirs = printed.chain;
    if (printed.repeated) theirs.resize(1);
    EXPECT_EQ(ours, theirs) << path << " " << place.first << " " << std::hex << place.second;
  }
  EXPECT_GT(compared, 10u) << path;
  return compared;
}

// DRGPUM_CUBINS: other files, separated by ':' (tests/corpus/device_lines.sh builds a corpus).
TEST(CubinLinesTest, AgreesWithNvidiasDisassembler) {
  if (disassembler().empty()) GTEST_SKIP() << "there is no nvdisasm here";
  const char* given = std::getenv("DRGPUM_CUBINS");
  std::istringstream paths(given != nullptr ? given
                                            : INLINED_SM_75 ":" INLINED_SM_80 ":" INLINED_SM_90
                                              ":" INLINED_SM_100 ":" INLINED_SM_120
                                              ":" LINKED_SM_90);
  std::size_t compared = 0;
  for (std::string path; std::getline(paths, path, ':');)
    compared += compare_with_disassembly(path);
  std::printf("compared %zu instructions\n", compared);
}

}  // namespace
}  // namespace drgpum

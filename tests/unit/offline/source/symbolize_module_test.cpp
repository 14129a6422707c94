// SPDX-License-Identifier: Apache-2.0
// Lines, functions and inline chains against binutils' addr2line; files that are elsewhere,
// stripped, another build or damaged.
#include "offline/source/symbolize_module.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "offline/source/debuginfod.h"
#include "offline/source/elf_file.h"
#include "offline/source/frame_rules.h"

namespace drgpum {
namespace {

std::string output_of(const std::string& command) {
  std::string output;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  char block[65536];
  for (std::size_t got = 0; (got = std::fread(block, 1, sizeof block, pipe)) > 0;)
    output.append(block, got);
  EXPECT_EQ(::pclose(pipe), 0) << command;
  return output;
}

class SymbolizeTest : public testing::Test {
 protected:
  SymbolizeTest() : folder_("/tmp/drgpum-symbolize-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~SymbolizeTest() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

// Every byte of the functions that carry names of the sample, and of main.
std::vector<std::uint64_t> code_addresses(const std::string& path) {
  std::vector<std::uint64_t> addresses;
  const auto file = ElfFile::open(path);
  EXPECT_TRUE(file);
  for (const ElfFunction& function : file->functions()) {
    const bool ours = function.name.find("sample") != std::string::npos ||
                      function.name.find("c_function") != std::string::npos ||
                      function.name == "main";
    if (!ours) continue;
    for (std::uint64_t at = function.begin; at < function.end; ++at)
      addresses.push_back(at);
  }
  std::sort(addresses.begin(), addresses.end());
  addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
  return addresses;
}

struct Reference {
  std::string function;
  std::string place;  // file:line
};

std::map<std::uint64_t, std::vector<Reference>> addr2line(
    const std::string& path, const std::vector<std::uint64_t>& addresses,
    const std::string& folder) {
  std::ofstream list(folder + "/addresses");
  list << std::hex;
  for (const std::uint64_t address : addresses)
    list << address << '\n';
  list.close();
  std::istringstream lines(
      output_of("addr2line -a -i -f -C -e " + path + " < " + folder + "/addresses"));
  std::map<std::uint64_t, std::vector<Reference>> found;
  std::vector<Reference>* frames = nullptr;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0x")) {
      frames = &found[std::stoull(line, nullptr, 16)];
      continue;
    }
    std::string place;
    std::getline(lines, place);
    place = place.substr(0, place.find(" (discriminator"));
    const std::size_t colon = place.rfind(':');
    const std::string file = std::filesystem::path(place.substr(0, colon)).lexically_normal();
    frames->push_back({line, file + place.substr(colon)});
  }
  return found;
}

class EveryKindOfDebugInformation : public SymbolizeTest,
                                    public testing::WithParamInterface<const char*> {};

TEST_P(EveryKindOfDebugInformation, GivesTheFramesOfAddr2line) {
  ModuleRequest request;
  request.path = GetParam();
  request.addresses = code_addresses(request.path);
  ASSERT_GT(request.addresses.size(), 500u);
  const ModuleLines lines = symbolize_module(request, {});
  EXPECT_EQ(lines.problem, "");
  const auto reference = addr2line(request.path, request.addresses, folder_);
  std::size_t inlined = 0;
  std::size_t other_names = 0;
  for (std::size_t k = 0; k < request.addresses.size(); ++k) {
    const auto& expected = reference.at(request.addresses[k]);
    const auto& frames = lines.frames[k];
    ASSERT_EQ(frames.size(), expected.size()) << std::hex << request.addresses[k];
    for (std::size_t f = 0; f < frames.size(); ++f) {
      const std::string file = std::filesystem::path(frames[f].file).lexically_normal();
      ASSERT_EQ(file + ":" + std::to_string(frames[f].line), expected[f].place)
          << std::hex << request.addresses[k] << " frame " << f;
      // addr2line knows some functions by their last name only.
      if (unqualified(frames[f].function) != unqualified(expected[f].function)) ++other_names;
      EXPECT_EQ(frames[f].inlined, f + 1 < frames.size());
      inlined += frames[f].inlined ? 1 : 0;
    }
  }
  EXPECT_GT(inlined, 100u);
  // At three addresses addr2line 2.40 gives an inlined function the name of the one around it;
  // llvm-symbolizer agrees with us there.
  EXPECT_LE(other_names, request.addresses.size() / 200);
}

INSTANTIATE_TEST_SUITE_P(Symbolize, EveryKindOfDebugInformation,
                         testing::Values(SAMPLE_DWARF4, SAMPLE_DWARF5, SAMPLE_COMPRESSED,
                                         SAMPLE_SPLIT_SECTIONS));

// The same program with its debugging entries outside of it (-gsplit-dwarf) and inside.
struct SplitSample {
  const char* split;
  const char* object;
  const char* whole;
};

class SplitDebugInformation : public SymbolizeTest,
                              public testing::WithParamInterface<SplitSample> {
 protected:
  // A copy whose .dwo files nothing names any more: "x.dwo" became "x.dwx".
  std::string copy_without_loose_files() const {
    std::ifstream file(GetParam().split, std::ios::binary);
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    for (std::size_t at = 0; (at = bytes.find(".cpp.dwo", at)) != std::string::npos; ++at)
      bytes[at + 7] = 'x';
    const std::string copy = folder_ + "/app";
    std::ofstream(copy, std::ios::binary) << bytes;
    return copy;
  }

  static ModuleLines lines_of(const std::string& path, std::vector<std::string> symbol_paths = {}) {
    ModuleRequest request;
    request.path = path;
    request.addresses = code_addresses(GetParam().whole);
    request.symbol_paths = std::move(symbol_paths);
    return symbolize_module(request, {});
  }

  static void expect_all(const ModuleLines& lines) {
    EXPECT_EQ(lines.problem, "");
    const ModuleLines whole = lines_of(GetParam().whole);
    ASSERT_EQ(lines.frames.size(), whole.frames.size());
    for (std::size_t k = 0; k < whole.frames.size(); ++k) {
      ASSERT_EQ(lines.frames[k].size(), whole.frames[k].size()) << k;
      for (std::size_t f = 0; f < whole.frames[k].size(); ++f) {
        EXPECT_EQ(lines.frames[k][f].function, whole.frames[k][f].function);
        EXPECT_EQ(lines.frames[k][f].file, whole.frames[k][f].file);
        EXPECT_EQ(lines.frames[k][f].line, whole.frames[k][f].line);
      }
    }
  }
};

TEST_P(SplitDebugInformation, GivesTheFramesOfTheWhole) {
  ASSERT_EQ(code_addresses(GetParam().split), code_addresses(GetParam().whole));
  expect_all(lines_of(GetParam().split));
}

// binutils' dwp of Debian 12 packs DWARF 4 only; tests/corpus/host_lines.py has the other.
using PackedDebugInformation = SplitDebugInformation;
TEST_P(PackedDebugInformation, IsFoundInOneFileBesideTheProgram) {
  const std::string copy = copy_without_loose_files();
  output_of("dwp -o " + copy + ".dwp " +
            std::filesystem::path(GetParam().object).replace_extension(".dwo").string());
  expect_all(lines_of(copy));
}

TEST_P(SplitDebugInformation, IsFoundBySymbolPathAndMissedByName) {
  const std::string copy = copy_without_loose_files();
  const ModuleLines without = lines_of(copy);
  EXPECT_NE(without.problem.find("inlined_sample.cpp.dwx"), std::string::npos) << without.problem;
  EXPECT_TRUE(without.frames[0][0].file.ends_with("inlined_sample.cpp"));
  const std::string there = folder_ + "/symbols";
  std::filesystem::create_directories(there);
  std::filesystem::copy(std::filesystem::path(GetParam().object).replace_extension(".dwo"),
                        there + "/inlined_sample.cpp.dwx");
  expect_all(lines_of(copy, {there}));
}

TEST_P(SplitDebugInformation, OfAnotherBuildIsRefused) {
  const std::string copy = copy_without_loose_files();
  std::ofstream(folder_ + "/inlined_sample.cpp.dwx") << "no ELF file";
  EXPECT_NE(lines_of(copy).problem.find("is not here, or of another build"), std::string::npos);
  const std::string_view other = GetParam().object == std::string_view(SAMPLE_SPLIT_DWARF4_OBJECT)
                                     ? SAMPLE_SPLIT_DWARF5_OBJECT
                                     : SAMPLE_SPLIT_DWARF4_OBJECT;
  std::filesystem::copy(std::filesystem::path(other).replace_extension(".dwo"),
                        folder_ + "/inlined_sample.cpp.dwx",
                        std::filesystem::copy_options::overwrite_existing);
  EXPECT_NE(lines_of(copy).problem.find("is not here, or of another build"), std::string::npos);
}

constexpr SplitSample kSplit4{SAMPLE_SPLIT_DWARF4, SAMPLE_SPLIT_DWARF4_OBJECT, SAMPLE_DWARF4};
constexpr SplitSample kSplit5{SAMPLE_SPLIT_DWARF5, SAMPLE_SPLIT_DWARF5_OBJECT, SAMPLE_DWARF5};
INSTANTIATE_TEST_SUITE_P(Symbolize, SplitDebugInformation, testing::Values(kSplit4, kSplit5));
INSTANTIATE_TEST_SUITE_P(Symbolize, PackedDebugInformation, testing::Values(kSplit4));

// Evenly over the functions that have a size.
std::vector<std::uint64_t> some_addresses(const std::string& path, std::size_t count) {
  std::vector<std::uint64_t> all;
  const auto file = ElfFile::open(path);
  EXPECT_TRUE(file) << path;
  for (const ElfFunction& function : file->functions())
    for (std::uint64_t at = function.begin; at < function.end; ++at)
      all.push_back(at);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<std::uint64_t> some;
  for (std::size_t k = 0; k < std::min(count, all.size()); ++k)
    some.push_back(all[k * all.size() / std::min(count, all.size())]);
  return some;
}

std::string places_of(const std::vector<AddressFrame>& frames) {
  std::string text;
  for (const AddressFrame& frame : frames) {
    const std::string file = std::filesystem::path(frame.file).lexically_normal();
    text += (file.empty() ? "??" : file) + ":" + std::to_string(frame.line) + " < ";
  }
  return text;
}

std::string places_of(const std::vector<Reference>& frames) {
  std::string text;
  for (const Reference& frame : frames)
    text += (frame.place.ends_with(":?") ? frame.place.substr(0, frame.place.size() - 1) + "0"
                                         : frame.place) + " < ";
  return text;
}

// DRGPUM_BINARIES: programs, separated by ':', of any compiler; at 10,000 addresses of each, files,
// lines and depth of inlining are compared. Differences are printed, to be explained.
TEST_F(SymbolizeTest, AgreesWithAddr2lineOnOtherBinaries) {
  const char* given = std::getenv("DRGPUM_BINARIES");
  if (given == nullptr) GTEST_SKIP() << "DRGPUM_BINARIES names no programs";
  std::istringstream paths(given);
  for (ModuleRequest request; std::getline(paths, request.path, ':');) {
    request.addresses = some_addresses(request.path, 10'000);
    const ModuleLines lines = symbolize_module(request, limits_for(request.path));
    const auto reference = addr2line(request.path, request.addresses, folder_);
    std::size_t differing = 0;
    for (std::size_t k = 0; k < request.addresses.size(); ++k) {
      const std::string ours = places_of(lines.frames[k]);
      const std::string theirs = places_of(reference.at(request.addresses[k]));
      if (ours != theirs && ++differing <= 20)
        std::printf("%lx: %s\n  not %s\n", request.addresses[k], ours.c_str(), theirs.c_str());
    }
    std::printf("%s: %zu of %zu addresses differ\n", request.path.c_str(), differing,
                request.addresses.size());
    EXPECT_LE(differing * 1000, request.addresses.size()) << request.path;
  }
}

TEST_F(SymbolizeTest, AStrippedModuleFindsItsDebugFileByLinkOrBuildId) {
  const std::string code = folder_ + "/app";
  std::filesystem::create_directories(folder_ + "/.debug");
  const std::string debug = folder_ + "/.debug/app.debug";
  output_of("objcopy --only-keep-debug " SAMPLE_DWARF5 " " + debug);
  output_of("cd " + folder_ +
            " && objcopy --strip-all --add-gnu-debuglink=.debug/app.debug " SAMPLE_DWARF5 " app");
  ModuleRequest request;
  request.path = code;
  request.addresses = code_addresses(SAMPLE_DWARF5);
  ModuleLines lines = symbolize_module(request, {});
  EXPECT_EQ(lines.lines_from, debug);
  EXPECT_EQ(lines.problem, "");
  EXPECT_TRUE(lines.frames[0][0].file.ends_with("inlined_sample.cpp"));

  request.build_id = ElfFile::open(code)->build_id();
  ASSERT_EQ(request.build_id.size(), 40u);
  const std::string store = folder_ + "/symbols/.build-id/" + request.build_id.substr(0, 2);
  std::filesystem::create_directories(store);
  std::filesystem::rename(debug, store + "/" + request.build_id.substr(2) + ".debug");
  request.symbol_paths = {folder_ + "/symbols"};
  lines = symbolize_module(request, {});
  EXPECT_TRUE(lines.frames[0][0].file.ends_with("inlined_sample.cpp")) << lines.problem;

  std::filesystem::remove(code);  // lines need the debug file only
  lines = symbolize_module(request, {});
  EXPECT_TRUE(lines.frames[0][0].file.ends_with("inlined_sample.cpp")) << lines.problem;
}

// A web server of Python's stands in for a debuginfod: it has files under /buildid/ID/debuginfo.
TEST_F(SymbolizeTest, AServerGivesTheDebugFile) {
  const std::string build_id = ElfFile::open(SAMPLE_DWARF5)->build_id();
  const std::string served = folder_ + "/served/buildid/" + build_id;
  std::filesystem::create_directories(served);
  output_of("objcopy --only-keep-debug " SAMPLE_DWARF5 " " + served + "/debuginfo");
  std::ofstream(folder_ + "/serve.py")
      << "import http.server, os, sys\n"
         "os.chdir(sys.argv[1])\n"
         "h = http.server.SimpleHTTPRequestHandler\n"
         "h.log_message = lambda *a: None\n"
         "s = http.server.HTTPServer(('127.0.0.1', 0), h)\n"
         "s.timeout = 20\n"
         "print(s.server_port, flush=True)\n"
         "[s.handle_request() for _ in range(2)]\n";
  std::FILE* server =
      ::popen(("python3 " + folder_ + "/serve.py " + folder_ + "/served").c_str(), "r");
  int port = 0;
  ASSERT_EQ(std::fscanf(server, "%d", &port), 1);
  ::setenv("DEBUGINFOD_URLS", ("http://127.0.0.1:" + std::to_string(port)).c_str(), 1);
  ::setenv("DEBUGINFOD_CACHE_PATH", (folder_ + "/cache").c_str(), 1);
  const auto none = fetch_debug_file("00112233445566778899aabbccddeeff00112233");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kNotFound) << none.error().message;
  const auto fetched = fetch_debug_file(build_id);
  ::pclose(server);
  ASSERT_TRUE(fetched) << fetched.error().message;
  output_of("objcopy --strip-all " SAMPLE_DWARF5 " " + folder_ + "/app");
  ModuleRequest request;
  request.path = folder_ + "/app";
  request.build_id = build_id;
  request.debug_file = *fetched;
  request.addresses = code_addresses(SAMPLE_DWARF5);
  const ModuleLines lines = symbolize_module(request, {});
  EXPECT_EQ(lines.problem, "");
  EXPECT_TRUE(lines.frames[0][0].file.ends_with("inlined_sample.cpp"));
  ::unsetenv("DEBUGINFOD_URLS");
  EXPECT_EQ(fetch_debug_file(build_id).error().code, ErrorCode::kUnsupported);
}

TEST_F(SymbolizeTest, WithoutLinesTheFunctionsComeFromTheSymbols) {
  const std::string code = folder_ + "/app";
  output_of("objcopy --strip-debug " SAMPLE_DWARF5 " " + code);
  ModuleRequest request;
  request.path = code;
  request.addresses = code_addresses(code);
  const ModuleLines lines = symbolize_module(request, {});
  EXPECT_NE(lines.problem.find("has no line information: compile with -g"), std::string::npos)
      << lines.problem;
  std::size_t named = 0;
  for (const auto& frames : lines.frames) {
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].file, "");
    named += frames[0].function.find("sample::") != std::string::npos ? 1 : 0;
  }
  EXPECT_GT(named, lines.frames.size() / 2);
}

TEST_F(SymbolizeTest, AnotherBuildIsRefused) {
  ModuleRequest request;
  request.path = SAMPLE_DWARF5;
  request.build_id = "00112233";
  request.addresses = code_addresses(SAMPLE_DWARF5);
  const ModuleLines lines = symbolize_module(request, {});
  EXPECT_NE(lines.problem.find("is another build than the one recorded"), std::string::npos)
      << lines.problem;
  EXPECT_EQ(lines.frames[0][0].file, "");
  EXPECT_EQ(lines.frames[0][0].function, "");
}

TEST_F(SymbolizeTest, AFileThatIsNotThereOrIsNoProgramIsNamed) {
  ModuleRequest request;
  request.addresses = {0x1000};
  request.path = folder_ + "/none";
  EXPECT_EQ(symbolize_module(request, {}).problem, request.path + ": No such file or directory");
  request.path = folder_;
  EXPECT_EQ(symbolize_module(request, {}).problem, request.path + ": is not an ELF file");
  request.path = folder_ + "/text";
  std::ofstream(request.path) << "#!/bin/sh\n";
  EXPECT_EQ(symbolize_module(request, {}).problem, request.path + ": is not an ELF file");
}

// The section headers' names and the debug sections are where damage reaches the decoders.
TEST_F(SymbolizeTest, DamagedFilesNeverHarmTheCaller) {
  std::ifstream file(SAMPLE_DWARF5, std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(file), {});
  const char* asked = std::getenv("DRGPUM_MUTANTS");
  const int mutants = asked != nullptr ? std::atoi(asked) : 150;
  std::mt19937 random(20210528);
  ModuleRequest request;
  request.path = folder_ + "/mutant";
  for (std::uint64_t at = 0; const std::uint64_t address : code_addresses(SAMPLE_DWARF5))
    if (at++ % 16 == 0) request.addresses.push_back(address);
  std::size_t with_lines = 0;
  for (int k = 0; k < mutants; ++k) {
    std::string bytes = good;
    const std::size_t first = k % 3 == 0 ? 0 : good.size() / 4;  // most of the rest is DWARF
    for (std::uint32_t change = 1 + random() % 32; change > 0; --change)
      bytes[first + random() % (bytes.size() - first)] = static_cast<char>(random());
    if (k % 10 == 0) bytes.resize(random() % bytes.size());
    std::ofstream(request.path, std::ios::binary) << bytes;
    ChildLimits limits;
    limits.cpu_seconds = 4;
    const ModuleLines lines = symbolize_module(request, limits);
    ASSERT_EQ(lines.frames.size(), request.addresses.size());
    with_lines += !lines.frames[0].empty() && !lines.frames[0][0].file.empty() ? 1 : 0;
  }
  EXPECT_GT(with_lines,
            static_cast<std::size_t>(mutants) / 10);  // the mutants do reach the decoder
}

}  // namespace
}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "profiler/options.h"

#include <map>

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

Environment from(const std::map<std::string, std::string>& variables) {
  return [&variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

std::string error_of(const std::map<std::string, std::string>& variables) {
  const auto options = options_from(from(variables));
  return options ? "no error" : options.error().message;
}

TEST(Options, WithoutVariablesEverythingIsRecorded) {
  const auto options = options_from(from({}));
  ASSERT_TRUE(options);
  EXPECT_EQ(options->output, "drgpum-%a.%p.drgp");
  EXPECT_EQ(options->sampling, 1u);
  EXPECT_EQ(options->launch_count, UINT64_MAX);
  EXPECT_EQ(options->mode, Mode::kObject);
}

TEST(Options, EveryVariableReachesItsMember) {
  const std::map<std::string, std::string> variables = {
      {"DRGPUM_OUTPUT", "a.drgp"},
      {"DRGPUM_FORCE", "1"},
      {"DRGPUM_MAX_SIZE", "2MiB"},
      {"DRGPUM_MODE", "intra"},
      {"DRGPUM_KERNEL_REGEX", "kns=gemm\nregex=^add.*$"},
      {"DRGPUM_KERNEL_REGEX_EXCLUDE", "kne=warm_up"},
      {"DRGPUM_WHITELIST", "list.txt"},
      {"DRGPUM_KERNEL_SAMPLING", "100"},
      {"DRGPUM_LAUNCH_SKIP", "3"},
      {"DRGPUM_LAUNCH_COUNT", "7"},
      {"DRGPUM_MAP_MEMORY", "1G"},
      {"DRGPUM_CAPTURE_RANGE", "cudaProfilerApi"},
      {"DRGPUM_APPLICATION_PID", "42"},
      {"DRGPUM_DEVICE_KIND", "emulated"},
      {"DRGPUM_SANITIZER_LIB", "lib.so"},
      {"DRGPUM_STATUS_FILE", "status"},
  };
  const auto options = options_from(from(variables));
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->output, "a.drgp");
  EXPECT_TRUE(options->replace_output);
  EXPECT_EQ(options->max_bytes, 2u << 20);
  EXPECT_EQ(options->mode, Mode::kIntra);
  ASSERT_EQ(options->only.size(), 2u);
  EXPECT_EQ(options->only[1].match, KernelMatch::kRegex);
  EXPECT_EQ(options->only[1].text, "^add.*$");
  ASSERT_EQ(options->except.size(), 1u);
  EXPECT_EQ(options->except[0].match, KernelMatch::kNameEquals);
  EXPECT_EQ(options->whitelist, "list.txt");
  EXPECT_EQ(options->sampling, 100u);
  EXPECT_EQ(options->launch_skip, 3u);
  EXPECT_EQ(options->launch_count, 7u);
  EXPECT_EQ(options->map_memory, 1u << 30);
  EXPECT_EQ(options->capture_range, "cudaProfilerApi");
  EXPECT_EQ(options->application_pid, 42u);
  EXPECT_TRUE(options->emulated);
  EXPECT_EQ(options->sanitizer_library, "lib.so");
  EXPECT_EQ(options->report_to, "status");
}

TEST(Options, AWrongValueIsToldWithItsVariable) {
  EXPECT_EQ(error_of({{"DRGPUM_KERNEL_SAMPLING", "x"}}),
            "DRGPUM_KERNEL_SAMPLING=x: 'x' is not a whole number");
  EXPECT_EQ(error_of({{"DRGPUM_KERNEL_SAMPLING", "0"}}),
            "DRGPUM_KERNEL_SAMPLING=0: must be 1 or more");
  EXPECT_EQ(error_of({{"DRGPUM_MODE", "deep"}}), "DRGPUM_MODE=deep: must be object or intra");
  EXPECT_EQ(error_of({{"DRGPUM_KERNEL_REGEX", "gemm"}}),
            "DRGPUM_KERNEL_REGEX=gemm: 'gemm' must begin with kns=, kne= or regex=");
}

TEST(Options, SizesCountIn1024s) {
  EXPECT_EQ(*parse_bytes("0"), 0u);
  EXPECT_EQ(*parse_bytes("64"), 64u);
  EXPECT_EQ(*parse_bytes("64B"), 64u);
  EXPECT_EQ(*parse_bytes("3k"), 3072u);
  EXPECT_EQ(*parse_bytes("3KiB"), 3072u);
  EXPECT_EQ(*parse_bytes("2TB"), 2ull << 40);
  for (const char* wrong :
       {"", "MiB", "1X", "1.5G", "-1", "1MiBB", "18446744073709551616", "99999999999T"}) {
    EXPECT_FALSE(parse_bytes(wrong)) << wrong;
  }
}

TEST(Options, ThoseInForceAreListedForTheTrace) {
  EXPECT_EQ(options_in_force(from({{"DRGPUM_MODE", "intra"}, {"HOME", "/root"}})),
            "DRGPUM_MODE=intra\n");
}

}  // namespace
}  // namespace drgpum::profiler

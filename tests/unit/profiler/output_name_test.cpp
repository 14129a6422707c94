// SPDX-License-Identifier: Apache-2.0
#include "profiler/output_name.h"

#include <cstring>

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

const ProcessIdentity kProcess{42, "node7", "app"};

const char* slurm(const char* name) {
  if (std::strcmp(name, "SLURM_PROCID") == 0) return "3";
  return std::strcmp(name, "JOB") == 0 ? "j9" : nullptr;
}
const char* nothing(const char*) {
  return nullptr;
}

std::string expand(const std::string& name_template, const Environment& environment = slurm) {
  const auto name = expand_output_name(name_template, kProcess, environment);
  return name ? *name : name.error().message;
}

TEST(OutputName, EveryMarkIsReplaced) {
  EXPECT_EQ(expand("drgpum-%a.%p.drgp"), "drgpum-app.42.drgp");
  EXPECT_EQ(expand("%h/%q{JOB}/rank%r"), "node7/j9/rank3");
  EXPECT_EQ(expand("100%%"), "100%");
  EXPECT_EQ(expand("plain"), "plain");
}

TEST(OutputName, WhatIsNotSetIsEmptyAndWithoutARankItIsZero) {
  EXPECT_EQ(expand("a%q{JOB}b.%r", nothing), "ab.0");
}

TEST(OutputName, OtherUsesOfPercentAreRefused) {
  EXPECT_EQ(expand("a%x").substr(0, 33), "output name 'a%x': unknown %x; kn");
  EXPECT_EQ(expand("a%").substr(0, 29), "output name 'a%': ends in %; ");
  EXPECT_EQ(expand("%qJOB").substr(0, 45), "output name '%qJOB': %q needs a {VARIABLE}; k");
  EXPECT_EQ(expand("%q{JOB").substr(0, 46), "output name '%q{JOB': %q needs a {VARIABLE}; k");
}

TEST(OutputName, RanksComeFromTheLauncherThatIsThere) {
  EXPECT_EQ(rank_of(slurm), "3");
  EXPECT_EQ(rank_of(nothing), "");
}

}  // namespace
}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#include "profiler/kernel_filter.h"

#include <cstdio>
#include <fstream>

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

constexpr const char* kAdd = "_Z3addPfS_i";  // add(float*, float*, int)
constexpr const char* kGemm = "_Z9gemm_tilePfS_S_i";

KernelFilter filter_of(const Options& options) {
  auto filter = KernelFilter::make(options);
  EXPECT_TRUE(filter) << filter.error().message;
  return *std::move(filter);
}

TEST(KernelFilter, WithoutOptionsEveryKernelPasses) {
  EXPECT_TRUE(filter_of({}).passes_all());
  EXPECT_TRUE(filter_of({}).passes(kAdd));
}

TEST(KernelFilter, NamesAreTriedMangledAndDemangled) {
  for (const char* form :
       {"kns=gemm", "kne=gemm_tile", "kne=_Z9gemm_tilePfS_S_i",
        "kne=gemm_tile(float*, float*, float*, int)", "regex=^gemm_.*int\\)$", "regex=_Z9"}) {
    Options options;
    options.only = {*parse_kernel_pattern(form)};
    EXPECT_TRUE(filter_of(options).passes(kGemm)) << form;
    EXPECT_FALSE(filter_of(options).passes(kAdd)) << form;
  }
}

TEST(KernelFilter, AnExclusionOutranksASelection) {
  Options options;
  options.only = {*parse_kernel_pattern("kns=e")};
  options.except = {*parse_kernel_pattern("kns=gemm")};
  EXPECT_FALSE(filter_of(options).passes(kGemm));
}

TEST(KernelFilter, AWhitelistHoldsOneNameALine) {
  const std::string path = testing::TempDir() + "drgpum-whitelist.txt";
  std::ofstream(path) << "# chosen\r\n\nadd\r\n";
  Options options;
  options.whitelist = path;
  EXPECT_TRUE(filter_of(options).passes(kAdd));
  EXPECT_FALSE(filter_of(options).passes(kGemm));
  std::remove(path.c_str());
}

TEST(KernelFilter, WhatCannotBeUsedIsRefused) {
  Options options;
  options.only = {*parse_kernel_pattern("regex=(")};
  EXPECT_FALSE(KernelFilter::make(options));
  options = {};
  options.whitelist = "/nonexistent/list";
  EXPECT_EQ(KernelFilter::make(options).error().message,
            "cannot read the whitelist '/nonexistent/list'");
}

std::string taken(const Options& options, int launches) {
  LaunchSampler sampler(options);
  std::string text;
  for (int i = 0; i < launches; ++i) {
    text += sampler.takes(KernelId{0}, CallPathId{1}) ? 'x' : '.';
  }
  return text;
}

TEST(LaunchSampler, TakesTheFirstAndEveryNth) {
  Options options;
  options.sampling = 3;
  EXPECT_EQ(taken(options, 8), "x..x..x.");
}

TEST(LaunchSampler, SkipsThenCounts) {
  Options options;
  options.launch_skip = 2;
  options.launch_count = 3;
  EXPECT_EQ(taken(options, 8), "..xxx...");
}

TEST(LaunchSampler, EveryKernelAndCallPathIsSampledByItself) {
  Options options;
  options.sampling = 2;
  LaunchSampler sampler(options);
  EXPECT_TRUE(sampler.takes(KernelId{0}, CallPathId{1}));
  EXPECT_TRUE(sampler.takes(KernelId{1}, CallPathId{1}));
  EXPECT_TRUE(sampler.takes(KernelId{0}, CallPathId{2}));
  EXPECT_FALSE(sampler.takes(KernelId{0}, CallPathId{1}));
}

TEST(KernelNames, AreReadFromPtxAndFromMachineCode) {
  EXPECT_EQ(kernel_names_in(".visible .entry _Z3addPf(\n.entry b (\n.func f()"),
            (std::vector<std::string>{"_Z3addPf", "b"}));
  constexpr char kCubin[] =
      "\x7f"
      "ELF..\0.text._Z3addPf\0.nv.info\0.text.b\0";
  const std::string cubin(kCubin, sizeof(kCubin));
  EXPECT_EQ(kernel_names_in(cubin), (std::vector<std::string>{"_Z3addPf", "b"}));
}

}  // namespace
}  // namespace drgpum::profiler

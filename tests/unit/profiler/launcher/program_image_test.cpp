// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/program_image.h"

#include <cstdio>
#include <fstream>
#include <random>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "profiler/launcher/device_choice.h"
#include "profiler/launcher/doctor.h"

namespace drgpum::profiler {
namespace {

ProgramImage read(const std::string& name) {
  auto image = read_program_image(PROGRAMS + name);
  EXPECT_TRUE(image) << image.error().message;
  return image ? *std::move(image) : ProgramImage{};
}

std::string refusal(const std::string& name) {
  const auto status = check_for_emulation("app", read(name));
  return status ? "" : status.error().message;
}

TEST(ProgramImage, ASharedRuntimeAndPtxAreSeen) {
  const ProgramImage image = read("empty_both");
  EXPECT_EQ(image.shared_runtime(), "libcudart.so.13");
  EXPECT_FALSE(image.has_static_runtime());
  EXPECT_EQ(image.ptx_architectures, (std::vector<std::uint32_t>{75}));
  EXPECT_EQ(image.machine_code_architectures, (std::vector<std::uint32_t>{75}));
  EXPECT_NE(
      std::find(image.cuda_imports.begin(), image.cuda_imports.end(), "cudaDeviceSynchronize"),
      image.cuda_imports.end());
  EXPECT_EQ(refusal("empty_both"), "");
}

TEST(ProgramImage, RelocatableDeviceCodeIsSeenToo) {
  EXPECT_EQ(read("empty_relocatable").ptx_architectures, (std::vector<std::uint32_t>{75}));
}

TEST(ProgramImage, AStaticRuntimeIsRefusedWithTheRemedy) {
  EXPECT_TRUE(read("empty_static").has_static_runtime());
  EXPECT_NE(refusal("empty_static").find("link it again with `nvcc -cudart shared`"),
            std::string::npos);
}

TEST(ProgramImage, MachineCodeAloneIsRefusedWithTheRemedy) {
  EXPECT_EQ(read("empty_no_ptx").ptx_images, 0u);
  EXPECT_EQ(refusal("empty_no_ptx").substr(0, 48),
            "'app' has no PTX, only machine code for sm_90; a");
}

TEST(ProgramImage, AnotherReleasesRuntimeIsRefused) {
  ProgramImage image = read("empty_both");
  image.needed = {"libcudart.so.12"};
  EXPECT_EQ(check_for_emulation("app", image).error().message,
            "'app' needs libcudart.so.12; the emulated device has libcudart.so.13: build it with "
            "CUDA 13");
}

TEST(ProgramImage, ScriptsAreTakenAsTheyAre) {
  const std::string path = testing::TempDir() + "drgpum-script" + std::to_string(getpid());
  std::ofstream(path) << "#!/bin/sh\n";
  const auto image = read_program_image(path);
  ASSERT_TRUE(image);
  EXPECT_FALSE(image->is_elf);
  EXPECT_TRUE(check_for_emulation(path, *image));
  std::remove(path.c_str());
}

TEST(ProgramImage, WhatCannotBeReadIsAnError) {
  EXPECT_EQ(read_program_image("/nonexistent").error().message, "cannot read '/nonexistent'");
}

TEST(ProgramImage, DamagedFilesAreReadAsFarAsTheyGo) {
  std::stringstream file;
  file << std::ifstream(PROGRAMS "empty_both", std::ios::binary).rdbuf();
  const std::string whole = file.str();
  const std::string path = testing::TempDir() + "drgpum-damaged" + std::to_string(getpid());
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    std::string bytes = whole;
    for (int change = 0; change < 8; ++change) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    for (int change = 0; change < 4; ++change)
      bytes[random() % 64] = static_cast<char>(random());
    if (round % 3 == 0) bytes.resize(random() % bytes.size());
    std::ofstream(path, std::ios::binary) << bytes;
    EXPECT_TRUE(read_program_image(path) || bytes.empty());
  }
  std::remove(path.c_str());
}

TEST(Doctor, NamesWhatTheEmulatedDeviceLacks) {
  const Diagnosis diagnosis =
      diagnose_program("app", read("empty_both"), {"cudaDeviceSynchronize"});
  EXPECT_TRUE(diagnosis.has_problem);
  EXPECT_NE(diagnosis.lines.back().find("the emulated device lacks "), std::string::npos);
  EXPECT_NE(diagnosis.lines.back().find("__cudaRegisterFatBinary"), std::string::npos);
}

TEST(Doctor, HasNothingAgainstAProgramThatFits) {
  const Diagnosis diagnosis = diagnose_program("app", read("empty_both"), {});
  EXPECT_FALSE(diagnosis.has_problem);
  EXPECT_EQ(diagnosis.lines.back(), "ok: can run on the emulated device");
}

std::set<AllocatorHook> imported_by(std::string_view script) {
  std::set<AllocatorHook> hooks;
  note_imports(script, &hooks);
  return hooks;
}

TEST(Doctor, FindsHooksByTextsLibrariesAndSymbols) {
  // The texts that are looked for lie in this program, for it has the code that looks for them.
  const std::set<AllocatorHook> own = read_program_image("/proc/self/exe")->hooks;
  EXPECT_EQ(own, (std::set{AllocatorHook::kNvtx, AllocatorHook::kKokkos, AllocatorHook::kHeader}));
  EXPECT_TRUE(read("empty_both").hooks.empty());
  std::set<AllocatorHook> hooks;
  note_library("libc10_cuda.so", &hooks);
  note_library("libcublas.so.13", &hooks);
  note_symbol("_ZN6Kokkos10initializeEv", &hooks);
  EXPECT_EQ(hooks, (std::set{AllocatorHook::kPyTorch, AllocatorHook::kKokkos}));
}

TEST(Doctor, FindsHooksByWhatAScriptImports) {
  EXPECT_EQ(imported_by("import os\n  import torch.nn as nn\nfrom cupy import array"),
            (std::set{AllocatorHook::kPyTorch, AllocatorHook::kCupy}));
  EXPECT_TRUE(imported_by("import torchless\n# import jax\nimportant = 'import rmm'\n").empty());
  EXPECT_TRUE(imported_by("").empty());
}

TEST(Doctor, SaysWhatToDoWithoutAHook) {
  ASSERT_EQ(describe_hooks({}).size(), 1u);
  EXPECT_NE(describe_hooks({}).front().find("drgpum.h"), std::string::npos);
  EXPECT_NE(describe_hooks({AllocatorHook::kJax}).front().find("XLA_PYTHON_CLIENT_ALLOCATOR"),
            std::string::npos);
}

}  // namespace
}  // namespace drgpum::profiler

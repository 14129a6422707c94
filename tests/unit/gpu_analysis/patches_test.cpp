// SPDX-License-Identifier: Apache-2.0
#include "proto/device/patches.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace drgpum::device {
namespace {

constexpr std::size_t kArchitectures = 10;  // sm_75 to sm_121
const std::set<std::string> kPatches{
    "drgpum_mark_global",     "drgpum_mark_async_copy",  "drgpum_mark_bulk_load",
    "drgpum_mark_bulk_store", "drgpum_mark_bulk_reduce", "drgpum_map_global",
    "drgpum_map_async_copy",  "drgpum_map_bulk_load",    "drgpum_map_bulk_store",
    "drgpum_map_bulk_reduce", "drgpum_device_malloc",    "drgpum_device_free",
};

// The assembler's report: patch -> for each architecture, in order, its stack and spills.
std::map<std::string, std::vector<std::string>> read_report() {
  std::map<std::string, std::vector<std::string>> report;
  std::ifstream file(PATCH_REPORT);
  std::string line;
  while (std::getline(file, line)) {
    const auto at = line.find("Function properties for ");
    if (at == std::string::npos) continue;
    const std::string function = line.substr(at + 24);
    std::getline(file, line);
    report[function].push_back(line.substr(line.find_first_not_of(' ')));
  }
  return report;
}

// ptxas holds patches to 24 registers and spills what does not fit, so "no spills" is the measure.
TEST(Patches, NoneSpillsOnAnyArchitecture) {
  const auto report = read_report();
  const std::vector<std::string> clean(
      kArchitectures, "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads");
  for (const std::string& patch : kPatches) {
    ASSERT_TRUE(report.contains(patch)) << patch;
    EXPECT_EQ(report.at(patch), clean) << patch;
  }
}

TEST(Patches, TheNamesThatTheProfilerAsksForExist) {
  for (const PatchNames& names : {kMarkPatches, kMapPatches}) {
    for (const char* name :
         {names.global, names.async_copy, names.bulk_load, names.bulk_store, names.bulk_reduce}) {
      EXPECT_TRUE(kPatches.contains(name)) << name;
    }
  }
  EXPECT_TRUE(kPatches.contains(kDeviceMallocPatch));
  EXPECT_TRUE(kPatches.contains(kDeviceFreePatch));
}

TEST(Patches, BothImagesAreFatBinaries) {
  constexpr std::uint32_t kFatbinMagic = 0xba55ed50;
  for (const auto image : {patch_image(), portable_patch_image()}) {
    ASSERT_GT(image.size(), sizeof kFatbinMagic);
    std::uint32_t magic = 0;
    std::memcpy(&magic, image.data(), sizeof magic);
    EXPECT_EQ(magic, kFatbinMagic);
  }
}

std::string portable_ptx() {
  std::stringstream text;
  text << std::ifstream(PATCH_PTX).rdbuf();
  return text.str();
}

TEST(PortablePatches, SayAVersionThatOlderDriversKnow) {
  EXPECT_NE(portable_ptx().find("\n.version 6.3\n"), std::string::npos);
}

TEST(PortablePatches, AssembleForTheOldestAndTheNewestDevice) {
  for (const char* architecture : {"sm_75", "sm_90", "sm_121"}) {
    const std::string command =
        std::string(PTXAS) + " -astoolspatch -arch=" + architecture + " -o /dev/null " + PATCH_PTX;
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
  }
}

// Instructions that would wait for others, or that an emulated device need not know.
TEST(PortablePatches, UseNothingThatWaits) {
  const std::string ptx = portable_ptx();
  for (const char* word : {"bar.", "barrier", "nanosleep", "vprintf", ".sync", "membar", "fence"}) {
    EXPECT_EQ(ptx.find(word), std::string::npos) << word;
  }
}

}  // namespace
}  // namespace drgpum::device

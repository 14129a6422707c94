// SPDX-License-Identifier: Apache-2.0
// The environment, read and refused.

#include "emulator/machine/settings.h"

#include <map>

#include <gtest/gtest.h>

namespace drgpum::emulator {
namespace {

Result<Settings> read(const std::map<std::string, const char*>& environment) {
  return read_settings([&](const char* name) {
    const auto it = environment.find(name);
    return it != environment.end() ? it->second : nullptr;
  });
}

TEST(Settings, HaveDefaults) {
  const auto settings = read({});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->devices, 1);
  EXPECT_EQ(settings->workers, 1u);
  EXPECT_FALSE(settings->device_memory);
  EXPECT_FALSE(settings->log);
}

TEST(Settings, AreReadFromTheEnvironment) {
  const auto settings = read({{"DRGPUM_EMULATOR_DEVICES", "3"},
                              {"DRGPUM_EMULATOR_WORKERS", "8"},
                              {"DRGPUM_EMULATOR_SCHEDULE_SEED", "18446744073709551615"},
                              {"DRGPUM_EMULATOR_DEVICE_MEMORY", "24GiB"},
                              {"DRGPUM_EMULATOR_PRESET", "a100"},
                              {"DRGPUM_EMULATOR_STATUS", "/x/status"},
                              {"DRGPUM_EMULATOR_ACCESS_LOG", "/x/log"},
                              {"DRGPUM_EMULATOR_LOG", "1"}});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->devices, 3);
  EXPECT_EQ(settings->workers, 8u);
  EXPECT_EQ(settings->schedule_seed, ~std::uint64_t{0});
  EXPECT_EQ(settings->device_memory, std::uint64_t{24} << 30);
  EXPECT_EQ(settings->preset, "a100");
  EXPECT_EQ(settings->status_file, "/x/status");
  EXPECT_EQ(settings->access_log, "/x/log");
  EXPECT_TRUE(settings->log);
}

TEST(Settings, TakeEmptyForUnset) {
  const auto settings =
      read({{"DRGPUM_EMULATOR_DEVICES", ""}, {"DRGPUM_EMULATOR_DEVICE_MEMORY", ""}});
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->devices, 1);
}

TEST(Settings, NameTheVariableAndItsValueWhenRefused) {
  const auto settings = read({{"DRGPUM_EMULATOR_DEVICES", "0"}});
  ASSERT_FALSE(settings);
  EXPECT_EQ(settings.error().message,
            "DRGPUM_EMULATOR_DEVICES=0: this must be a whole number from 1 to 16");
  EXPECT_FALSE(read({{"DRGPUM_EMULATOR_DEVICE_MEMORY", "lots"}}));
  EXPECT_FALSE(read({{"DRGPUM_EMULATOR_DEVICE_MEMORY", "0"}}));
  EXPECT_FALSE(read({{"DRGPUM_EMULATOR_SCHEDULE_SEED", "-1"}}));
}

TEST(Sizes, CountBy1024InEveryUnit) {
  EXPECT_EQ(parse_size("17"), 17u);
  EXPECT_EQ(parse_size("2K"), 2048u);
  EXPECT_EQ(parse_size("3MiB"), 3u << 20);
  EXPECT_EQ(parse_size("3MB"), 3u << 20);
  EXPECT_EQ(parse_size("1T"), std::uint64_t{1} << 40);
}

TEST(Sizes, AreRefusedWhenTheyMakeNoSense) {
  for (const char* text : {"", "K", "1.5G", "5X", "5MiBB", "99999999999999999999", "99999999999T"})
    EXPECT_FALSE(parse_size(text)) << text;
}

}  // namespace
}  // namespace drgpum::emulator

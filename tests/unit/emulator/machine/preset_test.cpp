// SPDX-License-Identifier: Apache-2.0
// Device presets.

#include "emulator/machine/preset.h"

#include <gtest/gtest.h>

namespace drgpum::emulator {
namespace {

TEST(Preset, KnowsTheA100) {
  const auto preset = find_preset("a100");
  ASSERT_TRUE(preset);
  EXPECT_EQ(preset->compute_major, 8);
  EXPECT_EQ(preset->compute_minor, 0);
  EXPECT_EQ(preset->multiprocessors, 108);
  EXPECT_EQ(preset->memory_bytes, std::uint64_t{80} << 30);
  EXPECT_DOUBLE_EQ(preset->cost.dram_bytes_per_ns, 2039);
}

TEST(Preset, NamesThoseThatThereAre) {
  const auto preset = find_preset("gtx1");
  ASSERT_FALSE(preset);
  EXPECT_EQ(preset.error().code, ErrorCode::kNotFound);
  for (const char* known : {"rtx3090", "a100", "h200"})
    EXPECT_NE(preset.error().message.find(known), std::string::npos) << preset.error().message;
}

TEST(Preset, NamesTheKeyThatIsMissing) {
  const auto presets = parse_presets(R"({"x": {"name": "X"}})");
  ASSERT_FALSE(presets);
  EXPECT_NE(presets.error().message.find("memory_bytes"), std::string::npos)
      << presets.error().message;
}

TEST(Preset, RefusesTextThatIsNotJson) {
  EXPECT_FALSE(parse_presets("{"));
}

}  // namespace
}  // namespace drgpum::emulator

// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/command_line.h"

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

using Words = std::vector<std::string>;

RunRequest parse(const Words& words) {
  auto request = parse_run_arguments(words);
  EXPECT_TRUE(request) << request.error().message;
  return request ? *std::move(request) : RunRequest{};
}

std::string error_of(const Words& words) {
  const auto request = parse_run_arguments(words);
  return request ? "no error" : request.error().message;
}

TEST(RunCommandLine, OptionsEndAtTheProgram) {
  const RunRequest request = parse({"-q", "./app", "-q", "--device", "x"});
  EXPECT_TRUE(request.quiet);
  EXPECT_EQ(request.program, (Words{"./app", "-q", "--device", "x"}));
  EXPECT_EQ(request.device, DeviceChoice::kAuto);
}

TEST(RunCommandLine, ARangeOfAnyNameBoundsTheRecording) {
  const RunRequest request = parse({"--capture-range", "epoch@train", "a"});
  EXPECT_EQ(request.variables.at(0).second, "epoch@train");
  EXPECT_NE(error_of({"--capture-range", "", "a"}).find("needs a value"), std::string::npos);
}

TEST(RunCommandLine, HooksAreOnUnlessTurnedOff) {
  EXPECT_TRUE(parse({"a"}).hooks);
  EXPECT_FALSE(parse({"--hooks", "off", "a"}).hooks);
  EXPECT_TRUE(parse({"--hooks=on", "a"}).hooks);
  EXPECT_NE(error_of({"--hooks", "some", "a"}).find("none of on, off"), std::string::npos);
}

TEST(RunCommandLine, OrAtTwoDashes) {
  EXPECT_EQ(parse({"-f", "--", "-app", "--"}).program, (Words{"-app", "--"}));
}

TEST(RunCommandLine, ValuesFollowOrAreAttached) {
  for (const Words& words : {Words{"--device", "emulated", "a"}, Words{"--device=emulated", "a"}}) {
    EXPECT_EQ(parse(words).device, DeviceChoice::kEmulated);
  }
  EXPECT_EQ(parse({"-o", "x=y", "a"}).output, "x=y");
  EXPECT_EQ(parse({"--output=x=y", "a"}).output, "x=y");
}

TEST(RunCommandLine, OptionsForTheLibraryBecomeVariables) {
  const RunRequest request =
      parse({"--kernel-regex", "kns=a", "--kernel-regex=kne=b", "--max-size", "1G", "--mode=intra",
             "--mode", "object", "--target-processes=application-only", "a"});
  const std::vector<std::pair<std::string, std::string>> expected = {
      {"DRGPUM_KERNEL_REGEX", "kns=a\nkne=b"},
      {"DRGPUM_MAX_SIZE", "1G"},
      {"DRGPUM_MODE", "object"},
  };
  EXPECT_EQ(request.variables, expected);
  EXPECT_TRUE(request.application_only);
}

TEST(RunCommandLine, OptionsOfTheEmulatedDeviceAskForIt) {
  EXPECT_TRUE(parse({"--devices", "2", "a"}).asks_for_emulation);
  EXPECT_TRUE(parse({"--fidelity", "a"}).asks_for_emulation);
  EXPECT_EQ(error_of({"--device", "gpu", "--preset", "a100", "a"}),
            "--preset is an option of the emulated device (see drgpum run --help)");
}

TEST(RunCommandLine, SamplingAndThePeakKernel) {
  const RunRequest request = parse({"--whitelist-peak", "--block-sampling", "8", "a"});
  EXPECT_TRUE(request.whitelist_peak);
  EXPECT_EQ(request.variables.front().first, "DRGPUM_BLOCK_SAMPLING");
  EXPECT_EQ(request.variables.front().second, "8");
}

TEST(RunCommandLine, MistakesAreNamed) {
  EXPECT_EQ(error_of({}), "no program to run (see drgpum run --help)");
  EXPECT_EQ(error_of({"--nonsense", "a"}), "unknown option --nonsense (see drgpum run --help)");
  EXPECT_EQ(error_of({"-o"}), "-o needs a value (see drgpum run --help)");
  EXPECT_EQ(error_of({"--timing=1", "a"}), "--timing takes no value (see drgpum run --help)");
  EXPECT_EQ(error_of({"--quiet=1", "a"}), "--quiet takes no value (see drgpum run --help)");
  EXPECT_EQ(error_of({"--device", "tpu", "a"}),
            "--device: 'tpu' is none of auto, gpu, emulated (see drgpum run --help)");
  EXPECT_EQ(error_of({"--kernel-sampling", "-1", "a"}),
            "--kernel-sampling: '-1' is not a whole number (see drgpum run --help)");
}

TEST(RunCommandLine, HelpNeedsNoProgram) {
  EXPECT_TRUE(parse({"--help"}).help);
}

}  // namespace
}  // namespace drgpum::profiler

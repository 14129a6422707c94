// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/front_end.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace drgpum::profiler {
namespace {

using Words = std::vector<std::string>;

std::string translated(const Words& words) {
  const auto run = translate_to_run(words);
  if (!run) return run.error().message;
  std::string text;
  for (const std::string& word : *run)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

TEST(FrontEnd, OnlyTheLastToolBeforeTheProgramCounts) {
  EXPECT_TRUE(asks_for_drgpum({"--tool", "drgpum", "./app"}));
  EXPECT_TRUE(asks_for_drgpum({"--tool=drgpum", "./app"}));
  EXPECT_TRUE(asks_for_drgpum({"--tool", "memcheck", "--tool", "drgpum", "./app"}));
  EXPECT_FALSE(asks_for_drgpum({"--tool", "drgpum", "--tool", "racecheck", "./app"}));
  EXPECT_FALSE(asks_for_drgpum({"./app", "--tool", "drgpum"}));
  EXPECT_FALSE(asks_for_drgpum({}));
  EXPECT_FALSE(asks_for_drgpum({"--help"}));
}

TEST(FrontEnd, BeginningsOfTheOptionNameCountWhileTheyAreUnambiguous) {
  EXPECT_TRUE(asks_for_drgpum({"--too", "drgpum", "./app"}));
  EXPECT_TRUE(asks_for_drgpum({"--to=drgpum", "./app"}));
  EXPECT_FALSE(asks_for_drgpum({"--t", "drgpum", "./app"}));
}

TEST(FrontEnd, ValuesOfOtherOptionsAreNotTakenForOptions) {
  EXPECT_TRUE(asks_for_drgpum({"--log-file", "x", "-c", "3", "--tool", "drgpum", "./app"}));
  EXPECT_TRUE(asks_for_drgpum({"--padding", "32", "--tool", "drgpum", "./app"}));
  EXPECT_TRUE(asks_for_drgpum({"-c3", "--xml", "--tool", "drgpum", "./app"}));
  EXPECT_FALSE(asks_for_drgpum({"--prefix", "--tool", "drgpum", "./app"}));
}

TEST(FrontEnd, SharedOptionsKeepTheirMeaning) {
  EXPECT_EQ(translated({"--tool", "drgpum", "--save", "a.drgp", "-c", "5", "-s", "2", "-q",
                        "--nvtx", "yes", "./app", "-x"}),
            "--output=a.drgp --launch-count=5 --launch-skip=2 --quiet -- ./app -x");
  EXPECT_EQ(translated({"--tool=drgpum", "--launch-count=0", "./app"}), "-- ./app");
  EXPECT_EQ(translated({"--tool=drgpum", "--log-file", "f", "./app"}), "--log-file=f -- ./app");
}

TEST(FrontEnd, KernelNamesMayBeAList) {
  EXPECT_EQ(translated({"--tool=drgpum", "--kernel-name", "kns=a,regex=b{1,2},kne=c", "./app"}),
            "--kernel-regex=kns=a --kernel-regex=regex=b{1,2} --kernel-regex=kne=c -- ./app");
  EXPECT_EQ(translated({"--tool=drgpum", "--kernel-name-exclude=kns=a", "./app"}),
            "--kernel-regex-exclude=kns=a -- ./app");
}

TEST(FrontEnd, OptionsWithoutAMeaningAreRefused) {
  EXPECT_EQ(translated({"--tool=drgpum", "--leak-check", "full", "./app"}),
            "option --leak-check has no meaning for --tool drgpum");
  EXPECT_EQ(translated({"--tool=drgpum", "--error-exitcode", "7", "./app"}),
            "option --error-exitcode has no meaning for --tool drgpum; use `drgpum report "
            "--fail-on`");
}

// Folders with a file `compute-sanitizer` in each.
struct Installations {
  std::string root = testing::TempDir() + "drgpum-front-end-test";
  Installations() { std::filesystem::remove_all(root); }
  ~Installations() { std::filesystem::remove_all(root); }
  std::string add(const std::string& folder) {
    std::filesystem::create_directories(root + "/" + folder);
    const std::string file = root + "/" + folder + "/compute-sanitizer";
    std::ofstream(file) << "#!/bin/sh\n";
    chmod(file.c_str(), 0755);
    return file;
  }
};

TEST(FrontEnd, TheRealOneIsTheNextOnPathThatIsNoFrontEnd) {
  Installations at;
  const std::string own = at.add("own"), other = at.add("other"), real = at.add("real");
  std::filesystem::create_directories(at.root + "/link");
  std::filesystem::create_symlink(own, at.root + "/link/compute-sanitizer");
  const std::string path =
      at.root + "/link:" + at.root + "/own:" + at.root + "/other:" + at.root + "/real";
  const Environment environment = [&](const char* name) {
    return std::string(name) == "PATH" ? path.c_str() : nullptr;
  };
  EXPECT_EQ(find_real_compute_sanitizer(own, {other}, environment), real);
  EXPECT_EQ(find_real_compute_sanitizer(own, {}, environment), other);
}

TEST(FrontEnd, TheRealOneMayBeNamedOrLieInTheToolkit) {
  Installations at;
  const std::string own = at.add("own"), real = at.add("cuda/compute-sanitizer");
  const std::string home = at.root + "/cuda";
  EXPECT_EQ(find_real_compute_sanitizer(own, {},
                                        [&](const char* name) {
                                          return std::string(name) == "CUDA_HOME" ? home.c_str()
                                                                                  : nullptr;
                                        }),
            real);
  EXPECT_EQ(find_real_compute_sanitizer(
                own, {},
                [](const char* name) {
                  return std::string(name) == "DRGPUM_REAL_COMPUTE_SANITIZER" ? "/x/cs" : nullptr;
                }),
            "/x/cs");
}

}  // namespace
}  // namespace drgpum::profiler

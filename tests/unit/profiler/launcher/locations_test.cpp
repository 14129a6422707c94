// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/locations.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace drgpum::profiler {
namespace {

struct Folder {
  std::string root = testing::TempDir() + "drgpum-locations-test";
  Folder() {
    std::filesystem::remove_all(root);
    std::filesystem::create_directories(root);
  }
  ~Folder() { std::filesystem::remove_all(root); }
};

TEST(Locations, EverythingIsFoundFromThePrefixOfTheRunningProgram) {
  const Locations found = locations_from("/opt/x/libexec/drgpum/drgpum-run");
  EXPECT_EQ(found.drgpum, "/opt/x/bin/drgpum");
  EXPECT_EQ(found.run, "/opt/x/libexec/drgpum/drgpum-run");
  EXPECT_EQ(found.injected_library, "/opt/x/lib/drgpum/libdrgpum.so");
  EXPECT_EQ(found.emulator, "/opt/x/lib/drgpum/emulator");
}

TEST(Locations, TheBuildTreeKeepsTheEmulatorElsewhere) {
  const Folder folder;
  std::filesystem::create_directories(folder.root + "/emulator/lib");
  EXPECT_EQ(locations_from(folder.root + "/libexec/drgpum/drgpum-run").emulator,
            folder.root + "/emulator/lib");
  std::filesystem::create_directories(folder.root + "/lib/drgpum/emulator");
  EXPECT_EQ(locations_from(folder.root + "/libexec/drgpum/drgpum-run").emulator,
            folder.root + "/lib/drgpum/emulator");
}

TEST(FindProgram, LooksThroughPathForExecutableFiles) {
  const Folder folder;
  for (const char* sub : {"a", "b"}) {
    std::filesystem::create_directories(folder.root + "/" + sub);
    std::ofstream(folder.root + "/" + sub + "/app") << "x";
  }
  const std::string path = folder.root + "/a:" + folder.root + "/b";
  const Environment environment = [&](const char*) { return path.c_str(); };
  EXPECT_EQ(find_program("app", environment), folder.root + "/a/app") << "found, not executable";
  chmod((folder.root + "/b/app").c_str(), 0755);
  EXPECT_EQ(find_program("app", environment), folder.root + "/b/app");
  EXPECT_EQ(find_program("other", environment), "");
  EXPECT_EQ(find_program(folder.root + "/a/app", environment), folder.root + "/a/app");
  EXPECT_EQ(find_program("./no/such", environment), "");
}

}  // namespace
}  // namespace drgpum::profiler

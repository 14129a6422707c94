// SPDX-License-Identifier: Apache-2.0
// Frames that are kept come back; files that are damaged count as none.
#include "offline/source/symbol_cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

namespace drgpum {
namespace {

class SymbolCacheTest : public testing::Test {
 protected:
  SymbolCacheTest() : folder_("/tmp/drgpum-cache-" + std::to_string(::getpid())) {}
  ~SymbolCacheTest() override { std::filesystem::remove_all(folder_); }

  static CachedFrames frames() {
    CachedFrames frames;
    frames[0x1000] = {{"inner(int)", "/a b/x.h", 7, true}, {"main", "/a b/x.cu", 12, false}};
    frames[0x2000] = {{"", "", 0, false}};
    return frames;
  }
  static std::string text(const CachedFrames& frames) {
    std::string text;
    for (const auto& [address, chain] : frames)
      for (const AddressFrame& frame : chain)
        text += std::to_string(address) + " " + frame.function + " " + frame.file + ":" +
                std::to_string(frame.line) + (frame.inlined ? " inlined\n" : "\n");
    return text;
  }
  std::string folder_;
};

TEST_F(SymbolCacheTest, KeepsFramesByBuildId) {
  const SymbolCache cache(folder_ + "/deep/er");
  EXPECT_TRUE(cache.read("ab12").empty());
  cache.write("ab12", frames());
  EXPECT_EQ(text(cache.read("ab12")), text(frames()));
  EXPECT_TRUE(cache.read("ab13").empty());
  CachedFrames more = frames();
  more[0x3000] = {{"f", "g", 1, false}};
  cache.write("ab12", more);
  EXPECT_EQ(text(cache.read("ab12")), text(more));
}

TEST_F(SymbolCacheTest, NoFileLiesOutsideItsDirectory) {
  const SymbolCache cache(folder_);
  cache.write("../escaped", frames());
  cache.write("", frames());
  EXPECT_FALSE(std::filesystem::exists(folder_));
  SymbolCache("").write("ab12", frames());
  EXPECT_TRUE(SymbolCache("").read("ab12").empty());
}

TEST_F(SymbolCacheTest, NoDamageIsTrusted) {
  const SymbolCache cache(folder_);
  cache.write("ab12", frames());
  const std::string path = folder_ + "/ab12.lines";
  std::ifstream file(path, std::ios::binary);
  const std::string good(std::istreambuf_iterator<char>(file), {});
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 4);
    std::ofstream(path, std::ios::binary) << bad;
    EXPECT_TRUE(cache.read("ab12").empty()) << at;
    std::ofstream(path, std::ios::binary) << good.substr(0, at);
    EXPECT_TRUE(cache.read("ab12").empty()) << at;
  }
}

// An older drgpum may have found less; of a bundle it is all there is.
TEST_F(SymbolCacheTest, WhatAnOlderProgramFoundIsTakenOfBundlesOnly) {
  const SymbolCache cache(folder_);
  cache.write("ab12", frames());
  std::fstream file(folder_ + "/ab12.lines", std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(10).put(0).put(0);
  file.close();
  EXPECT_TRUE(cache.read("ab12").empty());
  EXPECT_EQ(text(SymbolCache(folder_, SymbolCache::Older::kTaken).read("ab12")), text(frames()));
}

TEST_F(SymbolCacheTest, WhatOthersCouldHaveWrittenIsNotTrusted) {
  const SymbolCache cache(folder_);
  cache.write("ab12", frames());
  const std::string path = folder_ + "/ab12.lines";
  ASSERT_FALSE(cache.read("ab12").empty());
  std::filesystem::permissions(path, std::filesystem::perms::group_write,
                               std::filesystem::perm_options::add);
  EXPECT_TRUE(cache.read("ab12").empty());
  cache.write("ab12", frames());  // its own file again
  EXPECT_FALSE(cache.read("ab12").empty());
  std::filesystem::rename(path, folder_ + "/elsewhere");
  std::filesystem::create_symlink("elsewhere", path);
  EXPECT_TRUE(cache.read("ab12").empty());
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_TRUE(cache.read("ab12").empty());  // and does not wait for a writer
  std::filesystem::remove(path);
  std::filesystem::create_directory(path);
  EXPECT_TRUE(cache.read("ab12").empty());
  cache.write("ab12", frames());
  EXPECT_TRUE(std::filesystem::is_directory(path));
}

TEST_F(SymbolCacheTest, TheDirectoryFollowsTheEnvironment) {
  ::unsetenv("DRGPUM_CACHE_DIR");
  ::unsetenv("XDG_CACHE_HOME");
  ::setenv("HOME", "/home/me", 1);
  EXPECT_EQ(default_cache_directory(), "/home/me/.cache/drgpum");
  ::setenv("XDG_CACHE_HOME", "/cache", 1);
  EXPECT_EQ(default_cache_directory(), "/cache/drgpum");
  ::setenv("DRGPUM_CACHE_DIR", "/own", 1);
  EXPECT_EQ(default_cache_directory(), "/own");
  ::setenv("DRGPUM_CACHE_DIR", "", 1);
  EXPECT_EQ(default_cache_directory(), "");
}

}  // namespace
}  // namespace drgpum

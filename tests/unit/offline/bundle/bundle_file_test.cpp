// SPDX-License-Identifier: Apache-2.0
// Parts come back as they went in; damage, lies about sizes and hostile names do no harm.
#include "offline/bundle/bundle_file.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace drgpum::bundle {
namespace {

constexpr std::uint64_t kRoom = 64 << 20;

class BundleTest : public testing::Test {
 protected:
  BundleTest() : folder_("/tmp/drgpum-bundle-" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~BundleTest() override { std::filesystem::remove_all(folder_); }

  static std::string content(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }
  // A fresh folder to unpack to.
  std::string target() {
    std::string path = folder_ + "/out" + std::to_string(targets_++);
    std::filesystem::create_directories(path);
    return path;
  }
  std::string bundle() {
    const std::string path = folder_ + "/a.drgb";
    put(folder_ + "/trace.drgp", std::string(20'000, 'x') + "the end");
    auto writer = Writer::create(path, true);
    EXPECT_TRUE(writer);
    EXPECT_TRUE(writer->add_file(PartKind::kTrace, "", folder_ + "/trace.drgp"));
    EXPECT_TRUE(writer->add(PartKind::kImage, "c0de", "image"));
    EXPECT_TRUE(writer->add(PartKind::kLines, "ab12", "lines"));
    EXPECT_TRUE(writer->add(PartKind::kSource, "/src/../a b.cu", "line\n"));
    EXPECT_TRUE(writer->add(PartKind::kImage, "../../escaped", "no"));
    EXPECT_TRUE(writer->finish());
    return path;
  }

  std::string folder_;
  int targets_ = 0;
};

TEST_F(BundleTest, PartsComeBack) {
  const std::string path = bundle();
  EXPECT_TRUE(is_bundle(path));
  EXPECT_FALSE(is_bundle(folder_ + "/trace.drgp"));
  EXPECT_FALSE(is_bundle(folder_));
  EXPECT_LT(std::filesystem::file_size(path), 2000u);  // packed
  const std::string out = target();
  const auto unpacked = unpack(path, out, kRoom);
  ASSERT_TRUE(unpacked) << unpacked.error().message;
  EXPECT_EQ(content(unpacked->trace), content(folder_ + "/trace.drgp"));
  EXPECT_EQ(content(out + "/c0de"), "image");
  EXPECT_EQ(content(out + "/ab12.lines"), "lines");
  ASSERT_EQ(unpacked->sources.size(), 1u);
  EXPECT_EQ(unpacked->sources[0].first, "/src/../a b.cu");
  EXPECT_EQ(content(unpacked->sources[0].second), "line\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/escaped"));
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_))
    EXPECT_EQ(entry.path().string().find("escaped"), std::string::npos);
}

TEST_F(BundleTest, AFileThatIsThereIsNotReplacedUnasked) {
  const std::string path = bundle();
  const auto again = Writer::create(path, false);
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(Writer::create(folder_ + "/none/b.drgb", false).error().code, ErrorCode::kIo);
  {
    auto writer = Writer::create(folder_ + "/unfinished", false);
    ASSERT_TRUE(writer);
    EXPECT_FALSE(writer->add_file(PartKind::kTrace, "", folder_ + "/none"));
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder_))
    EXPECT_EQ(entry.path().string().find("unfinished"), std::string::npos);
}

TEST_F(BundleTest, NoRoomIsSaid) {
  const auto unpacked = unpack(bundle(), target(), 1000);
  ASSERT_FALSE(unpacked);
  EXPECT_EQ(unpacked.error().code, ErrorCode::kUnsupported);
}

TEST_F(BundleTest, EveryChangedOrMissingByteIsNoticed) {
  const std::string good = content(bundle());
  const std::string path = folder_ + "/bad.drgb";
  std::size_t refused = 0;
  for (std::size_t at = 0; at < good.size(); ++at) {
    put(path, good.substr(0, at));
    EXPECT_FALSE(unpack(path, target(), kRoom)) << at;
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x11);
    put(path, bad);
    const std::string out = target();
    const auto unpacked = unpack(path, out, kRoom);
    refused += unpacked ? 0 : 1;
    // What is not refused has the trace as it was: names and unused fields are not summed.
    if (unpacked) {
      EXPECT_EQ(content(unpacked->trace), content(folder_ + "/trace.drgp")) << at;
    }
    std::filesystem::remove_all(out);
  }
  EXPECT_GT(refused, good.size() / 2);
}

TEST_F(BundleTest, SizesAreNotBelieved) {
  std::string bytes = content(bundle());
  PartHeader header;
  std::memcpy(&header, bytes.data() + sizeof(FileHeader), sizeof header);
  for (const std::uint64_t claimed : {header.bytes - 1, header.bytes + 1, std::uint64_t{1} << 60}) {
    PartHeader lie = header;
    lie.bytes = claimed;
    std::memcpy(bytes.data() + sizeof(FileHeader), &lie, sizeof lie);
    put(folder_ + "/lie.drgb", bytes);
    EXPECT_FALSE(unpack(folder_ + "/lie.drgb", target(), kRoom));
  }
}

TEST_F(BundleTest, RandomBytesAreRefused) {
  std::mt19937 random(7);
  for (int k = 0; k < 300; ++k) {
    std::string bytes(kMagic.begin(), kMagic.end());
    bytes += std::string("\1\0\0\0\0\0\0\0", 8);
    for (auto left = random() % 400; left > 0; --left)
      bytes += static_cast<char>(k % 2 == 0 ? random() : random() % 5);
    put(folder_ + "/random.drgb", bytes);
    const std::string out = target();
    EXPECT_FALSE(unpack(folder_ + "/random.drgb", out, kRoom));
    std::filesystem::remove_all(out);
  }
}

}  // namespace
}  // namespace drgpum::bundle

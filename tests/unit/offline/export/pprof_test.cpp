// SPDX-License-Identifier: Apache-2.0
// The profile, unpacked with zlib and read with protobuf's own code and the published numbers.

#include <map>
#include <set>

#include <zlib.h>

#include "profile.pb.h"
#include "tests/support/random_program.h"
#include "tests/unit/offline/export/exported.h"

namespace drgpum {
namespace {

std::string unpacked(std::string bytes) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
  std::string out(std::size_t{1} << 22, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

struct ReadProfile {
  pprof::Profile profile;
  std::map<std::uint64_t, pprof::Location> locations;
  std::map<std::uint64_t, pprof::Function> functions;

  explicit ReadProfile(const std::string& bytes) {
    EXPECT_TRUE(profile.ParseFromString(unpacked(bytes)));
    for (const auto& one : profile.location())
      EXPECT_TRUE(locations.emplace(one.id(), one).second && one.id() != 0);
    for (const auto& one : profile.function())
      EXPECT_TRUE(functions.emplace(one.id(), one).second && one.id() != 0);
  }

  std::string text(std::int64_t number) const {
    EXPECT_LT(number, profile.string_table_size());
    return profile.string_table(static_cast<int>(number));
  }

  // What readers check before they take a profile.
  void check() const {
    ASSERT_GT(profile.string_table_size(), 0);
    EXPECT_EQ(profile.string_table(0), "");
    std::set<std::string> texts(profile.string_table().begin(), profile.string_table().end());
    EXPECT_EQ(texts.size(), static_cast<std::size_t>(profile.string_table_size()));
    for (const auto& sample : profile.sample()) {
      EXPECT_EQ(sample.value_size(), profile.sample_type_size());
      EXPECT_GT(sample.location_id_size(), 0);
      for (const std::uint64_t id : sample.location_id())
        EXPECT_TRUE(locations.contains(id));
    }
    for (const auto& [id, location] : locations)
      for (const auto& line : location.line())
        EXPECT_TRUE(functions.contains(line.function_id()));
    for (const auto& [id, function] : functions)
      EXPECT_FALSE(text(function.name()).empty());
    EXPECT_EQ(text(profile.default_sample_type()), "inuse_space");
  }

  // "make1:11 main:3" to its values.
  std::map<std::string, std::vector<std::int64_t>> samples() const {
    std::map<std::string, std::vector<std::int64_t>> found;
    for (const auto& sample : profile.sample()) {
      std::string stack;
      for (const std::uint64_t id : sample.location_id()) {
        const auto& line = locations.at(id).line(0);
        stack += (stack.empty() ? "" : " ") + text(functions.at(line.function_id()).name()) + ":" +
                 std::to_string(line.line());
      }
      found[stack] = {sample.value().begin(), sample.value().end()};
    }
    return found;
  }
};

TEST(Pprof, HasOneSampleForEachPlace) {
  const Exported exported(
      "path P 0x10\npath Q 0x20\nalloc a 1000 path=P\nalloc b 2000 path=P\nlaunch k writes a reads "
      "b\nfree a\n"
      "alloc c 500 path=Q\nlaunch k writes c reads b\nfree b\nfree c\nalloc d 7\nlaunch k writes "
      "d\nfree d\nend exit=0\n");
  const ReadProfile read(exported.as("pprof"));
  read.check();
  std::vector<std::string> types;
  for (const auto& type : read.profile.sample_type())
    types.push_back(read.text(type.type()) + "/" + read.text(type.unit()));
  EXPECT_EQ(types, (std::vector<std::string>{"alloc_objects/count", "alloc_space/bytes",
                                             "inuse_objects/count", "inuse_space/bytes",
                                             "wasted_space/bytes"}));
  std::int64_t wasted = 0;  // c could take the place of a
  for (const Finding& finding : exported.report.findings)
    wasted += static_cast<std::int64_t>(finding.wasted_bytes);
  const auto samples = read.samples();
  ASSERT_EQ(samples.size(), 3u);
  const std::vector<std::int64_t>& first = samples.at("make1:11 main:3");
  EXPECT_EQ(first[0], 2);
  EXPECT_EQ(first[1], 3000);
  EXPECT_EQ(first[2], 2);
  EXPECT_EQ(first[3], 3000);
  EXPECT_EQ(samples.at("make2:12 main:3")[3], 0);
  EXPECT_EQ(samples.at("(no call path):0")[1], 7);
  EXPECT_LE(first[4] + samples.at("make2:12 main:3")[4], wasted);
}

TEST(Pprof, SumsAreThoseOfTheReport) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Exported exported(RandomProgram(seed, true).text());
    const ReadProfile read(exported.as("pprof"));
    read.check();
    std::uint64_t at_peak = 0;
    std::uint64_t objects = 0;
    for (const auto& sample : read.profile.sample()) {
      objects += static_cast<std::uint64_t>(sample.value(0));
      at_peak += static_cast<std::uint64_t>(sample.value(3));
    }
    const Report& report = exported.report;
    EXPECT_EQ(at_peak, report.peak_bytes());
    EXPECT_EQ(objects, static_cast<std::uint64_t>(std::count_if(
                           report.evidence.objects.begin(), report.evidence.objects.end(),
                           [&](const Object& o) { return holds_memory(o, report.level); })));
  }
}

TEST(Pprof, IsTheSameBytesEachTime) {
  const std::string text = RandomProgram(5, true).text();
  EXPECT_EQ(Exported(text).as("pprof"), Exported(text).as("pprof"));
}

TEST(Pprof, NamesAreCleanText) {
  const ReadProfile read(Exported(evil_records(), kEvilName).as("pprof"));
  read.check();
  for (const std::string& text : read.profile.string_table())
    EXPECT_TRUE(is_clean(text)) << text;
}

TEST(Pprof, AnEmptyTraceIsAProfile) {
  const ReadProfile read(Exported("end exit=0\n").as("pprof"));
  read.check();
  EXPECT_EQ(read.profile.sample_size(), 0);
  EXPECT_EQ(read.profile.sample_type_size(), 5);
}

}  // namespace
}  // namespace drgpum

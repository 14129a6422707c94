// SPDX-License-Identifier: Apache-2.0
// The structure that speedscope's file-format-schema.json asks for, and the sums.

#include <set>

#include <nlohmann/json.hpp>

#include "tests/support/random_program.h"
#include "tests/unit/offline/export/exported.h"

namespace drgpum {
namespace {

using Json = nlohmann::json;

void expect_keys(const Json& object, const std::set<std::string>& needed,
                 const std::set<std::string>& allowed) {
  ASSERT_TRUE(object.is_object());
  for (const std::string& key : needed)
    EXPECT_TRUE(object.contains(key)) << key;
  for (const auto& [key, value] : object.items())
    EXPECT_TRUE(needed.contains(key) || allowed.contains(key)) << key;
}

void check(const Json& file) {
  expect_keys(file, {"$schema", "profiles", "shared"}, {"name", "exporter", "activeProfileIndex"});
  EXPECT_EQ(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
  const Json& frames = file["shared"]["frames"];
  for (const Json& frame : frames) {
    expect_keys(frame, {"name"}, {"file", "line", "col"});
    EXPECT_TRUE(frame["name"].is_string());
  }
  const std::set<std::string> units{"bytes",        "none",         "nanoseconds",
                                    "microseconds", "milliseconds", "seconds"};
  for (const Json& profile : file["profiles"]) {
    expect_keys(profile, {"type", "name", "unit", "startValue", "endValue", "samples", "weights"},
                {});
    EXPECT_EQ(profile["type"], "sampled");
    EXPECT_TRUE(units.contains(profile["unit"]));
    ASSERT_EQ(profile["samples"].size(), profile["weights"].size());
    double sum = 0;
    for (const Json& weight : profile["weights"])
      sum += weight.get<double>();
    EXPECT_DOUBLE_EQ(profile["endValue"].get<double>(), sum);
    for (const Json& sample : profile["samples"])
      for (const Json& frame : sample)
        EXPECT_LT(frame.get<std::size_t>(), frames.size());
  }
}

TEST(Speedscope, HoldsPlacesFromTheRootOn) {
  const Json file = Json::parse(
      Exported("path P 0x10\nalloc a 1000 path=P\nlaunch k writes a\nfree a\nend exit=0\n")
          .as("speedscope"));
  check(file);
  const Json& live = file["profiles"][0];
  ASSERT_EQ(live["samples"].size(), 1u);
  std::vector<std::string> stack;
  for (const Json& frame : live["samples"][0])
    stack.push_back(file["shared"]["frames"][frame.get<std::size_t>()]["name"]);
  EXPECT_EQ(stack, (std::vector<std::string>{"main", "make1"}));
  EXPECT_EQ(live["weights"][0], 1000.0);
  const Json& held = file["profiles"][3];
  EXPECT_EQ(held["name"], "bytes held, times calls");
  EXPECT_EQ(held["endValue"], 2000.0);  // for two calls
}

TEST(Speedscope, BytesTimesSecondsWhereTimesAreKnown) {
  const Json file =
      Json::parse(Exported("alloc a 1000\nlaunch k writes a time=0,1000000000\nlaunch k reads a "
                           "time=1000000000,3000000000\n"
                           "free a\nend exit=0\n")
                      .as("speedscope"));
  check(file);
  EXPECT_EQ(file["profiles"][3]["name"], "bytes held, times seconds");
  EXPECT_DOUBLE_EQ(file["profiles"][3]["endValue"].get<double>(), 3000.0);
}

TEST(Speedscope, SumsAreThoseOfTheReport) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Exported exported(RandomProgram(seed, true).text());
    const Json file = Json::parse(exported.as("speedscope"));
    check(file);
    EXPECT_EQ(file["profiles"][0]["endValue"].get<double>(),
              static_cast<double>(exported.report.peak_bytes()));
  }
}

TEST(Speedscope, NamesAreCleanText) {
  const Json file = Json::parse(Exported(evil_records(), kEvilName).as("speedscope"));
  check(file);
  for (const Json& frame : file["shared"]["frames"])
    EXPECT_TRUE(is_clean(frame["name"].get<std::string>()) && is_clean(frame.value("file", "")));
}

TEST(Speedscope, AnEmptyTraceHasEmptyProfiles) {
  const Json file = Json::parse(Exported("end exit=0\n").as("speedscope"));
  check(file);
  EXPECT_EQ(file["profiles"].size(), 4u);
}

}  // namespace
}  // namespace drgpum

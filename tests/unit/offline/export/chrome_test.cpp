// SPDX-License-Identifier: Apache-2.0
// Trace events in JSON, in both layouts.

#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "tests/support/random_program.h"
#include "tests/unit/offline/export/exported.h"

namespace drgpum {
namespace {

using Json = nlohmann::json;

std::string published(const Exported& exported) {
  std::ostringstream out;
  EXPECT_TRUE(export_chrome_published(exported.input(), out));
  return out.str();
}

// "name [ts, ts + dur)" of the boxes of one row.
std::vector<std::string> boxes(const Json& events, int pid, int tid) {
  std::vector<std::string> found;
  for (const Json& event : events)
    if (event["ph"] == "X" && event["pid"] == pid && event["tid"] == tid)
      found.push_back(event["name"].get<std::string>() + " [" +
                      std::to_string(event["ts"].get<int>()) + ", " +
                      std::to_string(event["ts"].get<int>() + event["dur"].get<int>()) + ")");
  return found;
}

TEST(Chrome, HoldsStreamsObjectsAndLiveBytes) {
  const Exported exported("alloc a 1M\nlaunch k writes a\nlaunch k reads a\nfree a\nend exit=0\n");
  const Json trace = Json::parse(exported.as("chrome"));
  EXPECT_NE(trace["otherData"]["axis"].get<std::string>().find("issue order"), std::string::npos);
  const Json& events = trace["traceEvents"];
  EXPECT_EQ(boxes(events, 0, 0), (std::vector<std::string>{"k [1, 2)", "k [2, 3)"}));
  EXPECT_EQ(boxes(events, 1, 1), (std::vector<std::string>{"a [0, 3)"}));
  std::vector<std::uint64_t> live;
  for (const Json& event : events)
    if (event["ph"] == "C") live.push_back(event["args"]["bytes"].get<std::uint64_t>());
  EXPECT_EQ(live, (std::vector<std::uint64_t>{1u << 20, 0}));
}

TEST(Chrome, BoxesOfARowNeverCross) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(seed);
    const Json events =
        Json::parse(Exported(RandomProgram(seed, true).text()).as("chrome"))["traceEvents"];
    std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> rows;
    for (const Json& event : events)
      if (event["ph"] == "X" && event["pid"] != 3)  // phases nest
        rows[{event["pid"].get<int>(), event["tid"].get<int>()}].emplace_back(
            event["ts"].get<double>(), event["ts"].get<double>() + event["dur"].get<double>());
    EXPECT_FALSE(rows.empty());
    for (auto& [row, spans] : rows) {
      std::sort(spans.begin(), spans.end());
      for (std::size_t i = 1; i < spans.size(); ++i)
        EXPECT_LE(spans[i - 1].second, spans[i].first);
    }
  }
}

// The layout of the published tool's liveness.json: two processes, boxes of length 1 at the level
// of their call, largest object first, idle boxes between.
TEST(Chrome, PublishedLayout) {
  const Exported exported(
      "path P 0x10\nalloc small 1K path=P\nalloc big 1M\nmemset small\nlaunch k writes big\nlaunch "
      "l updates big\n"
      "launch m reads big reads small\nmemcpy d2h big\nfree big\nfree small\nend exit=0\n");
  const Json events = Json::parse(published(exported));
  ASSERT_TRUE(events.is_array());
  std::map<std::string, std::string> names;
  for (const Json& event : events)
    if (event["ph"] == "M")
      names[event["name"].get<std::string>() + " " + event["pid"].dump() + " " +
            event["tid"].dump()] = event["args"]["name"];
  EXPECT_EQ(names, (std::map<std::string, std::string>{{"process_name 0 0", "GPU Streams"},
                                                       {"process_name 1 0", "Objects"},
                                                       {"thread_name 0 0", "Stream"},
                                                       {"thread_name 1 1", "Object (1048576 B)"},
                                                       {"thread_name 1 2", "Object (1024 B)"}}));
  std::vector<std::string> order;
  for (const Json& event : events)
    if (event["pid"] == 0 && event["ph"] == "X") {
      EXPECT_EQ(event["dur"], 1);
      order.push_back(event["name"]);
    }
  EXPECT_EQ(order, (std::vector<std::string>{"ALLOC(0, 1)", "ALLOC(0, 2)", "SET(0, 1)",
                                             "KERL(0, 1)", "KERL(0, 2)", "KERL(0, 3)", "CPYF(0, 1)",
                                             "FREE(0, 1)", "FREE(0, 2)"}));
  bool idle = false;
  for (const Json& event : events)
    if (event["pid"] == 1 && event["tid"] == 2 && event["name"] == "IDLE")
      idle = event["dur"].get<int>() > 0;
  EXPECT_TRUE(idle) << "small waits while big is computed";
  const auto alloc = std::find_if(events.begin(), events.end(), [](const Json& event) {
    return event["pid"] == 1 && event["tid"] == 2 && event["cat"] == "A";
  });
  ASSERT_NE(alloc, events.end());
  const Json& args = (*alloc)["args"];
  EXPECT_EQ(args["ID"], 0);
  EXPECT_EQ(args["Call path0"], "make1 at src/a.cpp:11");
  EXPECT_EQ(args["Call path1"], "main at src/main.cpp:3");
  EXPECT_NE(args["Inefficiency pattern"].get<std::string>().find("early allocation"),
            std::string::npos);
  EXPECT_EQ(args["Inefficiency distance0"], 2);
  EXPECT_FALSE(args["Optimization suggestion0"].get<std::string>().empty());
}

TEST(Chrome, NumbersCountWithinTheirStream) {
  const Json events = Json::parse(
      published(Exported("stream a\nstream b\nalloc o 1\nlaunch k writes o on=a\nlaunch k writes o "
                         "on=b\nlaunch k writes o on=b\nend\n")));
  std::set<std::string> names;
  for (const Json& event : events)
    if (event["pid"] == 0 && event["cat"] == "K") names.insert(event["name"]);
  EXPECT_EQ(names, (std::set<std::string>{"KERL(1, 1)", "KERL(2, 1)", "KERL(2, 2)"}));
}

void expect_clean(const Json& value) {
  if (value.is_string()) {
    EXPECT_TRUE(is_clean(value.get<std::string>())) << value;
  }
  if (value.is_structured())
    for (const auto& [key, inner] : value.items())
      expect_clean(inner);
}

TEST(Chrome, NamesAreCleanText) {
  const Exported exported(evil_records(), kEvilName);
  expect_clean(Json::parse(exported.as("chrome")));
  expect_clean(Json::parse(published(exported)));
}

TEST(Chrome, AnEmptyTraceIsATrace) {
  const Exported exported("end exit=0\n");
  EXPECT_TRUE(Json::parse(exported.as("chrome"))["traceEvents"].is_array());
  EXPECT_EQ(Json::parse(published(exported)).size(), 2u);  // the names of the two processes
}

}  // namespace
}  // namespace drgpum

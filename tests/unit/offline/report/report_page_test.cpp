// SPDX-License-Identifier: Apache-2.0
// The page that holds a report: nothing in it can leave its place, and its columns say what the
// schema's list says.
#include "offline/report/report_page.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <sstream>

#include <nlohmann/json.hpp>
#include <zlib.h>

#include "offline/report/page_calls.h"
#include "offline/report/page_columns.h"
#include "offline/report/report_json.h"
#include "tests/support/judged.h"

namespace drgpum {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kBefore = "<html>";
constexpr std::string_view kAfter = "END</html>";
constexpr std::string_view kPlainOpen = R"(<script type="application/json" id="drgpum-report">)";
constexpr std::string_view kPackedOpen =
    R"(<script type="application/octet-stream" id="drgpum-report">)";
constexpr std::string_view kClose = "</script>";
constexpr std::string_view kApplication =
    R"(<html><script type="application/json" id="drgpum-report"></script>END</html>)";

std::string page_of(const Report& report, PageParts parts = {kApplication, {}}) {
  std::ostringstream out;
  const Status status = write_page({&report, 1}, parts, out);
  EXPECT_TRUE(status) << status.error().message;
  return out.str();
}

// What stands in the place of the report.
std::string content_of(const std::string& page, std::string_view open) {
  const std::size_t begin = kBefore.size() + open.size();
  EXPECT_EQ(page.substr(0, begin), std::string(kBefore) + std::string(open));
  const std::size_t end = page.size() - kAfter.size() - kClose.size();
  EXPECT_EQ(page.substr(end), std::string(kClose) + std::string(kAfter));
  return page.substr(begin, end - begin);
}

Report example() {
  return report_from_text(
      "alloc A 1K; alloc B 2K; launch w writes B; launch x reads B writes A; free B; alloc C 512; "
      "memcpy d2h A; free A");
}

TEST(ReportPage, KeepsHostileNamesInsideTheData) {
  Report report = example();
  const std::string hostile = "</script><script>alert(1)</script><!--\xe2\x80\xa8\xe2\x80\xa9\x01";
  report.names[0] = hostile;
  const std::string content = content_of(page_of(report), kPlainOpen);
  EXPECT_EQ(content.find('<'), std::string::npos);
  EXPECT_EQ(content.find("\xe2\x80\xa8"), std::string::npos);
  EXPECT_EQ(content.find("\xe2\x80\xa9"), std::string::npos);
  EXPECT_EQ(Json::parse(content)["objects"]["names"][0], hostile);
}

std::string inflated(const std::string& packed) {
  std::string text(4 << 20, '\0');
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);
  return text;
}

std::string from_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t digit = text[at] == '=' ? 0 : kDigits.find(text[at]);
    EXPECT_NE(digit, std::string_view::npos);
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if (at % 4 == 3)
      for (const int shift : {16, 8, 0})
        bytes += static_cast<char>(bits >> shift & 255);
  }
  while (text.ends_with('=')) {
    text.remove_suffix(1);
    bytes.pop_back();
  }
  return bytes;
}

// The container inside a page that carries one.
std::string container_in(const std::string& page) {
  std::istringstream lines(content_of(page, kPackedOpen));
  std::string bytes;
  for (std::string line; std::getline(lines, line);)
    bytes += inflated(from_base64(line));
  return bytes;
}

TEST(ReportPage, PacksALargeReportSoThatItComesBackWhole) {
  Report report = example();
  std::string name;
  for (int i = 0; i < 400'000; ++i)
    name += std::to_string(std::int64_t{i} * 7919 % 100'003) + " ";
  report.names[0] = name;
  const ReportPage page({&report, 1}, {kApplication, {}});
  EXPECT_EQ(container_in(page_of(report)), container_of(page.head(), page.columns()));
  for (const std::string& piece : deflated_pieces(container_of(page.head(), page.columns())))
    EXPECT_LE(piece.size(), 1u << 20);
}

std::vector<std::int64_t> column_in(const std::string& columns, const Json& place) {
  std::vector<std::int64_t> values;
  std::uint64_t value = 0;
  for (std::size_t at = place["at"]; at < place["at"].get<std::size_t>() + place["bytes"].get<std::size_t>();) {
    std::uint64_t zigzag = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(columns[at++]);
      zigzag |= std::uint64_t{byte & 127u} << shift;
      if (byte < 128) break;
    }
    value += zigzag >> 1 ^ (zigzag & 1 ? ~std::uint64_t{0} : 0);
    values.push_back(static_cast<std::int64_t>(value));
  }
  return values;
}

// A report with enough objects to be packed; every third is never freed.
Report many_objects(int count) {
  std::string text = "alloc P 1M; ";
  for (int i = 0; i < count; ++i) {
    const std::string name = "o" + std::to_string(i);
    text += "alloc " + name + " " + std::to_string(256 * (1 + i % 7)) + "; launch k writes " + name + "; ";
    if (i % 3 != 0) text += "free " + name + "; ";
  }
  return report_from_text(text + "launch k reads P; free P");
}

TEST(ReportPage, SaysInPackedColumnsWhatItSaysInLists) {
  const Report report = many_objects(6000);
  const ReportPage page({&report, 1}, {kApplication, {}});
  const Json objects = Json::parse(page.head())["objects"];
  ASSERT_TRUE(objects["begin"].is_object());
  const auto column = [&](const char* name) { return column_in(page.columns(), objects[name]); };
  const auto begin = column("begin");
  const auto life = column("life");
  const auto size = column("size_bytes");
  const auto lane = column("lane");
  const auto& expected = report.evidence.objects;
  ASSERT_EQ(begin.size(), expected.size());
  std::map<std::int64_t, std::int64_t> lane_end;
  std::vector<std::size_t> by_begin(begin.size());
  std::iota(by_begin.begin(), by_begin.end(), 0u);
  std::stable_sort(by_begin.begin(), by_begin.end(), [&](std::size_t a, std::size_t b) { return begin[a] < begin[b]; });
  for (const std::size_t i : by_begin) {
    EXPECT_EQ(begin[i], expected[i].alloc);
    EXPECT_EQ(begin[i] + life[i], expected[i].end);
    EXPECT_EQ(size[i], static_cast<std::int64_t>(expected[i].size));
    EXPECT_LE(lane_end[lane[i]], begin[i]) << "two in one lane at once";
    lane_end[lane[i]] = begin[i] + life[i];
  }
}

TEST(ReportPage, KeepsThePeakExactWhateverItLeavesOut) {
  const Report report = many_objects(6000);
  PageParts parts{kApplication, {}};
  parts.max_objects = 100;
  parts.max_findings = 10;
  const ReportPage page({&report, 1}, parts);
  const Json head = Json::parse(page.head());
  EXPECT_LT(head["objects"]["count"], 4000);
  EXPECT_EQ(head["objects"]["total_count"], 6001);
  EXPECT_EQ(head["findings"].size(), 10u);
  std::size_t left_out = 0;
  for (const Json& sum : head["findings_left_out"])
    left_out += sum["count"].get<std::size_t>();
  EXPECT_EQ(left_out + 10, report.findings.size());
  const auto highest = column_in(page.columns(), head["curves"][0]["highest"]);
  EXPECT_EQ(*std::max_element(highest.begin(), highest.end()), static_cast<std::int64_t>(report.peak_bytes()));
}

TEST(ReportPage, SaysInColumnsWhatTheSchemaListsByObject) {
  const Report report = example();
  std::ostringstream listed;
  write_json({&report, 1}, listed);
  const Json list = Json::parse(listed.str());
  const Json page = Json::parse(content_of(page_of(report), kPlainOpen));
  const Json& columns = page["objects"];
  ASSERT_EQ(columns["count"], list["objects"].size());
  const auto index_of = [](const Json& call) {
    return call.is_null() ? std::int64_t{-1} : call["index"].get<std::int64_t>();
  };
  for (std::size_t i = 0; i < list["objects"].size(); ++i) {
    const Json& object = list["objects"][i];
    const auto begin = columns["begin"][i].get<std::int64_t>();
    EXPECT_EQ(columns["id"][i], object["id"]);
    EXPECT_EQ(begin, index_of(object["alloc"]));
    EXPECT_EQ(columns["size_bytes"][i], object["size_bytes"]);
    EXPECT_EQ(columns["names"][columns["name"][i].get<std::size_t>()], object["name"]);
    EXPECT_EQ(columns["kinds"][columns["kind"][i].get<std::size_t>()], object["kind"]);
    EXPECT_EQ(columns["freed"][i] == 1, !object["free"].is_null());
    if (!object["free"].is_null()) {
      EXPECT_EQ(begin + columns["life"][i].get<std::int64_t>(), index_of(object["free"]));
    }
    const std::int64_t first = columns["first_access"][i].get<std::int64_t>();
    EXPECT_EQ(first < 0 ? -1 : begin + first, index_of(object["first_access"]));
    if (first >= 0) {
      EXPECT_EQ(begin + first + columns["last_access"][i].get<std::int64_t>(),
                index_of(object["last_access"]));
    }
  }
  EXPECT_EQ(columns["use_call"].size(), 4u);
  for (const char* member : {"version", "peaks", "findings", "savings", "coverage", "api_count"})
    EXPECT_EQ(page[member], list[member]) << member;
}

TEST(ReportPage, LevelsCallsByTheirLongestChain) {
  const Report report = report_from_text(
      "stream s; stream t; alloc A 1K; alloc B 1K; launch a on=s writes A; launch b on=t writes B; "
      "launch c on=t reads A; launch d on=s");
  const Json calls = Json::parse(content_of(page_of(report), kPlainOpen))["calls"];
  const auto level = [&](std::size_t call) { return calls["level"][call].get<int>(); };
  // 0 and 1 allocate, one after the other; a and b are concurrent; c comes after b in its stream
  // and after a by its data; d only after a.
  EXPECT_EQ(level(2), level(3));
  EXPECT_GT(level(2), level(1));
  EXPECT_EQ(level(4), level(3) + 1);
  EXPECT_EQ(level(5), level(2) + 1);
  bool data_from_a = false;
  for (std::size_t i = 0; i < calls["edge_from"].size(); ++i)
    data_from_a = data_from_a || (calls["edge_from"][i] == 2 && calls["edge_to"][i] == 4 &&
                                  calls["edge_kind"][i] == static_cast<int>(GraphEdge::kReadAfterWrite));
  EXPECT_TRUE(data_from_a);
  // The longest chain rises by one level a call.
  const Json& critical = calls["critical"];
  ASSERT_FALSE(critical.empty());
  for (std::size_t i = 1; i < critical.size(); ++i)
    EXPECT_EQ(level(critical[i]), level(critical[i - 1]) + 1);
}

TEST(ReportPage, GivesPagesOfCallsOnlyWhereTheyAreTooMany) {
  const Report report = example();
  const ReportPage page({&report, 1}, {kApplication, {}});
  EXPECT_FALSE(page.calls_page(0, 0, false));
  EXPECT_FALSE(page.calls_page(1, 0, false));
  const PathTable paths(report);
  const PageCalls calls(report, paths);
  const std::string container = calls.page(0, true);
  const std::size_t head_bytes = static_cast<unsigned char>(container[0]) + 256u * static_cast<unsigned char>(container[1]);
  const Json head = Json::parse(container.substr(4, head_bytes));
  EXPECT_EQ(head["call"]["count"], report.evidence.api_count());
}

TEST(ReportPage, CarriesTheLinesAroundWhatItFound) {
  Report report = report_from_text("alloc A 1K; launch x; launch k reads A; free A");
  ASSERT_FALSE(report.findings.empty());
  const std::uint32_t path = 77;
  report.evidence.apis[report.evidence.objects[0].alloc].call_path = path;
  report.call_paths[path] = {{{"main", "/a/app.cu", 3}}, 0};
  PageParts parts{kApplication, [](const std::string& file, std::uint32_t line) {
                    static const std::vector<std::string> lines{"one", "two", "</script>", "four"};
                    if (file != "/a/app.cu" || line == 0 || line > lines.size())
                      return std::string_view();
                    return std::string_view(lines[line - 1]);
                  }};
  const Json sources =
      Json::parse(content_of(page_of(report, parts), kPlainOpen))["sources"]["/a/app.cu"];
  ASSERT_EQ(sources.size(), 1u);
  EXPECT_EQ(sources[0]["first"], 1);
  EXPECT_EQ(sources[0]["lines"][2], "</script>");
}

TEST(ReportPage, SaysWhenThereIsNoApplication) {
  const Report report = example();
  std::ostringstream out;
  const Status status = write_page({&report, 1}, {"", {}}, out);
  ASSERT_FALSE(status);
  EXPECT_NE(status.error().message.find("without the web application"), std::string::npos);
}

}  // namespace
}  // namespace drgpum

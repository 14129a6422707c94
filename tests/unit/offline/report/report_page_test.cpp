// SPDX-License-Identifier: Apache-2.0
// The page that holds a report: nothing in it can leave its place, and its columns say what the
// schema's list says.
#include "offline/report/report_page.h"

#include <sstream>

#include <nlohmann/json.hpp>
#include <zlib.h>

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

TEST(ReportPage, PacksALargeReportSoThatItComesBackWhole) {
  Report report = example();
  std::string name;
  for (int i = 0; i < 60'000; ++i)
    name += std::to_string(i * 7919 % 100'003) + " ";
  report.names[0] = name;
  const std::string packed = content_of(page_of(report), kPackedOpen);
  ASSERT_EQ(packed.size() % 4, 0u);

  std::string bytes;
  std::uint32_t bits = 0;
  for (std::size_t at = 0; at < packed.size(); ++at) {
    constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const std::size_t digit = packed[at] == '=' ? 0 : kDigits.find(packed[at]);
    ASSERT_NE(digit, std::string_view::npos);
    bits = bits << 6 | static_cast<std::uint32_t>(digit);
    if (at % 4 == 3)
      for (const int shift : {16, 8, 0})
        bytes += static_cast<char>(bits >> shift & 255);
  }
  std::string text(4 << 20, '\0');
  z_stream stream{};
  ASSERT_EQ(inflateInit2(&stream, -MAX_WBITS), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  text.resize(stream.total_out);
  inflateEnd(&stream);

  std::ostringstream data;
  write_page_data({&report, 1}, {}, data);
  EXPECT_EQ(text, data.str());
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
  std::int64_t id = 0;
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < list["objects"].size(); ++i) {
    const Json& object = list["objects"][i];
    id += columns["id"][i].get<std::int64_t>();
    begin += columns["begin"][i].get<std::int64_t>();
    EXPECT_EQ(id, object["id"]);
    EXPECT_EQ(begin, index_of(object["alloc"]));
    EXPECT_EQ(columns["size_bytes"][i], object["size_bytes"]);
    EXPECT_EQ(columns["names"][columns["name"][i].get<std::size_t>()], object["name"]);
    EXPECT_EQ(columns["kinds"][columns["kind"][i].get<std::size_t>()], object["kind"]);
    EXPECT_EQ(columns["freed"][i] == 1, !object["free"].is_null());
    if (!object["free"].is_null()) {
      EXPECT_EQ(begin + columns["end"][i].get<std::int64_t>(), index_of(object["free"]));
    }
    const std::int64_t first = columns["first_access"][i].get<std::int64_t>();
    EXPECT_EQ(first < 0 ? -1 : begin + first, index_of(object["first_access"]));
    if (first >= 0) {
      EXPECT_EQ(begin + first + columns["last_access"][i].get<std::int64_t>(),
                index_of(object["last_access"]));
    }
  }
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
  EXPECT_EQ(calls["edge_from"], Json::array({2}));
  EXPECT_EQ(calls["edge_to"], Json::array({4}));
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

// SPDX-License-Identifier: Apache-2.0
#include "offline/report/report_page.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

#include <zlib.h>

#include "offline/report/json_writer.h"
#include "offline/report/page_columns.h"
#include "offline/report/report_json.h"

namespace drgpum {
namespace {

constexpr std::string_view kPlace =
    R"(<script type="application/json" id="drgpum-report"></script>)";
constexpr std::size_t kDeflateAbove = 256 * 1024;  // bytes of JSON
constexpr std::uint32_t kLinesAround = 5;
constexpr std::size_t kFindingsWithLines = 300;

using LinesOfFile = std::set<std::uint32_t>;

void add_lines(const SourceFrame* site, std::map<std::string, LinesOfFile>& wanted) {
  if (site == nullptr || site->file.empty() || site->line == 0) return;
  LinesOfFile& lines = wanted[site->file];
  const std::uint32_t first = site->line > kLinesAround ? site->line - kLinesAround : 1;
  for (std::uint32_t line = first; line <= site->line + kLinesAround; ++line)
    lines.insert(line);
}

std::map<std::string, LinesOfFile> lines_worth_showing(const Report& report) {
  std::map<std::string, LinesOfFile> wanted;
  const std::size_t count = std::min(report.findings.size(), kFindingsWithLines);
  for (std::size_t i = 0; i < count; ++i) {
    const Finding& f = report.findings[i];
    for (const std::uint32_t api : {report.evidence.objects[f.object].alloc, f.from, f.to})
      if (report.has_call(api)) add_lines(report.site_of(api), wanted);
  }
  if (!report.peaks.empty())
    for (std::size_t i = 0; i < std::min<std::size_t>(report.peaks[0].objects.size(), 50); ++i)
      add_lines(report.site_of(report.evidence.objects[report.peaks[0].objects[i].object].alloc),
                wanted);
  return wanted;
}

void write_run(std::uint32_t first, const std::vector<std::string_view>& lines, JsonWriter& json) {
  if (lines.empty()) return;
  json.begin_object();
  json.field("first", first);
  json.key("lines").begin_array();
  for (const std::string_view line : lines)
    json.text(line);
  json.end_array().end_object();
}

void write_sources(const Report& report, const PageParts& parts, JsonWriter& json) {
  json.key("sources").begin_object();
  for (const auto& [file, lines] : lines_worth_showing(report)) {
    json.key(file).begin_array();
    std::uint32_t first = 0;
    std::vector<std::string_view> run;
    const bool is_there = std::any_of(lines.begin(), lines.end(), [&](std::uint32_t line) {
      return !parts.source_line(file, line).empty();
    });
    for (const std::uint32_t line : lines) {
      if (!is_there) break;
      if (line != first + run.size()) {
        write_run(first, run, json);
        run.clear();
        first = line;
      }
      run.push_back(parts.source_line(file, line));
    }
    write_run(first, run, json);
    json.end_array();
  }
  json.end_object();
}

std::string deflated(std::string_view text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string packed(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  // In pieces: zlib counts with 32 bits.
  std::size_t left_in = text.size();
  std::size_t left_out = packed.size();
  constexpr std::size_t kPiece = 1u << 30;
  int state = Z_OK;
  while (state == Z_OK || state == Z_BUF_ERROR) {
    const std::size_t in = std::min(left_in, kPiece);
    const std::size_t out = std::min(left_out, kPiece);
    stream.avail_in = static_cast<uInt>(in);
    stream.avail_out = static_cast<uInt>(out);
    state = deflate(&stream, left_in == in ? Z_FINISH : Z_NO_FLUSH);
    left_in -= in - stream.avail_in;
    left_out -= out - stream.avail_out;
  }
  packed.resize(packed.size() - left_out);
  deflateEnd(&stream);
  return packed;
}

void write_base64(const std::string& bytes, std::ostream& out) {
  constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto byte = [&](std::size_t i) {
      return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0u;
    };
    const std::uint32_t three = byte(0) << 16 | byte(1) << 8 | byte(2);
    for (std::size_t digit = 0; digit < 4; ++digit)
      text += at + digit > bytes.size() ? '=' : kDigits[three >> (18 - 6 * digit) & 63];
  }
  out << text;
}

// JSON as a script's content: "<" could end the script, U+2028 and U+2029 a line of it.
void write_guarded(std::string_view json, std::ostream& out) {
  for (std::size_t at = 0; at < json.size(); ++at) {
    const std::string_view three = json.substr(at, 3);
    if (json[at] == '<') {
      out << "\\u003c";
    } else if (three == "\xe2\x80\xa8" || three == "\xe2\x80\xa9") {
      out << (three[2] == '\xa8' ? "\\u2028" : "\\u2029");
      at += 2;
    } else {
      out.put(json[at]);
    }
  }
}

}  // namespace

void write_page_data(std::span<const Report> reports, const PageParts& parts, std::ostream& out) {
  JsonForm form;
  form.objects_and_more = [&](const Report& report, JsonWriter& json) {
    const PageColumns columns(report);
    json.key("objects");
    columns.write_objects(json);
    if (report.evidence.api_count() <= kMaxPageCalls) {
      json.key("calls");
      columns.write_calls(json);
    }
    if (parts.source_line) write_sources(report, parts, json);
  };
  write_json(reports, out, form);
}

Status write_page_around(std::string_view json, std::string_view application, std::ostream& out) {
  const std::size_t place = application.find(kPlace);
  if (place == std::string_view::npos)
    return Error{ErrorCode::kUnsupported,
                 "this drgpum was built without the web application; build it with Node 20.19 or "
                 "later, or use --format json"};
  out << application.substr(0, place);
  if (json.size() <= kDeflateAbove) {
    out << R"(<script type="application/json" id="drgpum-report">)";
    write_guarded(json, out);
  } else {
    out << R"(<script type="application/octet-stream" id="drgpum-report">)";
    write_base64(deflated(json), out);
  }
  out << "</script>" << application.substr(place + kPlace.size());
  return Ok{};
}

Status write_page(std::span<const Report> reports, const PageParts& parts, std::ostream& out) {
  std::ostringstream data;
  if (parts.application.find(kPlace) != std::string_view::npos)
    write_page_data(reports, parts, data);
  return write_page_around(std::move(data).str(), parts.application, out);
}

}  // namespace drgpum

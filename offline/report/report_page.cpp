// SPDX-License-Identifier: Apache-2.0
#include "offline/report/report_page.h"

#include <algorithm>
#include <map>
#include <ostream>
#include <set>
#include <sstream>

#include "offline/report/json_writer.h"
#include "offline/report/page_calls.h"
#include "offline/report/page_columns.h"
#include "offline/report/page_inside.h"
#include "offline/report/page_moments.h"
#include "offline/report/report_json.h"

namespace drgpum {
namespace {

constexpr std::string_view kPlace =
    R"(<script type="application/json" id="drgpum-report"></script>)";
constexpr std::size_t kPackAbove = 256 * 1024;  // bytes of JSON
constexpr std::size_t kListedObjects = 5'000;
constexpr std::size_t kListedCalls = 20'000;
constexpr std::uint32_t kLinesAround = 5;
constexpr std::size_t kFindingsWithLines = 300;
constexpr std::size_t kAccessLines = 5;  // of an object

using LinesOfFile = std::set<std::uint32_t>;

void add_lines(const std::string& file, std::uint32_t line,
               std::map<std::string, LinesOfFile>& wanted) {
  if (file.empty() || line == 0) return;
  LinesOfFile& lines = wanted[file];
  const std::uint32_t first = line > kLinesAround ? line - kLinesAround : 1;
  for (std::uint32_t at = first; at <= line + kLinesAround; ++at)
    lines.insert(at);
}

void add_lines(const SourceFrame* site, std::map<std::string, LinesOfFile>& wanted) {
  if (site != nullptr) add_lines(site->file, site->line, wanted);
}

void add_access_lines(const Report& report, std::uint32_t object,
                      std::map<std::string, LinesOfFile>& wanted) {
  const std::vector<AccessLine>& lines = report.access_lines_of(object);
  for (std::size_t i = 0; i < std::min(lines.size(), kAccessLines); ++i)
    add_lines(lines[i].file, lines[i].line, wanted);
}

std::map<std::string, LinesOfFile> lines_worth_showing(const Report& report) {
  std::map<std::string, LinesOfFile> wanted;
  const std::size_t count = std::min(report.findings.size(), kFindingsWithLines);
  for (std::size_t i = 0; i < count; ++i) {
    const Finding& f = report.findings[i];
    for (const std::uint32_t api : {report.evidence.objects[f.object].alloc, f.from, f.to})
      if (report.has_call(api)) add_lines(report.site_of(api), wanted);
    add_access_lines(report, f.object, wanted);
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

Error no_application() {
  return Error{ErrorCode::kUnsupported,
               "this drgpum was built without the web application; build it with Node 20.19 or "
               "later, or use --format json"};
}

Status write_with(std::string_view head, std::string_view columns, std::string_view application,
                  std::ostream& out) {
  const std::size_t place = application.find(kPlace);
  if (place == std::string_view::npos) return no_application();
  out << application.substr(0, place);
  if (columns.empty() && head.size() <= kPackAbove) {
    out << R"(<script type="application/json" id="drgpum-report">)";
    write_guarded(head, out);
  } else {
    out << R"(<script type="application/octet-stream" id="drgpum-report">)";
    for (const std::string& piece : deflated_pieces(container_of(head, columns))) {
      write_base64(piece, out);
      out << '\n';
    }
  }
  out << "</script>" << application.substr(place + kPlace.size());
  return Ok{};
}

}  // namespace

struct ReportPage::Program {
  explicit Program(const Report& report) : paths(report), calls(report, paths) {}
  PathTable paths;
  PageCalls calls;
};

ReportPage::~ReportPage() = default;

ReportPage::ReportPage(std::span<const Report> reports, const PageParts& parts) {
  packs_ = std::any_of(reports.begin(), reports.end(), [](const Report& report) {
    return report.evidence.objects.size() > kListedObjects ||
           report.evidence.api_count() > kListedCalls;
  });
  JsonForm form;
  form.max_findings = parts.max_findings;
  form.objects_and_more = [&](const Report& report, JsonWriter& json) {
    write_report(report, parts, json);
  };
  std::ostringstream head;
  write_json(reports, head, form);
  head_ = std::move(head).str();
  columns_ = pack_.bytes();
  pack_ = {};
}

void ReportPage::write_report(const Report& report, const PageParts& parts, JsonWriter& json) {
  const Program& program = *programs_.emplace_back(std::make_unique<Program>(report));
  const ColumnWriter to(json, packs_ ? &pack_ : nullptr);
  const auto shown = objects_to_show(report, parts.max_objects, parts.max_findings);
  json.key("objects");
  write_object_columns(report, shown, program.paths, to);
  json.key("calls");
  program.calls.write(to);
  json.key("curves");
  write_curves(report, to);
  json.key("phases");
  write_phases(report, to);
  json.key("clock");
  write_clock(report, to);
  json.key("inside");
  write_inside(report, shown, to);
  json.key("packing");
  write_packing(report, to);
  json.key("access_lines").begin_object();
  for (const std::uint32_t o : shown) {
    if (report.access_lines_of(o).empty()) continue;
    json.key(std::to_string(report.evidence.objects[o].id));
    write_access_lines(report.access_lines_of(o), json);
  }
  json.end_object();
  if (parts.source_line) write_sources(report, parts, json);
}

std::optional<std::string> ReportPage::calls_page(std::size_t program, std::uint32_t number,
                                                  bool by_level) const {
  if (program >= programs_.size()) return std::nullopt;
  const PageCalls& calls = programs_[program]->calls;
  if (!calls.is_paged() || number >= calls.page_count()) return std::nullopt;
  return calls.page(number, by_level);
}

Status write_page(std::span<const Report> reports, const PageParts& parts, std::ostream& out) {
  if (parts.application.find(kPlace) == std::string_view::npos) return no_application();
  const ReportPage page(reports, parts);
  return write_with(page.head(), page.columns(), parts.application, out);
}

Status write_page_around(std::string_view json, std::string_view application, std::ostream& out) {
  return write_with(json, {}, application, out);
}

Result<std::string> page_that_asks(std::size_t pieces, std::string_view application) {
  const std::size_t place = application.find(kPlace);
  if (place == std::string_view::npos) return no_application();
  return std::string(application.substr(0, place)) +
         R"(<script type="application/octet-stream" id="drgpum-report" data-pieces=")" +
         std::to_string(pieces) + R"("></script>)" +
         std::string(application.substr(place + kPlace.size()));
}

}  // namespace drgpum

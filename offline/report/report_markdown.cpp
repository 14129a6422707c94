// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "offline/patterns/patterns.h"
#include "offline/report/classic_stream.h"
#include "offline/report/line_suffix.h"
#include "offline/report/report_formats.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

// Nothing of a name may end a cell, a code span or begin markup.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    if (c == '|' || c == '`' || c == '*' || c == '_' || c == '<' || c == '[' || c == '\\' ||
        c == '@' || c == '#')
      out += '\\';
    out += c;
  }
  return out;
}

std::string place_of(const Report& report, std::uint32_t object) {
  const SourceFrame* site = report.site_of(report.evidence.objects[object].alloc);
  if (site == nullptr || site->file.empty()) return "";
  return escaped(site->file.substr(site->file.rfind('/') + 1)) + line_suffix(site->line);
}

void write_rows(const Report& report, std::size_t begin, std::size_t end, std::ostream& out) {
  out << "| # | finding | object | allocated at | saves with the others | alone | certainty |\n"
         "|--:|---|---|---|--:|--:|---|\n";
  for (std::size_t i = begin; i < end; ++i) {
    const Finding& f = report.findings[i];
    out << "| " << i + 1 << " | " << escaped(name_of(f.pattern)) << " | "
        << escaped(report.label(f.object)) << " ("
        << iec_bytes(report.evidence.objects[f.object].size) << ") | " << place_of(report, f.object)
        << " | " << iec_bytes(f.joint_saving_bytes) << " | " << iec_bytes(f.peak_saving_bytes)
        << " | " << (f.certainty == Certainty::kProven ? "proven" : "possible")
        << (f.superseded_by == kNone ? "" : ", instead of " + std::to_string(f.superseded_by + 1))
        << " |\n";
  }
}

// What each source line costs and what all its fixes save.
void write_lines(const Report& report, std::ostream& out) {
  const std::size_t shown = lines_to_show(report);
  for (std::size_t i = 0; i < shown; ++i) {
    const SourceFrame& site = *report.site_of(report.lines[i].api);
    const std::string place =
        site.file.empty()
            ? site.function
            : site.file.substr(site.file.rfind('/') + 1) + ":" + std::to_string(site.line);
    out << "- **" << escaped(place) << "**: " << describe(report.lines[i]) << '\n';
  }
  if (shown > 0) out << '\n';
}

}  // namespace

void write_markdown(const Report& report, std::size_t top, std::ostream& out) {
  const ClassicStream classic(out);
  const std::uint64_t peak = report.savings.peak_bytes;
  const std::uint64_t after = report.savings.peak_after_all_fixes_bytes;
  out << "### GPU memory: peak " << iec_bytes(report.peak_bytes());
  if (after < peak)
    out << ", could be " << iec_bytes(after) << " (" << percent_of(peak - after, peak) << " less)";
  out << "\n\n";
  if (!report.complete)
    out << "**The trace is not complete:** " << escaped(report.incomplete_because) << "\n\n";
  for (const FailedAllocation& failed : report.evidence.failed)
    out << "**Failed allocation** of " << iec_bytes(failed.requested) << " at "
        << escaped(report.describe_call(failed.api)) << "\n\n";
  write_lines(report, out);
  const auto useful = static_cast<std::size_t>(std::count_if(
      report.findings.begin(), report.findings.end(),
      [](const Finding& f) { return f.joint_saving_bytes > 0 || f.peak_saving_bytes > 0; }));
  const std::size_t shown = top == 0 ? useful : std::min(useful, top);
  if (report.findings.empty()) out << "No findings.\n";
  if (shown > 0) {
    write_rows(report, 0, shown, out);
    out << '\n';
    for (std::size_t i = 0; i < shown; ++i)
      out << i + 1 << ". " << escaped(advice_for(report, report.findings[i])) << '\n';
  }
  const std::size_t rest = report.findings.size() - shown;
  if (rest == 0) return;
  const std::size_t end =
      top == 0 ? report.findings.size() : std::min(report.findings.size(), shown + top);
  out << "\n<details><summary>" << plural(rest, "more finding") << ", "
      << exact_bytes(report.findings.size() - useful) << " of which lower no peak</summary>\n\n";
  write_rows(report, shown, end, out);
  out << "\n</details>\n";
}

}  // namespace drgpum

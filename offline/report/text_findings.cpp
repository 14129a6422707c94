// SPDX-License-Identifier: Apache-2.0
#include "offline/report/text_findings.h"

#include <algorithm>
#include <ostream>

#include "offline/patterns/patterns.h"
#include "offline/report/code_text.h"
#include "offline/report/report_words.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr std::uint32_t kLinesAround = 2;
constexpr std::size_t kAccessLines = 3;
constexpr std::size_t kCodeIndent = 14;  // of the columns left of a line of code

}  // namespace

void TextFindings::title(std::uint32_t place, const Finding& f) {
  const bool proven = f.certainty == Certainty::kProven;
  std::string title = lines_.ink(Ink::kBold, words_of(name_of(f.pattern))) + ": " +
                      printable(r_.label(f.object)) + ", " +
                      iec_bytes(r_.evidence.objects[f.object].size) + "  " +
                      lines_.ink(proven ? Ink::kGreen : Ink::kYellow, proven ? "proven" : "possible");
  if (lowers_the_peak(f))
    title += "  saves " + iec_bytes(f.peak_saving_bytes) + " alone, " +
             iec_bytes(f.joint_saving_bytes) + " on top of the other fixes";
  lines_.wrapped(right(std::to_string(place + 1), 3) + "  ", 5, title);
}

void TextFindings::what_to_do(const Finding& f) {
  std::string what = printable(advice_for(r_, f));
  if (f.distance && f.pattern != Pattern::kRedundantAllocation)
    what += " " + plural(*f.distance, "launch") + " in between" + (f.cut ? " at least" : "") + ".";
  if (f.pattern == Pattern::kTemporaryIdleness && f.count > 1)
    what += " It is the longest of " + plural(f.count, "such gap") + ".";
  lines_.paragraph(5, what);
  if (f.certainty != Certainty::kProven && f.missing != 0)
    lines_.paragraph(5, "Not proven: " + reason_for(r_, f) + ".", Ink::kDim);
  if (f.superseded_by != kNone)
    lines_.paragraph(
        5, "Instead of finding " + std::to_string(f.superseded_by + 1) + ", not with it.", Ink::kDim);
}

void TextFindings::finding(const FindingRow& row) {
  const Finding& f = r_.findings[row.first];
  title(row.first, f);
  const std::string site = site_text(r_, f.object);
  if (!site.empty()) lines_.paragraph(5, "allocated in " + site, Ink::kDim);
  source_around(r_.site_of(r_.evidence.objects[f.object].alloc));
  what_to_do(f);
  access_lines(f.object);
  if (!row.like.empty()) lines_.paragraph(5, describe_like(row));
}

std::string TextFindings::line_of_code(const std::string& file, std::uint32_t line) const {
  if (!style_.source_line) return "";
  return code_text(style_.source_line(file, line), lines_.width() - kCodeIndent);
}

// The line that allocates with two before and two behind it, once in a report.
void TextFindings::source_around(const SourceFrame* site) {
  if (site == nullptr || site->line == 0 || line_of_code(site->file, site->line).empty()) return;
  if (!shown_.insert({site->file, site->line}).second) return;
  const std::uint32_t first = site->line > kLinesAround ? site->line - kLinesAround : 1;
  for (std::uint32_t line = first; line <= site->line + kLinesAround; ++line) {
    const bool is_site = line == site->line;
    const std::string text = (is_site ? "   > " : "     ") + right(std::to_string(line), 6) + " | " +
                             line_of_code(site->file, line);
    out_ << lines_.ink(is_site ? Ink::kPlain : Ink::kDim, text.substr(0, text.find_last_not_of(' ') + 1))
         << '\n';
  }
}

// "read 4,096 times, written 12 times in 3 launches at k.cu:12 (saxpy): y[i] = ..."
void TextFindings::access_lines(std::uint32_t object) {
  const std::vector<AccessLine>& lines = r_.access_lines_of(object);
  for (std::size_t i = 0; i < std::min(lines.size(), kAccessLines); ++i) {
    const AccessLine& line = lines[i];
    std::string what;
    if (line.reads > 0) what = "read " + plural(line.reads, "time");
    if (line.writes > 0)
      what += (what.empty() ? "written " : ", written ") + plural(line.writes, "time");
    std::string where = printable(line.kernel);
    if (line.line > 0)
      where = printable(line.file.substr(line.file.rfind('/') + 1)) + ":" +
              std::to_string(line.line) + " in " + where;
    lines_.paragraph(5, what + " in " + plural(line.launches, "launch") + " at " + where, Ink::kDim);
    std::string code = line_of_code(line.file, line.line);
    code.erase(0, code.find_first_not_of(' '));
    if (!code.empty()) out_ << lines_.ink(Ink::kDim, "            | " + code) << '\n';
  }
  if (lines.size() > kAccessLines)
    lines_.paragraph(5, "and at " + plural(lines.size() - kAccessLines, "more line"), Ink::kDim);
}

void TextFindings::rest(const std::vector<FindingRow>& rows, std::size_t shown) {
  std::size_t more = 0;
  std::size_t idle = 0;
  for (std::size_t i = shown; i < rows.size(); ++i) {
    const std::size_t count = 1 + rows[i].like.size();
    more += count;
    if (!lowers_the_peak(r_.findings[rows[i].first])) idle += count;
  }
  if (more == 0) return;
  out_ << "  " << plural(more, "more finding");
  if (idle > 0 && idle < more) out_ << ", of which " << exact_bytes(idle) << " lower no peak";
  out_ << " (--top 0 shows all)\n";
}

void TextFindings::suppressed() {
  for (const SuppressionUse& use : r_.suppressions)
    out_ << "  " << plural(use.count, "finding") << " suppressed by " << printable(use.pattern)
         << ':' << printable(use.site) << (use.reason.empty() ? "" : " (" + use.reason + ")")
         << '\n';
}

void TextFindings::write() {
  const std::size_t all = r_.findings.size();
  const auto useful = static_cast<std::size_t>(
      std::count_if(r_.findings.begin(), r_.findings.end(), lowers_the_peak));
  out_ << '\n' << lines_.ink(Ink::kBold, "Findings") << '\n';
  if (all == 0)
    out_ << (r_.evidence.records_accesses() ? "  none\n"
                                            : "  none; without accesses nothing can be judged\n");
  const std::vector<FindingRow> rows = finding_rows(r_);
  const std::size_t shown = style_.top == 0 ? rows.size() : std::min(rows.size(), style_.top);
  bool said = false;
  for (std::size_t i = 0; i < shown; ++i) {
    if (!said && !lowers_the_peak(r_.findings[rows[i].first])) {
      said = true;
      out_ << "  " << plural(all - useful, "finding") << " that lower"
           << (all - useful == 1 ? "s" : "") << " no peak:\n";
    }
    finding(rows[i]);
  }
  rest(rows, shown);
  suppressed();
}

}  // namespace drgpum

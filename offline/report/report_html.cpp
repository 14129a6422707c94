// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "offline/patterns/explain.h"
#include "offline/patterns/patterns.h"
#include "offline/report/classic_stream.h"
#include "offline/report/line_suffix.h"
#include "offline/report/report_formats.h"
#include "offline/report/report_words.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr std::size_t kMaxFindings = 1000;
constexpr std::size_t kMaxObjects = 100;
constexpr std::size_t kCurveWidth = 1000;
constexpr std::size_t kCurveHeight = 160;

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--line:#8884;--accent:#2a78d6;--good:#1a7f37;--maybe:#9a6700}
@media(prefers-color-scheme:dark){:root{--accent:#6cb0ff;--good:#56d364;--maybe:#e3b341}}
body{font:15px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
td.n,th.n{text-align:right;white-space:nowrap}svg{width:100%;height:10rem;background:#8881}
path{fill:var(--accent);fill-opacity:.35;stroke:var(--accent)}
.proven{color:var(--good)}.possible{color:var(--maybe)}.dim{opacity:.7}code{font-size:.9em}
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

// The highest value within each column of the drawing, as one closed path.
void write_curve(const Report& report, std::ostream& out) {
  const auto device = report.peaks.empty() ? std::uint16_t{0} : report.peaks.front().device;
  const auto curve = live_curve(report.evidence, device, report.level);
  const double calls = std::max<double>(report.evidence.api_count(), 1);
  const double top = std::max<double>(static_cast<double>(report.peak_bytes()), 1);
  std::vector<std::uint64_t> highest(kCurveWidth, 0);
  const auto column = [&](std::uint32_t call) {
    const auto at = static_cast<std::size_t>(call / calls * kCurveWidth);
    return std::min(at, kCurveWidth - 1);
  };
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const std::uint32_t end = i + 1 < curve.size() ? curve[i + 1].api : report.evidence.api_count();
    for (std::size_t x = column(curve[i].api); x <= column(end); ++x)
      if (x == column(curve[i].api) || x < column(end))
        highest[x] = std::max(highest[x], curve[i].bytes);
  }
  out << "<svg viewBox=\"0 0 " << kCurveWidth << ' ' << kCurveHeight
      << "\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"Live bytes over calls, at most "
      << iec_bytes(report.peak_bytes()) << "\"><path d=\"M0 " << kCurveHeight;
  for (std::size_t x = 0; x < kCurveWidth; ++x) {
    const double y = kCurveHeight * (1 - static_cast<double>(highest[x]) / top);
    out << 'V' << fixed_number(y, 1) << 'H' << x + 1;
  }
  out << 'V' << kCurveHeight << "Z\"/></svg>\n";
}

std::string site_of(const Report& report, std::uint32_t object) {
  const SourceFrame* site = report.site_of(report.evidence.objects[object].alloc);
  if (site == nullptr) return "";
  std::string text = escaped(site->function);
  if (!site->file.empty())
    text += " <span class=dim>" + escaped(site->file) + line_suffix(site->line) + "</span>";
  return text;
}

void write_peak(const Report& report, std::ostream& out) {
  if (report.peaks.empty()) return;
  const Peak& peak = report.peaks.front();
  out << "<h2>At the peak</h2><table><tr><th class=n>bytes<th class=n>share<th>state<th>object"
         "<th>allocated in</tr>\n";
  for (std::size_t i = 0; i < std::min(peak.objects.size(), kMaxObjects); ++i) {
    const LiveObject& live = peak.objects[i];
    const std::uint64_t size = report.evidence.objects[live.object].size;
    out << "<tr><td class=n>" << iec_bytes(size) << "<td class=n>" << percent_of(size, peak.bytes)
        << "<td>" << word_for(live.state) << "<td><code>" << escaped(report.label(live.object))
        << "</code><td>" << site_of(report, live.object) << "</tr>\n";
  }
  out << "</table>\n";
  if (peak.objects.size() > kMaxObjects)
    out << "<p class=dim>and " << plural(peak.objects.size() - kMaxObjects, "smaller object")
        << "</p>\n";
}

void write_findings(const Report& report, std::ostream& out) {
  out << "<h2>Findings</h2>\n";
  if (report.findings.empty()) out << "<p>none</p>\n";
  if (report.findings.empty()) return;
  out << "<table><tr><th class=n>#<th>finding<th>object<th>what to do<th class=n>saves with the "
         "others<th class=n>alone</tr>\n";
  for (std::size_t i = 0; i < std::min(report.findings.size(), kMaxFindings); ++i) {
    const Finding& f = report.findings[i];
    const bool proven = f.certainty == Certainty::kProven;
    out << "<tr><td class=n>" << i + 1 << "<td title=\"" << escaped(text_of(f.pattern).when)
        << "\">" << escaped(text_of(f.pattern).title)
        << "<br><span class=" << (proven ? "proven>proven" : "possible>possible")
        << "</span><td><code>" << escaped(report.label(f.object)) << "</code><br>"
        << iec_bytes(report.evidence.objects[f.object].size) << "<td>"
        << escaped(advice_for(report, f)) << "<br>" << site_of(report, f.object);
    if (!proven && f.missing != 0)
      out << "<br><span class=dim>not proven: " << escaped(reason_for(report, f)) << "</span>";
    if (f.superseded_by != kNone)
      out << "<br><span class=dim>instead of finding " << f.superseded_by + 1 << "</span>";
    out << "<td class=n>" << iec_bytes(f.joint_saving_bytes) << "<td class=n>"
        << iec_bytes(f.peak_saving_bytes) << "</tr>\n";
  }
  out << "</table>\n";
  if (report.findings.size() > kMaxFindings)
    out << "<p class=dim>and " << plural(report.findings.size() - kMaxFindings, "finding")
        << " of lower rank</p>\n";
}

}  // namespace

void write_html(const Report& report, std::ostream& out) {
  const ClassicStream classic(out);
  std::string program;
  for (const std::string& argument : report.evidence.process.argv)
    program += (program.empty() ? "" : " ") + argument;
  const std::uint64_t after = report.savings.peak_after_all_fixes_bytes;
  const std::uint64_t peak = report.savings.peak_bytes;
  out << "<!doctype html>\n<html lang=en><meta charset=utf-8>"
         "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n<title>drgpum: "
      << escaped(program) << "</title>\n<style>" << kStyle << "</style>\n<h1>GPU memory of <code>"
      << escaped(program) << "</code></h1>\n<p>Peak <b>" << iec_and_exact(report.peak_bytes())
      << "</b>";
  if (!report.peaks.empty())
    out << " at " << escaped(report.describe_call(report.peaks.front().api));
  if (after < peak)
    out << ". With all fixes " << iec_bytes(after) << ", " << percent_of(peak - after, peak)
        << " less";
  out << ". One launch touches at most " << iec_bytes(report.lower_bound_bytes) << ".</p>\n";
  if (!report.complete)
    out << "<p><b>The trace is not complete:</b> " << escaped(report.incomplete_because)
        << "</p>\n";
  write_curve(report, out);
  write_peak(report, out);
  write_findings(report, out);
  out << "</html>\n";
}

}  // namespace drgpum

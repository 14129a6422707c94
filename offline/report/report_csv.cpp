// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "offline/patterns/patterns.h"
#include "offline/report/classic_stream.h"
#include "offline/report/report_formats.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

// A cell that begins like a formula gets a quote in front, so that a spreadsheet takes it for text.
std::string cell(std::string_view text) {
  const std::string plain = printable(text);
  const bool formula =
      !plain.empty() && std::string_view("=+-@").find(plain.front()) != std::string_view::npos;
  const std::string shown = (formula ? "'" : "") + plain;
  if (shown.find_first_of(",\"\r\n") == std::string::npos) return shown;
  std::string out = "\"";
  for (const char c : shown) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + "\"";
}

}  // namespace

void write_csv(const Report& report, std::ostream& out) {
  const ClassicStream classic(out);
  out << "rank,pattern,object,name,size_bytes,certainty,distance,wasted_bytes,peak_saving_bytes,"
         "joint_saving_bytes,idle_at_peak_bytes,superseded_by,function,file,line,advice\r\n";
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const Finding& f = report.findings[i];
    const Object& object = report.evidence.objects[f.object];
    const SourceFrame none;
    const SourceFrame* known = report.site_of(object.alloc);
    const SourceFrame& site = known == nullptr ? none : *known;
    out << i + 1 << ',' << name_of(f.pattern) << ',' << object.id << ','
        << cell(report.names[f.object]) << ',' << object.size << ','
        << (f.certainty == Certainty::kProven ? "proven" : "possible") << ','
        << (f.distance ? std::to_string(*f.distance) : "") << ',' << f.wasted_bytes << ','
        << f.peak_saving_bytes << ',' << f.joint_saving_bytes << ',' << f.idle_at_peak_bytes << ','
        << (f.superseded_by == kNone ? "" : std::to_string(f.superseded_by + 1)) << ','
        << cell(site.function) << ',' << cell(site.file) << ',' << site.line << ','
        << cell(advice_for(report, f)) << "\r\n";
  }
}

}  // namespace drgpum

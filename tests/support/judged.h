// SPDX-License-Identifier: Apache-2.0
#pragma once
// From a trace in text to its findings in text, for tests of order, patterns and reports.

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "offline/order/evidence.h"
#include "offline/report/build_report.h"
#include "proto/trace/trace_text.h"

namespace drgpum {

inline Evidence evidence_from(const std::vector<trace::Record>& records) {
  EvidenceBuilder builder;
  for (const trace::Record& record : records) {
    const Status status = builder.add(record);
    EXPECT_TRUE(status) << status.error().message;
  }
  return std::move(builder).finish();
}

inline Evidence evidence_from_text(std::string_view text) {
  Result<std::vector<trace::Record>> records = trace::trace_from_text(text);
  EXPECT_TRUE(records) << records.error().message;
  return records ? evidence_from(*records) : Evidence();
}

inline Report report_from_text(std::string_view text, ReportOptions options = {}) {
  SourceLookup sources;
  Evidence evidence = evidence_from_text(text);
  return build_report(std::move(evidence), true, "", sources, options);
}

// "early_allocation D possible distance=1 moves=1 wasted=16 alone=0 joint=8 idle=0", a line each,
// in the order of the report; parts that are zero are left out.
inline std::string line_of(const Report& report, const Finding& f) {
  std::string line(name_of(f.pattern));
  line += " " + report.label(f.object);
  if (f.host != kNone) line += "->" + report.label(f.host);
  line += f.certainty == Certainty::kProven ? " proven" : " possible";
  const auto part = [&](const char* name, std::uint64_t value) {
    if (value != 0) line += std::string(" ") + name + "=" + std::to_string(value);
  };
  if (f.distance) line += " distance=" + std::to_string(*f.distance);
  part("count", f.count);
  part("moves", f.must_move.size());
  part("wasted", f.wasted_bytes);
  part("alone", f.peak_saving_bytes);
  part("joint", f.joint_saving_bytes);
  part("idle", f.idle_at_peak_bytes);
  if (f.superseded_by != kNone) line += " superseded";
  return line;
}

inline std::string findings_of(const Report& report) {
  std::string text;
  for (const Finding& f : report.findings)
    text += line_of(report, f) + "\n";
  return text;
}

inline std::string findings_in(std::string_view text, ReportOptions options = {}) {
  return findings_of(report_from_text(text, options));
}

// Only the findings of one pattern.
inline std::string findings_in(Pattern pattern, std::string_view text, ReportOptions options = {}) {
  const Report report = report_from_text(text, options);
  std::string lines;
  for (const Finding& f : report.findings)
    if (f.pattern == pattern) lines += line_of(report, f) + "\n";
  return lines;
}

}  // namespace drgpum

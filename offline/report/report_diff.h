// SPDX-License-Identifier: Apache-2.0
#pragma once
// What changed from one run of a program to another.

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "offline/report/report.h"

namespace drgpum {

// All objects of one allocation site: a function and file with a name or, where none is known, a
// line. Addresses play no part.
struct SiteChange {
  std::string site;
  std::uint64_t base_bytes = 0;  // allocated there in all
  std::uint64_t new_bytes = 0;
  std::uint64_t base_objects = 0;
  std::uint64_t new_objects = 0;
};

enum class ChangeKind : std::uint8_t { kNew, kGone, kResized };

// Findings are matched by pattern, site and order among the findings of that site.
struct FindingChange {
  ChangeKind kind = ChangeKind::kNew;
  std::string pattern;
  std::string site;
  std::string object;
  std::uint64_t base_bytes = 0;  // wasted
  std::uint64_t new_bytes = 0;
};

struct ReportDiff {
  std::uint64_t base_peak_bytes = 0;
  std::uint64_t new_peak_bytes = 0;
  std::uint64_t base_after_bytes = 0;  // with all fixes
  std::uint64_t new_after_bytes = 0;
  std::vector<SiteChange> sites;  // that changed, largest change first, then by site
  std::vector<FindingChange> findings;
};

// The key by which objects of different runs are matched, for a person too.
std::string site_key(const Report& report, std::uint32_t object);

ReportDiff diff_reports(const Report& base, const Report& next);
void write_diff_text(const ReportDiff& diff, std::ostream& out);
void write_diff_json(const ReportDiff& diff, std::ostream& out);
void write_diff_markdown(const ReportDiff& diff, std::ostream& out);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "offline/patterns/patterns.h"
#include "offline/report/classic_stream.h"
#include "offline/report/finding_rows.h"
#include "offline/report/report_text.h"
#include "offline/report/report_words.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr std::size_t kBriefFindings = 3;

void one_line(const Report& r, const FindingRow& row, std::ostream& out) {
  const Finding& f = r.findings[row.first];
  out << "drgpum:   " << words_of(name_of(f.pattern)) << ": " << printable(r.label(f.object)) << ", "
      << iec_bytes(r.evidence.objects[f.object].size)
      << (f.certainty == Certainty::kProven ? "" : " (possible)");
  const std::string site = site_text(r, f.object);
  if (!site.empty()) out << ", " << site;
  const std::uint64_t saved = std::max(f.joint_saving_bytes, f.peak_saving_bytes);
  if (saved > 0) out << ", saves up to " << iec_bytes(saved);
  if (!row.like.empty()) out << "; " << exact_bytes(row.like.size()) << " more like it";
  out << '\n';
}

void findings(const Report& r, std::ostream& out) {
  const std::vector<FindingRow> rows = finding_rows(r);
  std::size_t more = r.findings.size();
  for (std::size_t i = 0; i < std::min(rows.size(), kBriefFindings); ++i) {
    one_line(r, rows[i], out);
    more -= 1 + rows[i].like.size();
  }
  if (more > 0) out << "drgpum:   " << plural(more, "more finding") << '\n';
  if (r.findings.empty()) out << "drgpum: no findings\n";
}

}  // namespace

void write_brief(const Report& r, std::ostream& out) {
  const ClassicStream classic(out);
  const Evidence& e = r.evidence;
  const std::string path = printable(e.path);
  out << "drgpum: " << path << " (" << iec_bytes(e.file_bytes) << ")";
  if (!r.complete) out << ", not complete: " << printable(r.incomplete_because);
  out << '\n';
  for (const FailedAllocation& failed : e.failed)
    out << "drgpum: failed allocation of " << iec_bytes(failed.requested) << " at "
        << printable(r.describe_call(failed.api)) << '\n';
  if (r.peaks.empty()) {
    out << "drgpum: no device memory was allocated\n";
    return;
  }
  out << "drgpum: peak " << iec_and_exact(r.peak_bytes()) << " at "
      << printable(r.describe_call(r.peaks.front().api));
  if (e.records_accesses()) out << "; " << savings_text(r);
  out << '\n';
  findings(r, out);
  out << "drgpum: next: drgpum report " << path << '\n';
}

}  // namespace drgpum

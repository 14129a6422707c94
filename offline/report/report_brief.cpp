// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <ostream>

#include "offline/patterns/patterns.h"
#include "offline/report/classic_stream.h"
#include "offline/report/report_text.h"
#include "offline/report/report_words.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr std::size_t kBriefFindings = 3;

void one_line(const Report& r, const Finding& f, std::ostream& out) {
  out << "drgpum:   " << words_of(name_of(f.pattern)) << ": " << printable(r.label(f.object)) << ", "
      << iec_bytes(r.evidence.objects[f.object].size)
      << (f.certainty == Certainty::kProven ? "" : " (possible)");
  const std::string site = site_text(r, f.object);
  if (!site.empty()) out << ", " << site;
  const std::uint64_t saved = std::max(f.joint_saving_bytes, f.peak_saving_bytes);
  if (saved > 0) out << ", saves up to " << iec_bytes(saved);
  out << '\n';
}

void findings(const Report& r, std::ostream& out) {
  for (std::size_t i = 0; i < std::min(r.findings.size(), kBriefFindings); ++i)
    one_line(r, r.findings[i], out);
  if (r.findings.size() > kBriefFindings)
    out << "drgpum:   " << plural(r.findings.size() - kBriefFindings, "more finding") << '\n';
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

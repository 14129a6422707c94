// SPDX-License-Identifier: Apache-2.0
#include "offline/report/line_fixes.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "offline/report/report.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr std::size_t kMostShown = 5;
constexpr std::size_t kMostNamed = 8;

// Call paths that end on one line are one place.
class Places {
 public:
  Places(const Report& report, std::vector<LineFixes>& lines) : report_(report), lines_(lines) {}

  // Null where the site of the object's allocation is not known.
  LineFixes* of(std::uint32_t object) {
    const std::uint32_t api = report_.evidence.objects[object].alloc;
    if (!report_.has_call(api)) return nullptr;
    const std::uint32_t path = report_.evidence.apis[api].call_path;
    const auto [at, fresh] = by_path_.try_emplace(path, kNone);
    if (fresh) at->second = place_of(api);
    return at->second == kNone ? nullptr : &lines_[at->second];
  }

 private:
  std::uint32_t place_of(std::uint32_t api) {
    const SourceFrame* site = report_.site_of(api);
    if (site == nullptr || (site->file.empty() && site->function.empty())) return kNone;
    const auto [at, fresh] = by_site_.try_emplace({site->file, site->line, site->function},
                                                  static_cast<std::uint32_t>(lines_.size()));
    if (fresh) lines_.emplace_back().api = api;
    return at->second;
  }

  const Report& report_;
  std::vector<LineFixes>& lines_;
  std::unordered_map<std::uint32_t, std::uint32_t> by_path_;
  std::map<std::tuple<std::string_view, std::uint32_t, std::string_view>, std::uint32_t> by_site_;
};

// Many findings are measured as far as time allows: those first that claim most.
void measure(const Report& report, std::vector<LineFixes>& lines) {
  const auto claimed = [&](const LineFixes& line) {
    long double bytes = 0;
    for (const std::uint32_t i : line.fixes.findings)
      bytes += static_cast<long double>(report.findings[i].peak_saving_bytes) +
               static_cast<long double>(report.findings[i].joint_saving_bytes);
    return bytes;
  };
  std::vector<std::pair<long double, std::size_t>> order;
  for (std::size_t i = 0; i < lines.size(); ++i)
    order.emplace_back(-claimed(lines[i]), i);
  std::sort(order.begin(), order.end());
  std::vector<FixGroup> groups;
  for (const auto& [bytes, i] : order)
    groups.push_back(std::move(lines[i].fixes));
  measure_groups(report.evidence, report.level, report.findings, groups);
  for (std::size_t k = 0; k < order.size(); ++k)
    lines[order[k].second].fixes = std::move(groups[k]);
}

std::string listed(const std::vector<std::uint32_t>& findings) {
  std::string text = findings.size() == 1 ? "finding" : "findings";
  const std::size_t shown = std::min(findings.size(), kMostNamed);
  for (std::size_t i = 0; i < shown; ++i) {
    const bool last = i + 1 == findings.size();
    text += (i == 0 ? " " : last ? " and " : ", ") + std::to_string(findings[i] + 1);
  }
  if (shown < findings.size()) text += " and " + exact_bytes(findings.size() - shown) + " more";
  return text;
}

}  // namespace

std::vector<LineFixes> fixes_by_line(const Report& report) {
  std::vector<LineFixes> lines;
  Places places(report, lines);
  for (std::uint32_t i = 0; i < report.findings.size(); ++i)
    if (LineFixes* line = places.of(report.findings[i].object)) line->fixes.findings.push_back(i);
  const std::size_t with_findings = lines.size();
  if (!report.peaks.empty()) {
    for (const LiveObject& live : report.peaks.front().objects) {
      LineFixes* line = places.of(live.object);
      if (line == nullptr) continue;
      const std::uint64_t size = report.evidence.objects[live.object].size;
      line->bytes_at_peak += size;
      ++line->objects_at_peak;
      if (live.state != StateAtPeak::kUsed && live.state != StateAtPeak::kUnknown)
        line->unused_at_peak += size;
    }
  }
  lines.resize(with_findings);
  measure(report, lines);
  const auto key = [&](const LineFixes& line) {
    const SourceFrame& site = *report.site_of(line.api);
    return std::tuple(~line.fixes.joint_saving_bytes, ~line.fixes.peak_saving_bytes,
                      ~line.unused_at_peak, ~line.bytes_at_peak, std::string_view(site.file),
                      site.line, std::string_view(site.function));
  };
  std::sort(lines.begin(), lines.end(),
            [&](const LineFixes& a, const LineFixes& b) { return key(a) < key(b); });
  return lines;
}

std::string describe(const LineFixes& line) {
  std::string text;
  if (line.bytes_at_peak > 0) {
    text = iec_bytes(line.bytes_at_peak) + " of the peak in " +
           plural(line.objects_at_peak, "object");
    if (line.unused_at_peak > 0)
      text += ", " + iec_bytes(line.unused_at_peak) + " of it not used then";
    text += "; ";
  }
  const bool one = line.fixes.findings.size() == 1;
  return text + "fixing " + listed(line.fixes.findings) + (one ? " saves " : " together saves ") +
         iec_bytes(line.fixes.peak_saving_bytes) + " alone, " +
         iec_bytes(line.fixes.joint_saving_bytes) + " on top of the other fixes";
}

std::size_t lines_to_show(const Report& report) {
  std::size_t count = 0;
  bool groups = false;
  for (const LineFixes& line : report.lines) {
    if (line.fixes.joint_saving_bytes == 0 && line.fixes.peak_saving_bytes == 0) continue;
    groups = groups || line.fixes.findings.size() > 1;
    ++count;
  }
  return groups || count > 1 ? std::min(count, kMostShown) : 0;
}

}  // namespace drgpum

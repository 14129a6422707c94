// SPDX-License-Identifier: Apache-2.0
#include "offline/report/report_diff.h"

#include <algorithm>
#include <array>
#include <map>
#include <ostream>

#include "offline/patterns/patterns.h"
#include "offline/report/classic_stream.h"
#include "offline/report/json_writer.h"
#include "offline/report/units.h"
#include "proto/trace/names.h"

namespace drgpum {
namespace {

constexpr std::array<std::string_view, 3> kChangeWords{"new", "gone", "resized"};

std::string signed_bytes(std::uint64_t from, std::uint64_t to) {
  return to >= from ? "+" + iec_bytes(to - from) : "-" + iec_bytes(from - to);
}

std::uint64_t distance(const SiteChange& c) {
  return c.new_bytes > c.base_bytes ? c.new_bytes - c.base_bytes : c.base_bytes - c.new_bytes;
}

std::vector<SiteChange> changed_sites(const Report& base, const Report& next) {
  std::map<std::string, SiteChange> sites;
  for (std::uint32_t o = 0; o < base.evidence.objects.size(); ++o) {
    if (!holds_memory(base.evidence.objects[o], base.level)) continue;
    SiteChange& site = sites[site_key(base, o)];
    site.base_bytes += base.evidence.objects[o].size;
    ++site.base_objects;
  }
  for (std::uint32_t o = 0; o < next.evidence.objects.size(); ++o) {
    if (!holds_memory(next.evidence.objects[o], next.level)) continue;
    SiteChange& site = sites[site_key(next, o)];
    site.new_bytes += next.evidence.objects[o].size;
    ++site.new_objects;
  }
  std::vector<SiteChange> changed;
  for (auto& [key, site] : sites) {
    if (site.base_bytes == site.new_bytes && site.base_objects == site.new_objects) continue;
    site.site = key;
    changed.push_back(site);
  }
  std::stable_sort(changed.begin(), changed.end(), [](const SiteChange& a, const SiteChange& b) {
    return distance(a) > distance(b);
  });
  return changed;
}

// Findings by pattern and site, each list in order of objects.
std::map<std::pair<std::string, std::string>, std::vector<const Finding*>> by_site(
    const Report& report) {
  std::map<std::pair<std::string, std::string>, std::vector<const Finding*>> lists;
  for (const Finding& f : report.findings)
    lists[{std::string(name_of(f.pattern)), site_key(report, f.object)}].push_back(&f);
  for (auto& [key, list] : lists)
    std::stable_sort(list.begin(), list.end(),
                     [](const Finding* a, const Finding* b) { return a->object < b->object; });
  return lists;
}

std::vector<FindingChange> changed_findings(const Report& base, const Report& next) {
  auto before = by_site(base);
  const auto after = by_site(next);
  for (const auto& [key, list] : after)
    before.try_emplace(key);
  std::vector<FindingChange> changes;
  for (const auto& [key, old] : before) {
    const auto found = after.find(key);
    const std::vector<const Finding*> none;
    const auto& now = found == after.end() ? none : found->second;
    for (std::size_t i = 0; i < std::max(old.size(), now.size()); ++i) {
      const Finding* a = i < old.size() ? old[i] : nullptr;
      const Finding* b = i < now.size() ? now[i] : nullptr;
      if (a != nullptr && b != nullptr && a->wasted_bytes == b->wasted_bytes) continue;
      const ChangeKind kind = a == nullptr   ? ChangeKind::kNew
                              : b == nullptr ? ChangeKind::kGone
                                             : ChangeKind::kResized;
      changes.push_back({kind, key.first, key.second,
                         b != nullptr ? next.label(b->object) : base.label(a->object),
                         a == nullptr ? 0 : a->wasted_bytes, b == nullptr ? 0 : b->wasted_bytes});
    }
  }
  return changes;
}

}  // namespace

std::string site_key(const Report& report, std::uint32_t object) {
  const Object& o = report.evidence.objects[object];
  const SourceFrame* site = report.site_of(o.alloc);
  const std::string& name = report.names[object];
  std::string key;
  if (site != nullptr) {
    key = site->function;
    if (!site->file.empty()) key += " " + site->file.substr(site->file.rfind('/') + 1);
    if (name.empty() && site->line > 0) key += ":" + std::to_string(site->line);
  }
  if (!name.empty()) key += (key.empty() ? "" : " ") + name;
  return key.empty() ? std::string(trace::enum_name(o.kind)) + " memory" : key;
}

ReportDiff diff_reports(const Report& base, const Report& next) {
  ReportDiff diff;
  diff.base_peak_bytes = base.peak_bytes();
  diff.new_peak_bytes = next.peak_bytes();
  diff.base_after_bytes = base.savings.peak_after_all_fixes_bytes;
  diff.new_after_bytes = next.savings.peak_after_all_fixes_bytes;
  diff.sites = changed_sites(base, next);
  diff.findings = changed_findings(base, next);
  return diff;
}

void write_diff_text(const ReportDiff& diff, std::ostream& out) {
  const ClassicStream classic(out);
  out << "Peak       " << iec_bytes(diff.base_peak_bytes) << " -> "
      << iec_bytes(diff.new_peak_bytes) << " ("
      << signed_bytes(diff.base_peak_bytes, diff.new_peak_bytes) << ")\n"
      << "Could be   " << iec_bytes(diff.base_after_bytes) << " -> "
      << iec_bytes(diff.new_after_bytes) << '\n';
  if (!diff.sites.empty()) out << "\nAllocated\n";
  for (const SiteChange& site : diff.sites)
    out << "  " << signed_bytes(site.base_bytes, site.new_bytes) << "  "
        << iec_bytes(site.base_bytes) << " in " << plural(site.base_objects, "object") << " -> "
        << iec_bytes(site.new_bytes) << " in " << plural(site.new_objects, "object") << "  "
        << printable(site.site) << '\n';
  if (!diff.findings.empty()) out << "\nFindings\n";
  for (const FindingChange& change : diff.findings)
    out << "  " << kChangeWords.at(static_cast<std::size_t>(change.kind)) << "  " << change.pattern
        << "  " << printable(change.object) << "  " << iec_bytes(change.base_bytes) << " -> "
        << iec_bytes(change.new_bytes) << "  " << printable(change.site) << '\n';
  if (diff.sites.empty() && diff.findings.empty()) out << "\nNothing else changed.\n";
}

void write_diff_json(const ReportDiff& diff, std::ostream& out) {
  JsonWriter json(out);
  json.begin_object();
  json.field("version", kReportVersion);
  json.field("base_peak_bytes", diff.base_peak_bytes);
  json.field("new_peak_bytes", diff.new_peak_bytes);
  json.field("base_peak_after_all_fixes_bytes", diff.base_after_bytes);
  json.field("new_peak_after_all_fixes_bytes", diff.new_after_bytes);
  json.key("sites").begin_array();
  for (const SiteChange& site : diff.sites) {
    json.begin_object();
    json.field("site", site.site);
    json.field("base_bytes", site.base_bytes);
    json.field("new_bytes", site.new_bytes);
    json.field("base_objects", site.base_objects);
    json.field("new_objects", site.new_objects);
    json.end_object();
  }
  json.end_array().key("findings").begin_array();
  for (const FindingChange& change : diff.findings) {
    json.begin_object();
    json.field("change", kChangeWords.at(static_cast<std::size_t>(change.kind)));
    json.field("pattern", change.pattern);
    json.field("site", change.site);
    json.field("object", change.object);
    json.field("base_bytes", change.base_bytes);
    json.field("new_bytes", change.new_bytes);
    json.end_object();
  }
  json.end_array().end_object();
}

void write_diff_markdown(const ReportDiff& diff, std::ostream& out) {
  const ClassicStream classic(out);
  out << "### GPU memory: peak " << iec_bytes(diff.base_peak_bytes) << " → "
      << iec_bytes(diff.new_peak_bytes) << " ("
      << signed_bytes(diff.base_peak_bytes, diff.new_peak_bytes) << ")\n\n";
  out << "```\n";
  write_diff_text(diff, out);
  out << "```\n";
}

}  // namespace drgpum

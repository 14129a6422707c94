// SPDX-License-Identifier: Apache-2.0
#include "offline/report/finding_rows.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr std::size_t kNamed = 6;
constexpr std::size_t kMany = 5;  // as many alike that lower the peak are one row

// What two findings of a row have in common: site, what is said, and what it saves.
using Likeness = std::tuple<std::uint32_t, Pattern, Certainty, std::uint64_t, std::uint64_t,
                            std::uint64_t, std::uint32_t>;

Likeness likeness(std::uint32_t site, const Finding& f, const Evidence& evidence) {
  const std::uint64_t size = lowers_the_peak(f) ? evidence.objects[f.object].size : 0;
  const std::uint32_t other = lowers_the_peak(f) ? f.superseded_by : kNone;
  return {site, f.pattern, f.certainty, size, f.peak_saving_bytes, f.joint_saving_bytes, other};
}

// Of every call path that has a site, the number of its source line or function.
std::unordered_map<std::uint32_t, std::uint32_t> sites_by_call_path(const Report& report) {
  std::unordered_map<std::uint32_t, std::uint32_t> result;
  std::map<std::tuple<std::string, std::uint32_t, std::string>, std::uint32_t> numbers;
  for (const auto& [path, resolved] : report.call_paths) {
    if (resolved.site >= resolved.frames.size()) continue;
    const SourceFrame& site = resolved.frames[resolved.site];
    const auto number = static_cast<std::uint32_t>(numbers.size());
    result[path] = numbers.try_emplace({site.file, site.line, site.function}, number).first->second;
  }
  return result;
}

// Rows of findings that lower the peak, and that are not many, taken apart again.
std::vector<FindingRow> few_apart(std::vector<FindingRow> gathered) {
  std::vector<FindingRow> rows;
  for (FindingRow& row : gathered) {
    std::vector<std::uint32_t> apart;
    if (row.lowers_the_peak && row.like.size() + 1 < kMany) apart.swap(row.like);
    const bool lowers = row.lowers_the_peak;
    rows.push_back(std::move(row));
    for (const std::uint32_t finding : apart)
      rows.push_back({finding, {}, lowers});
  }
  std::sort(rows.begin(), rows.end(),
            [](const FindingRow& a, const FindingRow& b) { return a.first < b.first; });
  return rows;
}

}  // namespace

bool lowers_the_peak(const Finding& finding) {
  return finding.joint_saving_bytes > 0 || finding.peak_saving_bytes > 0;
}

std::vector<FindingRow> finding_rows(const Report& report) {
  const std::unordered_map<std::uint32_t, std::uint32_t> sites = sites_by_call_path(report);
  std::vector<FindingRow> rows;
  std::map<Likeness, std::size_t> row_of;
  for (std::uint32_t i = 0; i < report.findings.size(); ++i) {
    const Finding& f = report.findings[i];
    const std::uint32_t api = report.evidence.objects[f.object].alloc;
    const auto site = report.has_call(api) ? sites.find(report.evidence.apis[api].call_path)
                                           : sites.end();
    if (site == sites.end()) {
      rows.push_back({i, {}, lowers_the_peak(f)});
      continue;
    }
    const auto [at, is_new] =
        row_of.try_emplace(likeness(site->second, f, report.evidence), rows.size());
    if (is_new)
      rows.push_back({i, {}, lowers_the_peak(f)});
    else
      rows[at->second].like.push_back(i);
  }
  return few_apart(std::move(rows));
}

std::string describe_like(const FindingRow& row) {
  if (row.like.empty()) return "";
  std::string text = "Of this line also finding" + std::string(row.like.size() == 1 ? "" : "s");
  const std::size_t named = row.like.size() > kNamed ? kNamed - 1 : row.like.size();
  for (std::size_t i = 0; i < named; ++i)
    text += (i == 0 ? " " : i + 1 == row.like.size() ? " and " : ", ") +
            std::to_string(row.like[i] + 1);
  if (named < row.like.size())
    text += " and " + exact_bytes(row.like.size() - named) + " more";
  return text + (row.lowers_the_peak ? ", which save as much each." : ".");
}

}  // namespace drgpum

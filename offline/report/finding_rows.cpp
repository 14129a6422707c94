// SPDX-License-Identifier: Apache-2.0
#include "offline/report/finding_rows.h"

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr std::size_t kNamed = 6;

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

}  // namespace

bool lowers_the_peak(const Finding& finding) {
  return finding.joint_saving_bytes > 0 || finding.peak_saving_bytes > 0;
}

std::vector<FindingRow> finding_rows(const Report& report) {
  const std::unordered_map<std::uint32_t, std::uint32_t> sites = sites_by_call_path(report);
  std::vector<FindingRow> rows;
  std::map<std::tuple<std::uint32_t, Pattern, Certainty>, std::size_t> row_of;
  for (std::uint32_t i = 0; i < report.findings.size(); ++i) {
    const Finding& f = report.findings[i];
    const std::uint32_t api = report.evidence.objects[f.object].alloc;
    const auto site = report.has_call(api) ? sites.find(report.evidence.apis[api].call_path)
                                           : sites.end();
    if (lowers_the_peak(f) || site == sites.end()) {
      rows.push_back({i, {}});
      continue;
    }
    const auto [at, is_new] =
        row_of.try_emplace({site->second, f.pattern, f.certainty}, rows.size());
    if (is_new)
      rows.push_back({i, {}});
    else
      rows[at->second].like.push_back(i);
  }
  return rows;
}

std::string describe_like(const FindingRow& row) {
  if (row.like.empty()) return "";
  std::string text = "Of this line also " + std::string(row.like.size() == 1 ? "finding" : "findings");
  const std::size_t named = row.like.size() > kNamed ? kNamed - 1 : row.like.size();
  for (std::size_t i = 0; i < named; ++i)
    text += (i == 0 ? " " : i + 1 == row.like.size() ? " and " : ", ") +
            std::to_string(row.like[i] + 1);
  if (named < row.like.size())
    text += " and " + exact_bytes(row.like.size() - named) + " more";
  return text + ".";
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/report/suppressions.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include <fnmatch.h>

#include "offline/patterns/patterns.h"

namespace drgpum {
namespace {

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool matches(const std::string& glob, const std::string& text) {
  return ::fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

bool covers(const Suppression& rule, const Report& report, const Finding& f) {
  if (!matches(rule.pattern, std::string(name_of(f.pattern)))) return false;
  if (rule.site == "*" || matches(rule.site, report.label(f.object))) return true;
  const SourceFrame* site = report.site_of(report.evidence.objects[f.object].alloc);
  return site != nullptr && (matches(rule.site, site->function) ||
                             matches(rule.site, site->file + ":" + std::to_string(site->line)));
}

}  // namespace

Result<std::vector<Suppression>> parse_suppressions(std::string_view text) {
  std::vector<Suppression> rules;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    if (line.empty() || line.front() == '#') continue;
    Suppression rule;
    const std::size_t hash = line.find(" #");
    if (hash != std::string_view::npos) rule.reason = trimmed(line.substr(hash + 2));
    const std::string_view globs = trimmed(line.substr(0, hash));
    const std::size_t colon = globs.find(':');
    if (colon == std::string_view::npos || colon == 0 || colon + 1 == globs.size())
      return Error{ErrorCode::kInvalidArgument, "line " + std::to_string(number) + ": '" +
                                                    std::string(globs) +
                                                    "' is not of the form PATTERN:SITE"};
    rule.pattern = globs.substr(0, colon);
    rule.site = globs.substr(colon + 1);
    rules.push_back(std::move(rule));
  }
  return rules;
}

Result<std::vector<Suppression>> read_suppressions(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{ErrorCode::kNotFound, path + ": " + std::strerror(errno)};
  std::ostringstream text;
  text << file.rdbuf();
  auto rules = parse_suppressions(text.str());
  if (!rules) return std::move(rules).error().while_doing(path);
  return rules;
}

void suppress(Report& report, const std::vector<Suppression>& suppressions) {
  for (const Suppression& rule : suppressions)
    report.suppressions.push_back({rule.pattern, rule.site, rule.reason, 0});
  std::erase_if(report.findings, [&](const Finding& f) {
    for (std::size_t i = 0; i < suppressions.size(); ++i) {
      if (!covers(suppressions[i], report, f)) continue;
      ++report.suppressions[i].count;
      return true;
    }
    return false;
  });
}

}  // namespace drgpum

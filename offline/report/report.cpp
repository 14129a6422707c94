// SPDX-License-Identifier: Apache-2.0
#include "offline/report/report.h"

#include <algorithm>

#include "offline/report/line_suffix.h"
#include "offline/report/units.h"

namespace drgpum {

std::vector<SourceFrame> SourceLookup::frames(std::uint32_t) {
  return {};
}
std::size_t SourceLookup::site(std::uint32_t) {
  return 0;
}
std::string SourceLookup::variable(const SourceFrame&) {
  return {};
}

std::vector<AccessLine> SourceLookup::access_lines(std::uint32_t) {
  return {};
}

std::string Report::label(std::uint32_t object) const {
  if (object < names.size() && !names[object].empty()) return names[object];
  return "object " + std::to_string(evidence.objects[object].id);
}

const SourceFrame* Report::site_of(std::uint32_t api) const {
  if (!has_call(api)) return nullptr;
  const auto path = call_paths.find(evidence.apis[api].call_path);
  if (path == call_paths.end() || path->second.site >= path->second.frames.size()) return nullptr;
  return &path->second.frames[path->second.site];
}

const std::vector<AccessLine>& Report::access_lines_of(std::uint32_t object) const {
  static const std::vector<AccessLine> kNothing;
  const auto found = access_lines.find(object);
  return found == access_lines.end() ? kNothing : found->second;
}

std::string Report::kernel_of(std::uint32_t api) const {
  if (!has_call(api) || evidence.apis[api].kind != trace::ApiKind::kLaunch) return {};
  const std::uint32_t kernel = evidence.apis[api].payload;
  return kernel < kernel_names.size() ? kernel_names[kernel] : std::string();
}

std::string Report::describe_call(std::uint32_t api) const {
  if (!has_call(api)) return "the end";
  const std::string kernel = kernel_of(api);
  const std::string& name = evidence.names[evidence.apis[api].name];
  std::string text = "call " + std::to_string(api) + " ";
  text += kernel.empty() ? (name.empty() ? "?" : name) : kernel;
  const SourceFrame* site = site_of(api);
  if (site == nullptr || site->file.empty()) return text;
  return text + " at " + site->file.substr(site->file.rfind('/') + 1) +
         line_suffix(site->line);
}

std::vector<Coverage> coverage_of(const Evidence& evidence) {
  std::vector<Coverage> result;
  std::unordered_map<std::string, std::size_t> known;
  for (const trace::CoverageRecord& gap : evidence.coverage) {
    const std::string key = std::to_string(static_cast<int>(gap.kind)) + gap.text;
    const auto [at, fresh] = known.try_emplace(key, result.size());
    if (fresh) result.push_back({gap.kind, gap.text, 0});
    result[at->second].count += gap.count;
  }
  return result;
}

}  // namespace drgpum

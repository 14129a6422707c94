// SPDX-License-Identifier: Apache-2.0
#include "offline/cli/trace_sources.h"

#include "offline/report/units.h"
#include "offline/source/variable_name.h"

namespace drgpum {

std::vector<SourceFrame> TraceSources::frames(std::uint32_t call_path) {
  std::vector<SourceFrame> frames;
  for (const PathFrame& frame : map_.path({call_path}).frames)
    frames.push_back({std::string(frame.function), std::string(frame.file), frame.line});
  return frames;
}

std::size_t TraceSources::site(std::uint32_t call_path) {
  return map_.path({call_path}).site;
}

// Two allocations on one line cannot be told apart.
std::string TraceSources::variable(const SourceFrame& site) {
  if (text_.allocations_on(site.file, site.line) > 1) return "";
  return variable_of(text_.statement(site.file, site.line));
}

std::vector<AccessLine> TraceSources::access_lines(std::uint32_t object) {
  const auto lines = accesses_.of(ObjectId{object});
  return {lines.begin(), lines.end()};
}

std::vector<std::string> missing_lines(const SourceMap& map, std::span<const ImageNote> images) {
  std::vector<std::string> lines;
  for (const ModuleNote& module : map.modules()) {
    if (module.problem.empty()) continue;
    const bool named = module.problem.starts_with(module.path);
    lines.push_back("no source lines for " +
                    plural(module.addresses - module.with_lines, "address") + ": " +
                    (named ? "" : printable(module.path) + " ") + printable(module.problem));
  }
  for (const ImageNote& image : images)
    if (!image.problem.empty())
      lines.push_back("no source lines for " + plural(image.asked, "place") + " in device code " +
                      printable(image.name) + ": " + printable(image.problem));
  return lines;
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/patterns.h"

namespace drgpum {

std::string_view name_of(Pattern pattern) {
  return kPatterns.at(static_cast<std::size_t>(pattern)).name;
}

std::optional<Pattern> pattern_named(std::string_view name) {
  for (const PatternEntry& entry : kPatterns)
    if (entry.name == name) return entry.pattern;
  return std::nullopt;
}

std::vector<Finding> strict_findings(const PatternInput& in) {
  std::vector<Finding> all;
  for (const PatternEntry& entry : kPatterns) {
    std::vector<Finding> found = entry.find(in);
    all.insert(all.end(), std::make_move_iterator(found.begin()),
               std::make_move_iterator(found.end()));
  }
  return all;
}

}  // namespace drgpum

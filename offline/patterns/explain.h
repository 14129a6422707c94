// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each pattern means, in words: for `drgpum report --explain` and for rule descriptions.

#include <string>
#include <string_view>

#include "offline/patterns/finding.h"

namespace drgpum {

struct PatternText {
  Pattern pattern;
  std::string_view title;
  std::string_view when;       // the definition
  std::string_view threshold;  // and its unit
  std::string_view fix;
  std::string_view proven;
  std::string_view wrong;  // what would make it wrong
  std::string_view source;
};

const PatternText& text_of(Pattern pattern);
// All of it, as paragraphs.
std::string explain(Pattern pattern);

}  // namespace drgpum

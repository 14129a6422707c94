// SPDX-License-Identifier: Apache-2.0
#include "offline/report/code_text.h"

#include <cstdint>

#include "offline/report/units.h"

namespace drgpum {

std::string code_text(std::string_view line, std::size_t columns) {
  constexpr std::size_t kLongest = 4096;  // bytes looked at
  constexpr std::size_t kTab = 4;
  std::string text;
  for (const char c : line.substr(0, kLongest))
    text += c == '\t' ? std::string(kTab - text.size() % kTab, ' ') : std::string(1, c);
  text = printable(text);
  std::size_t end = 0;
  for (std::size_t have = 0; end < text.size(); ++end)
    if ((static_cast<std::uint8_t>(text[end]) & 0xc0) != 0x80 && ++have > columns) break;
  text.resize(end);
  return text;
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// The report for a terminal.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>

#include "offline/report/report.h"

namespace drgpum {

struct TextStyle {
  std::size_t width = 100;  // columns; text is wrapped there
  bool colour = false;
  std::size_t top = 10;  // findings shown, of one line that lower no peak one; 0: all
  // A line of a source file, from 1; empty where it is not known. May be left out.
  std::function<std::string_view(const std::string& file, std::uint32_t line)> source_line;
};

void write_text(const Report& report, const TextStyle& style, std::ostream& out);
// A few lines for the end of a run: trace and size, peak, the top three findings, the next command.
void write_brief(const Report& report, std::ostream& out);

}  // namespace drgpum

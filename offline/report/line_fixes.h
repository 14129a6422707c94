// SPDX-License-Identifier: Apache-2.0
#pragma once
// Findings by the source line that allocates their objects: what a line costs at the peak, and what
// fixing everything about it saves.

#include <cstdint>
#include <string>
#include <vector>

#include "offline/patterns/fix_groups.h"

namespace drgpum {

struct Report;

struct LineFixes {
  std::uint32_t api = 0;  // an allocation on that line
  FixGroup fixes;
  std::uint64_t bytes_at_peak = 0;    // of the highest peak, allocated there
  std::uint64_t unused_at_peak = 0;   // of these: idle then, never used or leaked
  std::uint64_t objects_at_peak = 0;  // that hold those bytes
};

// Lines with a finding; most saved jointly first, then alone, then unused, then live at the peak,
// then by file and line. Findings whose allocation site is not known are in none.
std::vector<LineFixes> fixes_by_line(const Report& report);

// "4.0 MiB of the peak in 2 objects, 2.0 MiB of it not used then; fixing findings 1 and 3 saves
// 4.0 MiB alone, 2.0 MiB on top of the other fixes"
std::string describe(const LineFixes& line);
// The lines worth showing: those whose fixes lower the peak, where there are several findings.
std::size_t lines_to_show(const Report& report);

}  // namespace drgpum

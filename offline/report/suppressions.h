// SPDX-License-Identifier: Apache-2.0
#pragma once
// Findings that a team has decided to live with.

#include <string>
#include <string_view>
#include <vector>

#include "offline/report/report.h"
#include "proto/base/result.h"

namespace drgpum {

// One for each line `PATTERN:SITE  # reason`, both shell globs; blank lines and lines that begin
// with # are skipped. SITE is held against "file:line", the function and the object's name of the
// allocation: `memory_leak:*/pool.cpp:*`, `*:init_tables`, `dead_write:scratch`.
struct Suppression {
  std::string pattern;
  std::string site;
  std::string reason;
};

// The error names the line.
Result<std::vector<Suppression>> parse_suppressions(std::string_view text);
Result<std::vector<Suppression>> read_suppressions(const std::string& path);

// Takes covered findings out of the report, before they are ranked, and counts them there.
void suppress(Report& report, const std::vector<Suppression>& suppressions);

}  // namespace drgpum

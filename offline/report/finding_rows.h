// SPDX-License-Identifier: Apache-2.0
#pragma once
// The findings as a reader goes through them: those that say the same of objects of one source line
// are one row. Of those that lower the peak only many that save the same are: a few are fixes that
// a reader weighs one by one, but what is said of each of a loop's 500 buffers is said once.

#include <cstdint>
#include <string>
#include <vector>

#include "offline/report/report.h"

namespace drgpum {

struct FindingRow {
  std::uint32_t first = 0;          // in Report::findings
  std::vector<std::uint32_t> like;  // the others, rising
  bool lowers_the_peak = false;     // each of them does, by as much
};

bool lowers_the_peak(const Finding& finding);
// By the rank of each row's first finding, so those that lower the peak come before the others.
std::vector<FindingRow> finding_rows(const Report& report);
// "Of this line also findings 5, 7, 9 and 12 more."; nothing where there is no other.
std::string describe_like(const FindingRow& row);

}  // namespace drgpum

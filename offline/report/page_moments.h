// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a page says about when things happen: phases of the program, its iterations, and the device's
// time of its calls. PhaseColumns and Clock in gui/src/model/report.ts.

#include "offline/report/page_columns.h"
#include "offline/report/report.h"

namespace drgpum {

// Of more phases the longest are there, and the others counted.
inline constexpr std::size_t kMaxPagePhases = 50'000;

// The value of `phases`.
void write_phases(const Report& report, const ColumnWriter& to);

// The value of `clock`: for every so many calls, at most kClockPoints times, when the device comes
// to the call, in ns since its first work; and how long all its work takes. null without times.
inline constexpr std::uint32_t kClockPoints = 1u << 14;
void write_clock(const Report& report, const ColumnWriter& to);

// When the device comes to each call, as `clock` says it, but of each call its own begin where that
// is known. Empty without times.
std::vector<std::uint64_t> times_of_calls(const Report& report);

}  // namespace drgpum

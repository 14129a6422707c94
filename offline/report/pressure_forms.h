// SPDX-License-Identifier: Apache-2.0
#pragma once
// What memory_pressure.h found, for readers.

#include <string>
#include <vector>

#include "offline/report/report.h"

namespace drgpum {

class JsonWriter;

inline constexpr const char* kNoAutoSwap =
    "swapping needs to know when each tensor is used, and this file records only allocations and "
    "frees; profile the program with drgpum run";

// Sentences, in the order of importance. The report has a pressure.
std::vector<std::string> pressure_lines(const Report& report);

// The member `memory_pressure`.
void write_pressure(const Report& report, JsonWriter& json);

// "call" as report.schema.json has it, or null.
void write_call(const Report& report, std::uint32_t api, JsonWriter& json);

}  // namespace drgpum

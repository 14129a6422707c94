// SPDX-License-Identifier: Apache-2.0
#pragma once
// Words that the forms of the report share.

#include <cstdint>
#include <string>
#include <string_view>

#include "offline/report/report.h"

namespace drgpum {

std::string words_of(std::string_view pattern);  // "late_deallocation": "late deallocation"
std::string_view word_for(StateAtPeak state);  // "never used", "live"
std::string_view name_of(StateAtPeak state);   // as in JSON and tables: "unused", "unknown"
// "2.0 MiB used, 1.0 MiB idle"
std::string states_of(const Evidence& evidence, const Peak& peak);
// Where the object is allocated: "main app.cu:12", "0x1009", or nothing.
std::string site_text(const Report& report, std::uint32_t object);
// What all fixes leave of the peak: "all fixes: 32.0 MiB, 33 % less".
std::string savings_text(const Report& report);

}  // namespace drgpum

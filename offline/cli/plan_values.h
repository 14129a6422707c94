// SPDX-License-Identifier: Apache-2.0
#pragma once
// Numbers and strings as plans print them.

#include <cstdint>
#include <string>

namespace drgpum {

// A double by a printf format.
std::string number(double value, const char* format);
// `12.5 %`; 0 of 0 is 0 %.
std::string percent(std::int64_t part, std::int64_t whole);
// A JSON string; bytes that are not UTF-8 are replaced.
std::string quoted(const std::string& text);
// `"name":7`
std::string field_json(const char* name, std::int64_t value);
// 1,234,567 bytes as `1.18 MiB (1234567)`.
std::string shown_bytes(std::int64_t bytes);

}  // namespace drgpum

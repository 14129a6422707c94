// SPDX-License-Identifier: Apache-2.0
#include "offline/cli/plan_values.h"

#include <array>
#include <cstdio>

#include <nlohmann/json.hpp>

namespace drgpum {

std::string number(double value, const char* format) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string percent(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return "0 %";
  return number(100.0 * static_cast<double>(part) / static_cast<double>(whole), "%.4g %%");
}

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string field_json(const char* name, std::int64_t value) {
  return std::string("\"") + name + "\":" + std::to_string(value);
}

std::string shown_bytes(std::int64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  if (unit == 0) return std::to_string(bytes) + " B";
  return number(value, "%.2f ") + kUnits[unit] + " (" + std::to_string(bytes) + ")";
}

}  // namespace drgpum

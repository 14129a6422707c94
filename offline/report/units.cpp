// SPDX-License-Identifier: Apache-2.0
#include "offline/report/units.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <memory>

#include <cxxabi.h>

namespace drgpum {
namespace {

// The length of the UTF-8 sequence at `text`, and its code point; length 0: not UTF-8.
std::pair<std::size_t, std::uint32_t> decode_utf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {1, lead};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;
  if (length == 0 || lead > 0xf4 || text.size() < length) return {0, 0};
  std::uint32_t point = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return {0, 0};
    point = point << 6 | (byte & 0x3fu);
  }
  constexpr std::array<std::uint32_t, 5> kSmallest{0, 0, 0x80, 0x800, 0x10000};
  const bool valid =
      point >= kSmallest.at(length) && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
  return valid ? std::pair(length, point) : std::pair(std::size_t{0}, 0u);
}

bool is_hidden(std::uint32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0x200b && point <= 0x200f) ||
         (point >= 0x202a && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069) ||
         point == 0xfeff;
}

std::string hex(std::uint32_t value) {
  std::array<char, 8> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, 16).ptr;
  return {text.data(), end};
}

}  // namespace

std::string fixed_number(double value, int decimals) {
  std::array<char, 64> text{};
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value,
                                          std::chars_format::fixed, decimals);
  return error == std::errc() ? std::string(text.data(), end) : "?";
}

std::string iec_bytes(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> kUnits{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + (bytes == 1 ? " byte" : " bytes");
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < kUnits.size())
    value /= 1024, ++unit;
  return fixed_number(value, 1) + " " + kUnits.at(unit);
}

std::string duration(std::uint64_t ns) {
  constexpr std::array<const char*, 4> kUnits{"ns", "us", "ms", "s"};
  if (ns < 1000) return std::to_string(ns) + " ns";
  double value = static_cast<double>(ns);
  std::size_t unit = 0;
  while (value >= 999.95 && unit + 1 < kUnits.size())
    value /= 1000, ++unit;
  return fixed_number(value, 1) + " " + kUnits.at(unit);
}

std::string exact_bytes(std::uint64_t bytes) {
  const std::string digits = std::to_string(bytes);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string iec_and_exact(std::uint64_t bytes) {
  if (bytes < 1024) return iec_bytes(bytes);
  return iec_bytes(bytes) + " (" + exact_bytes(bytes) + " bytes)";
}

std::string percent_of(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0 %";
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  return fixed_number(percent, percent > 0 && percent < 10 ? 1 : 0) + " %";
}

std::string plural(std::uint64_t count, std::string_view noun) {
  std::string text = exact_bytes(count) + " " + std::string(noun);
  if (count == 1) return text;
  const char last = noun.back();
  if (noun.ends_with("ch") || last == 's') return text + "es";
  if (noun.ends_with("py")) return text.substr(0, text.size() - 1) + "ies";
  return text + "s";
}

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto [length, point] = decode_utf8(text.substr(at));
    if (length == 0) {
      out += "\xef\xbf\xbd";
      ++at;
      continue;
    }
    if (is_hidden(point)) {
      out += "\\u{" + hex(point) + "}";
    } else {
      out += text.substr(at, length);
    }
    at += length;
  }
  return out;
}

// Other names may read as mangled types: a kernel called "l" is no "long".
std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

}  // namespace drgpum

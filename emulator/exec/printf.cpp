// SPDX-License-Identifier: Apache-2.0
// Device printf: conversions go one by one to the host's snprintf. Source: CUDA C++ Programming
// Guide, "Formatted Output"; arguments lie in the buffer as C's default promotions leave them.

#include <bit>
#include <cstdio>
#include <cstdlib>

#include "emulator/exec/builtins.h"

namespace drgpum::emulator::exec {
namespace {

struct Conversion {
  std::string flags;  // flags, width and precision as in the format
  int length = 0;     // 1: l, 2: ll (also z, t, j), -1: h, -2: hh
  char kind = 0;
  std::size_t end = 0;
};

bool is_one_of(char c, std::string_view set) {
  return set.find(c) != std::string_view::npos;
}

// Reads the conversion that starts after the % at `at`; `*` takes its value from the arguments.
Conversion parse_conversion(std::string_view format, std::size_t at, PrintfSource& source) {
  Conversion conversion;
  while (at < format.size() && is_one_of(format[at], "-+ #0123456789.*")) {
    if (format[at] == '*') {
      conversion.flags += std::to_string(static_cast<std::int32_t>(source.next(4)));
    } else {
      conversion.flags += format[at];
    }
    ++at;
  }
  while (at < format.size() && is_one_of(format[at], "hlLzjt")) {
    const char c = format[at++];
    if (c == 'h')
      --conversion.length;
    else if (c == 'l')
      ++conversion.length;
    else
      conversion.length = 2;
  }
  if (at < format.size()) conversion.kind = format[at++];
  conversion.end = at;
  return conversion;
}

template <typename T>
void print_value(const Conversion& conversion, const char* length, T value, std::string& out) {
  const std::string format = "%" + conversion.flags + length + conversion.kind;
  char small[128];
  const int needed = std::snprintf(small, sizeof small, format.c_str(), value);
  if (needed < 0) return;
  if (static_cast<std::size_t>(needed) < sizeof small) {
    out.append(small, static_cast<std::size_t>(needed));
    return;
  }
  std::string large(static_cast<std::size_t>(needed) + 1, '\0');
  std::snprintf(large.data(), large.size(), format.c_str(), value);
  out.append(large, 0, static_cast<std::size_t>(needed));
}

void print_integer(const Conversion& conversion, PrintfSource& source, std::string& out) {
  const bool is_signed = conversion.kind == 'd' || conversion.kind == 'i';
  const std::uint64_t value = source.next(conversion.length > 0 ? 8 : 4);
  if (conversion.length > 0) {
    if (is_signed)
      print_value(conversion, "ll", static_cast<long long>(value), out);
    else
      print_value(conversion, "ll", static_cast<unsigned long long>(value), out);
    return;
  }
  const char* length = conversion.length == 0 ? "" : conversion.length == -1 ? "h" : "hh";
  if (is_signed)
    print_value(conversion, length, static_cast<int>(value), out);
  else
    print_value(conversion, length, static_cast<unsigned>(value), out);
}

bool print_conversion(const Conversion& conversion, PrintfSource& source, std::string& out) {
  switch (conversion.kind) {
    case 'd':
    case 'i':
    case 'u':
    case 'x':
    case 'X':
    case 'o':
      print_integer(conversion, source, out);
      return true;
    case 'c':
      print_value(conversion, "", static_cast<int>(source.next(4)), out);
      return true;
    case 'f':
    case 'F':
    case 'e':
    case 'E':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      print_value(conversion, "", std::bit_cast<double>(source.next(8)), out);
      return true;
    case 'p':
      // The host's %p says (nil) for null; so does CUDA.
      print_value(conversion, "", reinterpret_cast<void*>(source.next(8)), out);
      return true;
    case 's':
      print_value(conversion, "", source.text(source.next(8)).c_str(), out);
      return true;
    default:
      return false;
  }
}

}  // namespace

int format_printf(std::string_view format, PrintfSource& source, std::string& out) {
  int converted = 0;
  for (std::size_t at = 0; at < format.size();) {
    if (format[at] != '%') {
      out += format[at++];
      continue;
    }
    if (at + 1 < format.size() && format[at + 1] == '%') {
      out += '%';
      at += 2;
      continue;
    }
    const Conversion conversion = parse_conversion(format, at + 1, source);
    if (print_conversion(conversion, source, out)) {
      ++converted;
    } else {
      out.append(format.substr(at, conversion.end - at));
    }
    at = conversion.end;
  }
  return converted;
}

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
#include "offline/import/pickle_text.h"

#include <charconv>
#include <cstdint>

namespace drgpum {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xc0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xe0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | (code >> 18 & 7));
    out += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// The hexadecimal digits behind a backslash; false when they are none.
bool hexadecimal(std::string_view text, std::size_t digits, std::uint32_t& value) {
  if (text.size() < digits) return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + digits, value, 16);
  return error == std::errc() && end == text.data() + digits;
}

}  // namespace

bool unquoted(std::string_view line, std::string& plain) {
  if (line.size() < 2 || line.front() != line.back() || (line[0] != '\'' && line[0] != '"'))
    return false;
  const std::string_view text = line.substr(1, line.size() - 2);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::uint32_t code = 0;
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    const char what = text[++i];
    if (what == 'x' && hexadecimal(text.substr(i + 1), 2, code)) {
      plain += static_cast<char>(code);
      i += 2;
    } else {
      plain += what == 'n' ? '\n' : what == 't' ? '\t' : what == 'r' ? '\r' : what;
    }
  }
  return true;
}

bool unescaped(std::string_view line, std::string& plain) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    std::uint32_t code = static_cast<unsigned char>(line[i]);
    const bool escaped = line[i] == '\\' && i + 1 < line.size();
    const std::size_t digits = !escaped ? 0 : line[i + 1] == 'u' ? 4 : line[i + 1] == 'U' ? 8 : 0;
    if (digits > 0) {
      if (!hexadecimal(line.substr(i + 2), digits, code) || code > 0x10ffff) return false;
      i += 1 + digits;
    }
    append_utf8(plain, code);
  }
  return true;
}

}  // namespace drgpum

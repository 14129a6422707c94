// SPDX-License-Identifier: Apache-2.0
#include "offline/report/json_writer.h"

#include <array>
#include <charconv>
#include <cmath>

namespace drgpum {
namespace {

constexpr std::size_t kDepthOfLines = 2;

// The length of the valid UTF-8 sequence at the start of `text`; 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto follows = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xc0) == 0x80; };
  if (byte(0) < 0x80) return 1;
  if (byte(0) >= 0xc2 && byte(0) < 0xe0) return follows(1) ? 2 : 0;
  if (byte(0) >= 0xe0 && byte(0) < 0xf0) {
    if (!follows(1) || !follows(2)) return 0;
    if (byte(0) == 0xe0 && byte(1) < 0xa0) return 0;
    return byte(0) == 0xed && byte(1) >= 0xa0 ? 0 : 3;
  }
  if (byte(0) >= 0xf0 && byte(0) < 0xf5) {
    if (!follows(1) || !follows(2) || !follows(3)) return 0;
    if (byte(0) == 0xf0 && byte(1) < 0x90) return 0;
    return byte(0) == 0xf4 && byte(1) >= 0x90 ? 0 : 4;
  }
  return 0;
}

}  // namespace

void JsonWriter::separate() {
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_members_.empty()) return;
  if (has_members_.back()) out_.put(',');
  has_members_.back() = true;
  if (has_members_.size() <= kDepthOfLines) {
    out_.put('\n');
    for (std::size_t i = 0; i < has_members_.size(); ++i)
      out_.put(' ');
  }
}

void JsonWriter::open(char bracket) {
  separate();
  out_.put(bracket);
  has_members_.push_back(false);
}

void JsonWriter::close(char bracket) {
  const bool had_members = has_members_.back();
  has_members_.pop_back();
  if (had_members && has_members_.size() < kDepthOfLines) {
    out_.put('\n');
    for (std::size_t i = 0; i < has_members_.size(); ++i)
      out_.put(' ');
  }
  out_.put(bracket);
  if (has_members_.empty()) out_.put('\n');
}

JsonWriter& JsonWriter::begin_object() {
  return open('{'), *this;
}
JsonWriter& JsonWriter::end_object() {
  return close('}'), *this;
}
JsonWriter& JsonWriter::begin_array() {
  return open('['), *this;
}
JsonWriter& JsonWriter::end_array() {
  return close(']'), *this;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quoted(name);
  out_.put(':');
  after_key_ = true;
  return *this;
}

JsonWriter& JsonWriter::text(std::string_view value) {
  separate();
  quoted(value);
  return *this;
}

JsonWriter& JsonWriter::null() {
  separate();
  out_ << "null";
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  out_ << (value ? "true" : "false");
  return *this;
}

JsonWriter& JsonWriter::unsigned_number(std::uint64_t value) {
  separate();
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.write(digits.data(), end - digits.data());
  return *this;
}

JsonWriter& JsonWriter::signed_number(std::int64_t value) {
  separate();
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.write(digits.data(), end - digits.data());
  return *this;
}

JsonWriter& JsonWriter::real(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out_.write(digits.data(), end - digits.data());
  return *this;
}

void JsonWriter::quoted(std::string_view value) {
  constexpr char kHex[] = "0123456789abcdef";
  out_.put('"');
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t length = utf8_length(value.substr(at));
    const char c = value[at];
    if (length == 0) {
      out_ << "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      out_.put('\\').put(c);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out_ << "\\u00" << kHex[static_cast<unsigned char>(c) >> 4] << kHex[c & 15];
    } else {
      out_.write(value.data() + at, static_cast<std::streamsize>(length));
    }
    at += std::max<std::size_t>(length, 1);
  }
  out_.put('"');
}

}  // namespace drgpum

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

void JsonWriter::flush() {
  out_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void JsonWriter::separate() {
  spill();
  if (after_key_) {
    after_key_ = false;
    return;
  }
  if (has_members_.empty()) return;
  if (has_members_.back()) buffer_.push_back(',');
  has_members_.back() = true;
  if (has_members_.size() <= kDepthOfLines) {
    buffer_.push_back('\n');
    for (std::size_t i = 0; i < has_members_.size(); ++i)
      buffer_.push_back(' ');
  }
}

void JsonWriter::open(char bracket) {
  separate();
  buffer_.push_back(bracket);
  has_members_.push_back(false);
}

void JsonWriter::close(char bracket) {
  const bool had_members = has_members_.back();
  has_members_.pop_back();
  if (had_members && has_members_.size() < kDepthOfLines) {
    buffer_.push_back('\n');
    for (std::size_t i = 0; i < has_members_.size(); ++i)
      buffer_.push_back(' ');
  }
  buffer_.push_back(bracket);
  if (has_members_.empty()) buffer_.push_back('\n');
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
  buffer_.push_back(':');
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
  buffer_ += "null";
  return *this;
}

JsonWriter& JsonWriter::boolean(bool value) {
  separate();
  buffer_ += value ? "true" : "false";
  return *this;
}

JsonWriter& JsonWriter::unsigned_number(std::uint64_t value) {
  separate();
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  buffer_.append(digits.data(), end);
  return *this;
}

JsonWriter& JsonWriter::signed_number(std::int64_t value) {
  separate();
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  buffer_.append(digits.data(), end);
  return *this;
}

JsonWriter& JsonWriter::real(double value) {
  if (!std::isfinite(value)) return null();
  separate();
  std::array<char, 64> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  buffer_.append(digits.data(), end);
  return *this;
}

void JsonWriter::quoted(std::string_view value) {
  constexpr char kHex[] = "0123456789abcdef";
  buffer_.push_back('"');
  for (std::size_t at = 0; at < value.size();) {
    const std::size_t length = utf8_length(value.substr(at));
    const char c = value[at];
    if (length == 0) {
      buffer_ += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      buffer_.push_back('\\');
      buffer_.push_back(c);
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      buffer_ += "\\u00";
      buffer_.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
      buffer_.push_back(kHex[c & 15]);
    } else {
      buffer_.append(value.data() + at, length);
    }
    at += std::max<std::size_t>(length, 1);
  }
  buffer_.push_back('"');
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
// Splits PTX text into tokens.

#include "emulator/ptx/lexer.h"

#include <algorithm>
#include <bit>
#include <charconv>

namespace drgpum::emulator::ptx {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool follows(char c) {
  return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

// 36 for what is no digit in any base.
unsigned digit_value(char c) {
  if (is_digit(c)) return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'z') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'Z') return static_cast<unsigned>(c - 'A') + 10;
  return 36;
}

}  // namespace

Lexer::Lexer(std::string_view text) : text_(text.substr(0, text.find('\0'))) {}

Token Lexer::next() {
  skip_blanks();
  const char c = at(position_);
  const char after = at(position_ + 1);
  if (position_ >= text_.size()) return make(TokenKind::kEnd, position_);
  if (is_letter(c) || c == '_' || c == '$' || (c == '%' && follows(after))) return word();
  if (is_digit(c)) return number();
  if (c == '.' && follows(after)) return directive();
  if (c == '"') return string();
  const std::size_t begin = position_++;
  const bool known =
      std::string_view("{}()[],;:@!|+-*/%<>=&^~?.").find(c) != std::string_view::npos;
  return make(known ? TokenKind::kPunctuation : TokenKind::kBad, begin);
}

// Blanks, both kinds of comments, and lines of a preprocessor (# 1 "file").
void Lexer::skip_blanks() {
  for (;;) {
    const char c = at(position_);
    if (position_ >= text_.size()) return;
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v') {
      line_ += c == '\n' ? 1 : 0;
      ++position_;
    } else if ((c == '/' && at(position_ + 1) == '/') || c == '#') {
      position_ = std::min(text_.find('\n', position_), text_.size());
    } else if (c == '/' && at(position_ + 1) == '*') {
      const std::size_t end = text_.find("*/", position_ + 2);
      const std::size_t begin = position_;
      position_ = end == std::string_view::npos ? text_.size() : end + 2;
      const std::string_view comment = text_.substr(begin, position_ - begin);
      line_ += static_cast<std::uint32_t>(std::count(comment.begin(), comment.end(), '\n'));
    } else {
      return;
    }
  }
}

Token Lexer::word() {
  const std::size_t begin = position_++;
  while (follows(at(position_)))
    ++position_;
  return make(TokenKind::kIdentifier, begin);
}

Token Lexer::directive() {
  const std::size_t begin = ++position_;
  while (follows(at(position_)) ||
         (at(position_) == ':' && at(position_ + 1) == ':' && follows(at(position_ + 2)))) {
    position_ += at(position_) == ':' ? 2 : 1;
  }
  return make(TokenKind::kDirective, begin);
}

Token Lexer::string() {
  const std::size_t begin = ++position_;
  while (position_ < text_.size() && text_[position_] != '"') {
    position_ += text_[position_] == '\\' ? 2 : 1;
  }
  position_ = std::min(position_, text_.size());
  Token token = make(TokenKind::kString, begin);
  if (position_ == text_.size()) token.kind = TokenKind::kBad;
  position_ = std::min(position_ + 1, text_.size());
  return token;
}

Token Lexer::number() {
  const std::size_t begin = position_;
  const char second = at(begin + 1);
  unsigned base = 10;
  if (at(begin) == '0') {
    if (second == 'f' || second == 'F' || second == 'd' || second == 'D') return hex_float();
    if (second == 'x' || second == 'X') base = 16;
    if (second == 'b' || second == 'B') base = 2;
    if (is_digit(second)) base = 8;
  }
  position_ += base == 16 || base == 2 ? 2 : 0;
  const std::size_t first = position_;
  std::uint64_t value = 0;
  bool overflow = false;
  for (; digit_value(at(position_)) < base; ++position_) {
    overflow |= __builtin_mul_overflow(value, base, &value);
    overflow |= __builtin_add_overflow(value, digit_value(at(position_)), &value);
  }
  const char end = at(position_);
  if (base != 16 && ((end == '.' && is_digit(at(position_ + 1))) || end == 'e' || end == 'E')) {
    position_ = begin;
    return decimal_fraction();
  }
  if (base == 10 && end == '.' && !follows(at(position_ + 1))) {
    position_ = begin;
    return decimal_fraction();
  }
  if (end == 'U' || end == 'u') ++position_;
  const bool bad = overflow || position_ == first || follows(at(position_));
  while (follows(at(position_)))
    ++position_;
  return make(bad ? TokenKind::kBad : TokenKind::kInteger, begin, value);
}

Token Lexer::hex_float() {
  const std::size_t begin = position_;
  const bool single = digit_value(at(begin + 1)) == 15;
  position_ += 2;
  std::uint64_t bits = 0;
  for (; digit_value(at(position_)) < 16; ++position_) {
    bits = bits << 4 | digit_value(at(position_));
  }
  const std::size_t digits = position_ - begin - 2;
  const bool bad = digits != (single ? 8 : 16) || follows(at(position_));
  if (bad) return make(TokenKind::kBad, begin);
  return make(single ? TokenKind::kSingle : TokenKind::kDouble, begin, bits);
}

Token Lexer::decimal_fraction() {
  const std::size_t begin = position_;
  while (is_digit(at(position_)) || at(position_) == '.')
    ++position_;
  if (at(position_) == 'e' || at(position_) == 'E') {
    ++position_;
    if (at(position_) == '+' || at(position_) == '-') ++position_;
    while (is_digit(at(position_)))
      ++position_;
  }
  double value = 0;
  const char* end = text_.data() + position_;
  const bool read = std::from_chars(text_.data() + begin, end, value).ptr == end;
  const TokenKind kind = read && !follows(at(position_)) ? TokenKind::kDouble : TokenKind::kBad;
  return make(kind, begin, std::bit_cast<std::uint64_t>(value));
}

Token Lexer::make(TokenKind kind, std::size_t begin, std::uint64_t bits) const {
  return {kind, text_.substr(begin, position_ - begin), begin, bits, line_};
}

std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? offset : offset - newline - 1;
  return std::to_string(line) + ':' + std::to_string(column + 1);
}

}  // namespace drgpum::emulator::ptx

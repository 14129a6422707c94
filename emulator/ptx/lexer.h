// SPDX-License-Identifier: Apache-2.0
#pragma once
// Splits PTX text into tokens. Source: PTX ISA 9.0, chapter 4 (syntax).

#include <cstdint>
#include <string>
#include <string_view>

namespace drgpum::emulator::ptx {

enum class TokenKind : std::uint8_t {
  kEnd,
  kIdentifier,   // ld  %r1  $L__BB0_2  _
  kDirective,    // .global  .shared::cta  .b32; text is without the dot
  kInteger,      // bits
  kSingle,       // 0f3F800000; bits of a float
  kDouble,       // 0d... and decimal fractions; bits of a double
  kString,       // text is without the quotes
  kPunctuation,  // one character
  kBad,          // a character or number that PTX does not have
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string_view text;
  std::size_t offset = 0;  // bytes from the start of the text
  std::uint64_t bits = 0;
  std::uint32_t line = 0;  // from 1
};

class Lexer {
 public:
  // Reads up to the end or the first NUL; `text` must outlive the tokens.
  explicit Lexer(std::string_view text);

  Token next();

  [[nodiscard]] std::string_view text() const { return text_; }

 private:
  void skip_blanks();
  Token word();
  Token directive();
  Token string();
  Token number();
  Token hex_float();
  Token decimal_fraction();
  Token make(TokenKind kind, std::size_t begin, std::uint64_t bits = 0) const;
  [[nodiscard]] char at(std::size_t position) const {
    return position < text_.size() ? text_[position] : '\0';
  }

  std::string_view text_;
  std::size_t position_ = 0;
  std::uint32_t line_ = 1;
};

// "line:column" of a byte, both from 1.
std::string line_and_column(std::string_view text, std::size_t offset);

}  // namespace drgpum::emulator::ptx

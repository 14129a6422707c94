// SPDX-License-Identifier: Apache-2.0
#pragma once
// A place in PTX text, with one token of lookahead and the first error met.

#include <string>
#include <string_view>

#include "emulator/ptx/lexer.h"
#include "proto/base/result.h"

namespace drgpum::emulator::ptx {

// After fail() the cursor stands at the end of the text, so every loop of a parser ends by itself.
class Cursor {
 public:
  Cursor(std::string_view text, std::string_view name) : lexer_(text), name_(name) {
    current_ = lexer_.next();
  }

  [[nodiscard]] const Token& peek() const { return current_; }
  Token take();

  [[nodiscard]] bool at_end() const { return current_.kind == TokenKind::kEnd; }
  [[nodiscard]] bool at(char punctuation) const;
  [[nodiscard]] bool at_directive() const { return current_.kind == TokenKind::kDirective; }
  [[nodiscard]] bool at_directive(std::string_view word) const;

  bool accept(char punctuation);
  bool accept_directive(std::string_view word);

  // `where` completes "expected ';' ...": "after the instruction".
  void expect(char punctuation, std::string_view where);
  Token expect_identifier(std::string_view what);

  // Keeps the first error: "name:line:column: what, found 'token'".
  void fail(const Token& token, std::string_view what);
  void fail(std::string_view what) { fail(current_, what); }
  void unsupported(const Token& token, std::string_view what);
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] Error error() const { return {code_, message_}; }

 private:
  void stop(const Token& token, std::string_view what, ErrorCode code);

  Lexer lexer_;
  Token current_;
  std::string name_;
  bool failed_ = false;
  ErrorCode code_ = ErrorCode::kCorrupt;
  std::string message_;
};

}  // namespace drgpum::emulator::ptx

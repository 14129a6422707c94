// SPDX-License-Identifier: Apache-2.0
// A place in PTX text, with one token of lookahead and the first error met.

#include "emulator/ptx/cursor.h"

#include <algorithm>

namespace drgpum::emulator::ptx {
namespace {

constexpr std::size_t kLongestQuote = 40;  // bytes of a token shown in a message

// One line, whatever bytes the token has.
std::string quoted(const Token& token) {
  if (token.kind == TokenKind::kEnd) return "the end of the text";
  std::string text(token.kind == TokenKind::kDirective ? "." : "");
  text += token.text.substr(0, kLongestQuote);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return '\'' + text + '\'';
}

}  // namespace

Token Cursor::take() {
  const Token taken = current_;
  if (!failed_) current_ = lexer_.next();
  return taken;
}

bool Cursor::at(char punctuation) const {
  return current_.kind == TokenKind::kPunctuation && current_.text.front() == punctuation;
}

bool Cursor::at_directive(std::string_view word) const {
  return at_directive() && current_.text == word;
}

bool Cursor::accept(char punctuation) {
  if (!at(punctuation)) return false;
  take();
  return true;
}

bool Cursor::accept_directive(std::string_view word) {
  if (!at_directive(word)) return false;
  take();
  return true;
}

void Cursor::expect(char punctuation, std::string_view where) {
  if (accept(punctuation)) return;
  fail(std::string("expected '") + punctuation + "' " + std::string(where));
}

Token Cursor::expect_identifier(std::string_view what) {
  if (current_.kind != TokenKind::kIdentifier) fail("expected " + std::string(what));
  return take();
}

void Cursor::fail(const Token& token, std::string_view what) {
  stop(token, what, ErrorCode::kCorrupt);
}

void Cursor::unsupported(const Token& token, std::string_view what) {
  stop(token, what, ErrorCode::kUnsupported);
}

void Cursor::stop(const Token& token, std::string_view what, ErrorCode code) {
  if (failed_) return;
  failed_ = true;
  code_ = code;
  message_ = name_ + ':' + line_and_column(lexer_.text(), token.offset) + ": " + std::string(what) +
             ", found " + quoted(token);
  current_ = Token{};
  current_.offset = lexer_.text().size();
}

}  // namespace drgpum::emulator::ptx

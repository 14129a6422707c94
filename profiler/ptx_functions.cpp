// SPDX-License-Identifier: Apache-2.0
#include "profiler/ptx_functions.h"

#include <algorithm>
#include <cctype>
#include <unordered_set>

namespace drgpum::profiler {
namespace {

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

// A place in the text and its line.
class PtxText {
 public:
  explicit PtxText(std::string_view text) : text_(text) {}

  // To the next character that is neither blank nor in a comment; false at the end.
  bool settle() {
    while (at_ < text_.size()) {
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0) {
        step();
      } else if (text_.substr(at_).starts_with("//")) {
        while (at_ < text_.size() && text_[at_] != '\n')
          step();
      } else if (text_.substr(at_).starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        step_to(end == std::string_view::npos ? text_.size() : end + 2);
      } else {
        return true;
      }
    }
    return false;
  }
  // After settle().
  [[nodiscard]] char peek() const { return text_[at_]; }
  [[nodiscard]] std::uint32_t line() const { return line_; }
  void step() {
    if (text_[at_++] == '\n') ++line_;
  }
  std::string_view word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name(text_[at_]))
      ++at_;
    return text_.substr(begin, at_ - begin);
  }
  // Past the next of `ends` outside of comments and strings; gives it, or 0 at the end.
  char skip_past(std::string_view ends) {
    while (settle()) {
      const char c = peek();
      if (c == '"') {
        skip_string();
        continue;
      }
      step();
      if (ends.find(c) != std::string_view::npos) return c;
    }
    return 0;
  }
  void skip_string() {
    const std::size_t end = text_.find('"', at_ + 1);
    step_to(end == std::string_view::npos ? text_.size() : end + 1);
  }
  void skip_line() {
    while (at_ < text_.size() && text_[at_] != '\n')
      step();
  }

 private:
  void step_to(std::size_t end) {
    while (at_ < end)
      step();
  }
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t line_ = 1;
};

// A directive in a body, after its dot. Most end with a semicolon, .loc with its line, .section
// with its braces.
void skip_directive(PtxText& text) {
  const std::string_view word = text.word();
  if (word == "loc" || word == "file") return text.skip_line();
  if (word == "section") {
    text.skip_past("{");
    text.skip_past("}");
    return;
  }
  text.skip_past(";");
}

// After the body's opening brace.
std::vector<std::uint32_t> lines_of_body(PtxText& text) {
  std::vector<std::uint32_t> lines;
  for (int depth = 1; depth != 0 && text.settle();) {
    const char c = text.peek();
    if (c == '{' || c == '}' || c == ';') {
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      text.step();
      continue;
    }
    if (c == '.') {
      text.step();
      skip_directive(text);
      continue;
    }
    if (c == '@') {  // a guard and its predicate; the instruction's line is its own
      text.step();
      if (text.settle() && text.peek() == '!') text.step();
      if (text.settle()) text.word();
      if (!text.settle()) break;
    }
    const std::uint32_t line = text.line();
    if (text.word().empty()) {
      text.step();
      continue;
    }
    if (text.settle() && text.peek() == ':') {
      text.step();
      continue;  // a label
    }
    lines.push_back(line);
    text.skip_past(";");
  }
  return lines;
}

}  // namespace

std::vector<PtxFunction> functions_in_ptx(std::string_view image) {
  std::vector<PtxFunction> functions;
  std::unordered_set<std::string> known;
  PtxText text(image);
  while (text.settle()) {
    if (text.peek() == '"') {  // a file's name
      text.skip_string();
      continue;
    }
    if (text.peek() == '{') {  // an initial value, a section
      text.skip_past("}");
      continue;
    }
    if (text.peek() != '.') {
      if (text.word().empty()) text.step();
      continue;
    }
    text.step();
    const std::string_view directive = text.word();
    if (directive != "entry" && directive != "func") continue;
    if (text.settle() && text.peek() == '(') text.skip_past(")");  // what it returns
    PtxFunction function;
    if (text.settle()) function.name = text.word();
    if (text.skip_past("{;") != '{') continue;  // a declaration
    function.lines = lines_of_body(text);
    if (known.insert(function.name).second) functions.push_back(std::move(function));
  }
  return functions;
}

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
// A small reader of C++ expressions: enough to follow parentheses, casts and assignments.
#include "offline/source/variable_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace drgpum {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())))
    text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())))
    text.remove_suffix(1);
  return text;
}

// Where the bracket that opens at `open` closes; npos when it does not.
std::size_t closing(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at < text.size(); ++at) {
    if (text[at] == '(' || text[at] == '[' || text[at] == '{') ++depth;
    if (text[at] == ')' || text[at] == ']' || text[at] == '}')
      if (--depth == 0) return at;
  }
  return std::string_view::npos;
}

std::string_view first_argument(std::string_view arguments) {
  int depth = 0;
  for (std::size_t at = 0; at < arguments.size(); ++at) {
    const char c = arguments[at];
    if (c == '(' || c == '[' || c == '{' || c == '<') ++depth;
    if (c == ')' || c == ']' || c == '}' || (c == '>' && at > 0 && arguments[at - 1] != '-'))
      --depth;
    if (c == ',' && depth <= 0) return arguments.substr(0, at);
  }
  return arguments;
}

struct Call {
  std::string_view name;       // of the function, unqualified
  std::size_t begin = 0;       // where its whole name begins, qualifiers and object with it
  std::string_view arguments;  // between the parentheses
};

std::string_view last_word_before(std::string_view text, std::size_t end, std::size_t& begin) {
  while (end > 0 && std::isspace(static_cast<unsigned char>(text[end - 1])))
    --end;
  if (end > 0 && text[end - 1] == '>') {  // template arguments
    int depth = 0;
    while (end > 0) {
      --end;
      if (text[end] == '>') ++depth;
      if (text[end] == '<' && --depth == 0) break;
    }
  }
  begin = end;
  while (begin > 0 && is_word(text[begin - 1]))
    --begin;
  return text.substr(begin, end - begin);
}

// All calls in the text, outer ones first.
std::vector<Call> calls_in(std::string_view text) {
  std::vector<Call> calls;
  for (std::size_t open = text.find('('); open != std::string_view::npos;
       open = text.find('(', open + 1)) {
    Call call;
    call.name = last_word_before(text, open, call.begin);
    const std::size_t close = closing(text, open);
    if (call.name.empty() || close == std::string_view::npos) continue;
    call.arguments = text.substr(open + 1, close - open - 1);
    calls.push_back(call);
  }
  return calls;
}

// Functions of CUDA that store the address through their first argument.
bool stores_through_argument(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kStems{"cudamalloc",       "cumemalloc",
                                                          "cudahostalloc",    "cumemhostalloc",
                                                          "cudahostregister", "hipmalloc"};
  const std::string small = lower(name);
  return std::any_of(kStems.begin(), kStems.end(),
                     [&](std::string_view stem) { return small.starts_with(stem); });
}

bool is_allocation(std::string_view name) {
  const std::string small = lower(name);
  return small.find("alloc") != std::string::npos && small.find("dealloc") == std::string::npos;
}

// Takes casts, address-of and outer parentheses off: (void **)&ctx->buf[i] is ctx->buf[i].
std::string_view bare(std::string_view text) {
  for (bool again = true; again;) {
    text = trimmed(text);
    again = false;
    if (text.starts_with('&') || text.starts_with('*')) {
      text.remove_prefix(1);
      again = true;
    } else if (text.starts_with('(')) {
      const std::size_t close = closing(text, 0);
      if (close == std::string_view::npos) return "";
      const bool cast = close + 1 < text.size();
      text = cast ? text.substr(close + 1) : text.substr(1, text.size() - 2);
      again = true;
    } else if (text.find("_cast<") != std::string_view::npos) {
      const std::size_t open = text.find('(');
      const std::size_t close = open == std::string_view::npos ? open : closing(text, open);
      if (close == std::string_view::npos) return "";
      text = text.substr(open + 1, close - open - 1);
      again = true;
    } else if (text.starts_with("this->")) {
      text.remove_prefix(6);
      again = true;
    }
  }
  return text;
}

// A variable, a member or an element of one; else nothing.
std::string as_variable(std::string_view text) {
  text = bare(text);
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front()))) return "";
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[') {
      at = closing(text, at);
      if (at == std::string_view::npos) return "";
      continue;
    }
    const bool arrow = text[at] == '-' && at + 1 < text.size() && text[at + 1] == '>';
    if (arrow) ++at;
    if (!arrow && !is_word(text[at]) && text[at] != '.' && text[at] != ':') return "";
  }
  if (text == "nullptr" || text == "NULL" || text == "this") return "";
  return std::string(text);
}

// The '=' of an assignment outside of brackets, before `end`; npos: none.
std::size_t assignment_before(std::string_view text, std::size_t end) {
  int depth = 0;
  for (std::size_t at = 0; at < end; ++at) {
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != '=' || depth > 0) continue;
    const char before = at > 0 ? text[at - 1] : ' ';
    const char after = at + 1 < text.size() ? text[at + 1] : ' ';
    if (after != '=' && std::string_view("=!<>+-*/%&|^").find(before) == std::string_view::npos)
      return at;
  }
  return std::string_view::npos;
}

// What is assigned to: the last part of `const float * x` or `ctx->buf[i]`.
std::string assigned(std::string_view left) {
  left = trimmed(left);
  std::size_t begin = left.size();
  int depth = 0;
  while (begin > 0) {
    const char c = left[begin - 1];
    if (c == ']') ++depth;
    const bool arrow = c == '>' && begin > 1 && left[begin - 2] == '-';
    if (depth == 0 && !arrow && c != '[' && c != '.' && c != ':' && !is_word(c)) break;
    if (c == '[') --depth;
    begin -= arrow ? 2 : 1;
  }
  return as_variable(left.substr(begin));
}

// `Type name(...)` or `Type name{...}`: the name.
std::string declared(std::string_view statement) {
  const std::size_t open = statement.find_first_of("({");
  if (open == std::string_view::npos) return "";
  std::size_t begin = open;
  while (begin > 0 && std::isspace(static_cast<unsigned char>(statement[begin - 1])))
    --begin;
  const std::size_t end = begin;
  while (begin > 0 && is_word(statement[begin - 1]))
    --begin;
  const std::string_view name = statement.substr(begin, end - begin);
  const std::string_view type = trimmed(statement.substr(0, begin));
  if (name.empty() || type.empty()) return "";
  const char last = type.back();
  const bool is_type = is_word(last) || last == '>' || last == '*' || last == '&';
  if (!is_type || type.ends_with("->")) return "";
  for (const std::string_view word : {"return", "new", "else", "do", "throw", "co_return"})
    if (type == word || type.ends_with(" " + std::string(word))) return "";
  return std::string(name);
}

}  // namespace

std::string variable_of(std::string_view statement) {
  statement = trimmed(statement);
  const std::vector<Call> calls = calls_in(statement);
  for (const Call& call : calls)
    if (stores_through_argument(call.name)) return as_variable(first_argument(call.arguments));
  const std::size_t equals = assignment_before(statement, statement.size());
  if (equals != std::string_view::npos) return assigned(statement.substr(0, equals));
  for (const Call& call : calls) {
    if (!is_allocation(call.name)) continue;
    const std::string_view argument = trimmed(first_argument(call.arguments));
    const bool by_address =
        argument.starts_with('&') || argument.find("**)") != std::string_view::npos;
    return by_address ? as_variable(argument) : "";
  }
  return declared(statement);
}

}  // namespace drgpum

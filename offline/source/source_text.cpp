// SPDX-License-Identifier: Apache-2.0
// Finds a file under another root by the longest part of its path that is there.
#include "offline/source/source_text.h"

#include <algorithm>
#include <cctype>
#include <fstream>

#include <sys/stat.h>

namespace drgpum {
namespace {

constexpr off_t kLargestFile = 64 << 20;
constexpr std::uint32_t kMostLinesBack = 20;
constexpr std::uint32_t kMostLinesOn = 40;

bool read(const std::string& path, std::string& text) {
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0 || !S_ISREG(found.st_mode)) return false;
  if (found.st_size > kLargestFile) return false;
  std::ifstream file(path, std::ios::binary);
  text.assign(std::istreambuf_iterator<char>(file), {});
  return file.good() || file.eof();
}

// Without comments and with single blanks; strings keep their quotes only, so that what they hold
// does not count.
std::string code_of(std::string_view text) {
  std::string code;
  const auto append = [&](char c) {
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (!blank) code += c;
    if (blank && !code.empty() && code.back() != ' ') code += ' ';
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
      append(' ');
    } else if (text.substr(at, 2) == "/*") {
      at = std::min(text.find("*/", at + 2), text.size() - 2) + 1;
      append(' ');
    } else if (text[at] == '"' || text[at] == '\'') {
      const char quote = text[at];
      std::size_t end = at + 1;
      while (end < text.size() && text[end] != quote && text[end] != '\n')
        end += text[end] == '\\' ? 2 : 1;
      code += "\"\"";
      at = end;
    } else {
      append(text[at]);
    }
  }
  return code;
}

// Past the last statement that ends outside of parentheses in `before`.
std::size_t statement_begin(std::string_view before) {
  int depth = 0;
  for (std::size_t at = before.size(); at > 0; --at) {
    const char c = before[at - 1];
    if (c == ')') ++depth;
    if (c == '(') --depth;
    if ((c == ';' || c == '{' || c == '}') && depth <= 0) return at;
  }
  return 0;
}

std::size_t statement_end(std::string_view after) {
  int depth = 0;
  for (std::size_t at = 0; at < after.size(); ++at) {
    if (after[at] == '(' || after[at] == '{') ++depth;
    if (after[at] == ')' || after[at] == '}') --depth;
    if ((after[at] == ';' && depth <= 0) || depth < 0) return at;
  }
  return after.size();
}

bool is_blank_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; });
}

}  // namespace

std::vector<std::string> SourceText::candidates(const std::string& file) const {
  std::vector<std::string> paths;
  for (const auto& [from, to] : places_.path_map)
    if (file.starts_with(from)) paths.push_back(to + file.substr(from.size()));
  for (const std::string& root : places_.roots)
    for (std::size_t at = 0; at != std::string::npos && at < file.size();
         at = file.find('/', at + 1))
      paths.push_back(root + (file[at] == '/' ? "" : "/") + file.substr(at));
  if (const auto known = places_.files.find(file); known != places_.files.end())
    paths.push_back(known->second);
  paths.push_back(file);
  return paths;
}

SourceText::File& SourceText::open(const std::string& file) {
  const auto [found, added] = files_.try_emplace(file);
  File& opened = found->second;
  if (!added || file.empty()) return opened;
  for (const std::string& path : candidates(file))
    if (read(path, opened.text)) break;
  if (opened.text.empty()) return opened;
  opened.begins.push_back(0);
  for (std::size_t at = 0; (at = opened.text.find('\n', at)) != std::string::npos;)
    opened.begins.push_back(++at);
  if (opened.begins.back() != opened.text.size()) opened.begins.push_back(opened.text.size());
  return opened;
}

std::string_view SourceText::line(const std::string& file, std::uint32_t number) {
  const File& opened = open(file);
  if (number == 0 || number >= opened.begins.size()) return {};
  const std::size_t begin = opened.begins[number - 1];
  std::string_view text(opened.text);
  text = text.substr(begin, opened.begins[number] - begin);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::uint32_t SourceText::line_count(const std::string& file) {
  const File& opened = open(file);
  return opened.begins.empty() ? 0 : static_cast<std::uint32_t>(opened.begins.size() - 1);
}

std::string SourceText::statement(const std::string& file, std::uint32_t number) {
  if (line(file, number).empty()) return "";
  const File& opened = open(file);
  const auto lines = static_cast<std::uint32_t>(opened.begins.size() - 1);
  const std::uint32_t first = number > kMostLinesBack ? number - kMostLinesBack : 1;
  const std::uint32_t last = std::min(number + kMostLinesOn, lines);
  const std::string_view text(opened.text);
  const auto part = [&](std::uint32_t from, std::uint32_t to) {
    return code_of(text.substr(opened.begins[from], opened.begins[to] - opened.begins[from]));
  };
  const std::string before = part(first - 1, number - 1);
  std::string on = part(number - 1, last);
  std::size_t skip = 0;  // a statement of the line before may end on this one: `}` or `);`
  while (skip < on.size() &&
         (is_blank_text(on.substr(skip, 1)) || on[skip] == '}' || on[skip] == '{'))
    ++skip;
  std::string begin = before.substr(statement_begin(before));
  if (skip > 0 && on.substr(0, skip).find_first_of("{}") != std::string::npos) begin.clear();
  on.erase(0, skip);
  std::string statement = begin + on;
  statement.resize(statement_end(statement));
  return statement.substr(std::min(statement.find_first_not_of(' '), statement.size()));
}

int SourceText::allocations_on(const std::string& file, std::uint32_t number) {
  std::string code = code_of(line(file, number));
  for (char& c : code)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  int count = 0;
  for (std::size_t at = 0; (at = code.find("alloc", at)) != std::string::npos; at += 5) {
    std::size_t end = at;
    while (end < code.size() &&
           (std::isalnum(static_cast<unsigned char>(code[end])) || code[end] == '_'))
      ++end;
    if (end < code.size() && (code[end] == '(' || code[end] == '<')) ++count;
  }
  return count;
}

}  // namespace drgpum

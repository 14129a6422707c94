// SPDX-License-Identifier: Apache-2.0
// Reads just enough of PTX: functions, .loc, .file, .debug_str, and where each instruction ends.
#include "offline/source/ptx_lines.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <map>
#include <utility>

namespace drgpum {
namespace {

constexpr int kDeepestInlining = 64;

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}

// Words (with a leading '.'), numbers, strings (with their quote) and single characters.
class PtxTokens {
 public:
  explicit PtxTokens(std::string_view text) : text_(text) { advance(); }

  [[nodiscard]] std::string_view peek() const { return token_; }
  [[nodiscard]] bool done() const { return token_.empty(); }
  [[nodiscard]] std::uint64_t line() const { return line_; }  // of what peek() gives
  [[nodiscard]] bool at(char c) const { return token_.size() == 1 && token_[0] == c; }
  std::string_view take() {
    const std::string_view token = token_;
    advance();
    return token;
  }
  bool accept(std::string_view token) {
    if (token_ != token) return false;
    advance();
    return true;
  }
  std::uint32_t number() {
    const std::string_view word = take();
    std::uint32_t value = 0;
    std::from_chars(word.data(), word.data() + word.size(), value);
    return value;
  }
  // What lies up to `end`, and that.
  void skip_past(char end) {
    while (!done() && !at(end))
      advance();
    advance();
  }

 private:
  void advance() {
    skip_blanks();
    const std::size_t begin = at_;
    if (begin >= text_.size()) return void(token_ = {});
    const char c = text_[at_++];
    if (c == '"') {
      while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n')
        ++at_;
      at_ = std::min(at_ + 1, text_.size());
    } else if (c == '.' || is_word(c)) {
      while (at_ < text_.size() && is_word(text_[at_]))
        ++at_;
    }
    token_ = text_.substr(begin, at_ - begin);
  }
  void skip_blanks() {
    while (at_ < text_.size()) {
      const std::string_view two = text_.substr(at_, 2);
      if (std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
        line_ += text_[at_++] == '\n' ? 1 : 0;
      else if (two == "//" || two[0] == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (two == "/*")
        skip_comment();
      else
        return;
    }
  }

  void skip_comment() {
    const std::size_t end = std::min(text_.find("*/", at_ + 2), text_.size());
    line_ += static_cast<std::uint64_t>(
        std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                   text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = std::min(end + 2, text_.size());
  }

  std::string_view text_;
  std::string_view token_;
  std::size_t at_ = 0;
  std::uint64_t line_ = 1;
};

// "file.cu" in quotes, as PTX has it.
std::string_view unquoted(std::string_view token) {
  if (token.size() < 2 || token.front() != '"') return {};
  return token.substr(1, token.size() - (token.back() == '"' ? 2 : 1));
}

}  // namespace

class PtxLineParser {
 public:
  explicit PtxLineParser(std::string_view text) : tokens_(text.substr(0, text.find('\0'))) {}

  Result<PtxLines> run() {
    if (tokens_.peek() != ".version") return Error{ErrorCode::kCorrupt, "is no PTX"};
    while (!tokens_.done())
      read_top();
    finish_unit();
    if (lines_.places_.empty())
      return Error{ErrorCode::kNotFound, "was compiled without -lineinfo"};
    return std::move(lines_);
  }

 private:
  // Filled in once the whole unit is read: files and strings come last in the text.
  struct Unresolved {
    std::uint32_t place = 0;
    std::uint32_t file = 0;
    std::string_view label;  // of the inlined function's name; empty: none
    std::uint32_t addend = 0;
  };

  void read_top() {
    const std::string_view token = tokens_.take();
    if (token == ".version") finish_unit();
    if (token == ".file") read_file();
    if (token == ".section") read_section();
    if (token == ".entry" || token == ".func") read_function();
  }

  void read_file() {
    const std::uint32_t number = tokens_.number();
    const std::string_view name = unquoted(tokens_.take());
    const auto place = static_cast<std::uint32_t>(lines_.files_.size());
    const auto [known, added] = file_places_.try_emplace(std::string(name), place);
    if (added) lines_.files_.emplace_back(name);
    unit_files_[number] = known->second;
  }

  // .section .debug_str { label: .b8 95 .b8 90 ... } : bytes, one number each.
  void read_section() {
    const bool wanted = tokens_.take() == ".debug_str";
    if (!tokens_.accept("{")) return;
    std::string_view word;
    for (int depth = 1; depth > 0 && !tokens_.done();) {
      const std::string_view token = tokens_.take();
      if (token == "{") ++depth;
      if (token == "}") --depth;
      if (!wanted) continue;
      if (token == ":") labels_[word] = strings_.size();
      unsigned value = 0;
      const char* end = token.data() + token.size();
      if (std::from_chars(token.data(), end, value).ptr == end)
        strings_ += static_cast<char>(value);
      word = token;
    }
  }

  // After .entry or .func: (results) name (parameters) directives { body }, or ';' when declared.
  void read_function() {
    if (tokens_.at('(')) tokens_.skip_past(')');
    const std::string name(tokens_.take());
    while (!tokens_.done() && !tokens_.at('{') && !tokens_.at(';'))
      tokens_.take();
    if (!tokens_.accept("{")) return;
    function_ = name_place(name);
    place_ = PtxLines::kNoPlace;
    for (int depth = 1; depth > 0 && !tokens_.done();)
      read_statement(depth);
  }

  void read_statement(int& depth) {
    if (tokens_.accept(".loc")) return read_location();
    if (tokens_.accept(".section")) return read_section();
    const std::uint64_t line = tokens_.line();
    const std::string_view token = tokens_.take();
    if (token == "{") ++depth;
    if (token == "}") --depth;
    if (token == "{" || token == "}" || token == ";") return;
    if (token[0] == '.') return tokens_.skip_past(';');
    if (token != "@" && tokens_.accept(":")) return;  // a label; a table of some is a directive
    tokens_.skip_past(';');
    lines_.instructions_.push_back({line, place_, function_});
  }

  // .loc file line column [, function_name label[+n], inlined_at file line column]
  void read_location() {
    Unresolved more;
    PtxLines::Place place;
    const Spot spot = read_spot();
    more.file = spot[0];
    place.line = spot[1];
    if (tokens_.accept(",")) {
      tokens_.accept("function_name");
      more.label = tokens_.take();
      if (tokens_.accept("+")) more.addend = tokens_.number();
      tokens_.accept(",");
      tokens_.accept("inlined_at");
      place.caller = caller_at(read_spot());
    }
    place_ = add(place, more);
    latest_[spot] = place_;
  }

  using Spot = std::array<std::uint32_t, 3>;  // file, line, column
  Spot read_spot() {
    Spot spot{};
    for (std::uint32_t& number : spot)
      number = tokens_.number();
    return spot;
  }

  // The latest place at that spot; a new one when the text has not named it.
  std::uint32_t caller_at(const Spot& spot) {
    const auto known = latest_.find(spot);
    if (known != latest_.end()) return known->second;
    Unresolved more;
    more.file = spot[0];
    PtxLines::Place place;
    place.line = spot[1];
    return latest_[spot] = add(place, more);
  }

  std::uint32_t add(const PtxLines::Place& place, Unresolved more) {
    more.place = static_cast<std::uint32_t>(lines_.places_.size());
    lines_.places_.push_back(place);
    unresolved_.push_back(more);
    return more.place;
  }

  void finish_unit() {
    for (const Unresolved& one : unresolved_) {
      PtxLines::Place& place = lines_.places_[one.place];
      const auto file = unit_files_.find(one.file);
      if (file != unit_files_.end()) place.file = file->second;
      if (!one.label.empty()) place.name = name_at(one.label, one.addend);
    }
    unresolved_.clear();
    unit_files_.clear();
    labels_.clear();
    strings_.clear();
    latest_.clear();
  }

  std::uint32_t name_at(std::string_view label, std::size_t addend) {
    const auto found = labels_.find(label);
    if (found == labels_.end() || addend > strings_.size() - found->second) return 0;
    const std::size_t begin = found->second + addend;
    const std::size_t end = std::min(strings_.find('\0', begin), strings_.size());
    return name_place(strings_.substr(begin, end - begin));
  }

  std::uint32_t name_place(const std::string& name) {
    const auto place = static_cast<std::uint32_t>(lines_.names_.size());
    const auto [known, added] = name_places_.try_emplace(name, place);
    if (added) lines_.names_.push_back(name);
    return known->second;
  }

  PtxTokens tokens_;
  PtxLines lines_;
  std::uint32_t function_ = 0;  // in names_: that at hand
  std::uint32_t place_ = PtxLines::kNoPlace;
  std::map<Spot, std::uint32_t> latest_;
  std::vector<Unresolved> unresolved_;
  std::unordered_map<std::uint32_t, std::uint32_t> unit_files_;  // by the unit's number
  std::unordered_map<std::string_view, std::size_t> labels_;     // of the unit, into strings_
  std::string strings_;
  std::unordered_map<std::string, std::uint32_t> file_places_;
  std::unordered_map<std::string, std::uint32_t> name_places_;
};

Result<PtxLines> PtxLines::parse(std::string_view text) {
  return PtxLineParser(text).run();
}

std::vector<AddressFrame> PtxLines::at(std::uint64_t text_line) const {
  std::vector<AddressFrame> frames;
  const auto found = std::lower_bound(
      instructions_.begin(), instructions_.end(), text_line,
      [](const Instruction& one, std::uint64_t line) { return one.text_line < line; });
  if (found == instructions_.end() || found->text_line != text_line) return frames;
  std::uint32_t place = found->place;
  for (int depth = 0; place != kNoPlace && depth < kDeepestInlining; ++depth) {
    const Place& at = places_[place];
    const bool inlined = at.caller != kNoPlace;
    frames.push_back({names_[inlined ? at.name : found->function], files_[at.file], at.line, inlined});
    place = at.caller;
  }
  if (!frames.empty()) frames.back().inlined = false;
  return frames;
}

}  // namespace drgpum

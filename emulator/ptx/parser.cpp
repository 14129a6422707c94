// SPDX-License-Identifier: Apache-2.0
// The directives outside of bodies.

#include "emulator/ptx/parser.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "emulator/ptx/body_parser.h"
#include "emulator/ptx/constant.h"
#include "emulator/ptx/cursor.h"
#include "emulator/ptx/debug_strings.h"
#include "emulator/ptx/declarations.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::ptx {
namespace {

constexpr std::uint64_t kLargestThreads = 0xffffffffu;

std::optional<Linkage> linkage_of(std::string_view word) {
  if (word == "visible") return Linkage::kVisible;
  if (word == "extern") return Linkage::kExtern;
  if (word == "weak") return Linkage::kWeak;
  if (word == "common") return Linkage::kCommon;
  return std::nullopt;
}

class ModuleParser {
 public:
  ModuleParser(std::string_view text, std::string_view name) : cursor_(text, name) {
    program_.name = name;
  }

  Result<Program> parse() {
    parse_header();
    while (!cursor_.at_end())
      parse_directive();
    if (cursor_.failed()) return cursor_.error();
    name_inlined_functions();
    number_files();
    return std::move(program_);
  }

 private:
  void parse_header() {
    if (!cursor_.at_directive("version")) cursor_.fail("expected .version at the start");
    while (!cursor_.at_end() && parse_header_directive()) {
    }
  }

  bool parse_header_directive() {
    if (cursor_.accept_directive("version")) return parse_version();
    if (cursor_.accept_directive("target")) return parse_target();
    if (!cursor_.at_directive("address_size")) return false;
    cursor_.take();
    const Token token = cursor_.peek();
    if (parse_count(cursor_, 64, "an address size") != 64) {
      cursor_.unsupported(token, "only 64-bit addresses are supported");
    }
    return true;
  }

  // 9.0 reads as a decimal fraction; its text has the two numbers.
  bool parse_version() {
    const Token token = cursor_.take();
    const std::size_t dot = token.text.find('.');
    if (token.kind != TokenKind::kDouble || dot == std::string_view::npos || dot > 4) {
      cursor_.fail(token, "expected a version such as 9.0");
      return false;
    }
    for (const char c : token.text.substr(0, dot)) {
      program_.isa_major = program_.isa_major * 10 + static_cast<std::uint32_t>(c - '0');
    }
    for (const char c : token.text.substr(dot + 1, 4)) {
      if (c < '0' || c > '9') break;
      program_.isa_minor = program_.isa_minor * 10 + static_cast<std::uint32_t>(c - '0');
    }
    return true;
  }

  // sm_75, sm_90a, debug, texmode_independent
  bool parse_target() {
    do {
      const Token word = cursor_.expect_identifier("a target such as sm_75");
      if (!word.text.starts_with("sm_") && !word.text.starts_with("compute_")) continue;
      program_.target = 0;
      for (const char c : word.text.substr(word.text.find('_') + 1, 4)) {
        if (c < '0' || c > '9') break;
        program_.target = program_.target * 10 + static_cast<std::uint32_t>(c - '0');
      }
    } while (cursor_.accept(',') && !cursor_.failed());
    return true;
  }

  void parse_directive() {
    if (cursor_.accept(';')) return;
    if (!cursor_.at_directive()) return cursor_.fail("expected a directive");
    Linkage linkage = Linkage::kLocal;
    while (const auto word =
               cursor_.at_directive() ? linkage_of(cursor_.peek().text) : std::nullopt) {
      linkage = *word;
      cursor_.take();
    }
    if (cursor_.accept_directive("entry")) return parse_function(linkage, true);
    if (cursor_.accept_directive("func")) return parse_function(linkage, false);
    if (cursor_.accept_directive("file")) return parse_file();
    if (cursor_.accept_directive("alias")) return parse_alias();
    if (cursor_.accept_directive("section")) {
      return strings_.read_section(cursor_, cursor_.take().text);
    }
    if (cursor_.accept_directive("pragma")) return skip_statement();
    if (at_variable()) return parse_variables(cursor_, linkage, program_.variables);
    if (!parse_header_directive()) cursor_.fail("unknown directive");
  }

  [[nodiscard]] bool at_variable() const {
    const auto space = space_of_word(cursor_.peek().text);
    return space && (*space == Space::kGlobal || *space == Space::kConst ||
                     *space == Space::kShared || *space == Space::kLocal);
  }

  void skip_statement() {
    while (!cursor_.at(';') && !cursor_.at_end())
      cursor_.take();
    cursor_.expect(';', "after the directive");
  }

  // 1 "name", timestamp, size
  void parse_file() {
    const std::uint64_t number = parse_count(cursor_, 0xffffffffu, "a file's number");
    const Token name = cursor_.take();
    if (name.kind != TokenKind::kString) return cursor_.fail(name, "expected a file's name");
    while (cursor_.accept(','))
      parse_constant(cursor_);
    files_[static_cast<std::uint32_t>(number)] = name.text;
  }

  void parse_alias() {
    Alias alias;
    alias.name = cursor_.expect_identifier("the alias").text;
    cursor_.expect(',', "after the alias");
    alias.target = cursor_.expect_identifier("the aliased function").text;
    cursor_.expect(';', "after .alias");
    program_.aliases.push_back(std::move(alias));
  }

  void parse_function(Linkage linkage, bool is_entry) {
    Function function;
    function.linkage = linkage;
    function.is_entry = is_entry;
    if (cursor_.accept_directive("attribute")) skip_parentheses();
    if (!is_entry && cursor_.at('(')) parse_parameters(cursor_, function.returns);
    function.name = cursor_.expect_identifier("the function's name").text;
    if (cursor_.at('(')) function.parameter_bytes = parse_parameters(cursor_, function.parameters);
    parse_function_directives(function);
    if (!cursor_.accept(';')) parse_body(function);
    program_.functions.push_back(std::move(function));
  }

  void skip_parentheses() {
    cursor_.expect('(', "after .attribute");
    while (!cursor_.at(')') && !cursor_.at_end())
      cursor_.take();
    cursor_.expect(')', "after the attribute");
  }

  // .maxntid 128, 1, 1 and the like, up to the body.
  void parse_function_directives(Function& function) {
    while (cursor_.at_directive()) {
      const Token word = cursor_.take();
      std::uint32_t numbers[3] = {0, 1, 1};
      for (int i = 0; at_constant(cursor_); ++i) {
        numbers[i % 3] =
            static_cast<std::uint32_t>(parse_count(cursor_, kLargestThreads, word.text));
        if (!cursor_.accept(',')) break;
      }
      if (word.text == "noreturn") function.no_return = true;
      if (word.text == "maxntid") std::copy_n(numbers, 3, function.max_threads);
      if (word.text == "reqntid") std::copy_n(numbers, 3, function.required_threads);
      if (word.text == "reqnctapercluster") std::copy_n(numbers, 3, function.required_cluster);
      if (word.text == "pragma") skip_statement();
    }
  }

  void parse_body(Function& function) {
    function.has_body = true;
    BodyParser body(cursor_, function, strings_);
    body.parse();
    for (InlinedName name : body.inlined_names()) {
      name.function = static_cast<std::uint32_t>(program_.functions.size());
      inlined_names_.push_back(name);
    }
  }

  void name_inlined_functions() {
    for (const InlinedName& name : inlined_names_) {
      program_.functions[name.function].locations[name.location].inlined_function =
          strings_.at(name.label.text, name.addend);
    }
  }

  // Numbers of .file directives become indices of Program::files.
  void number_files() {
    std::map<std::uint32_t, std::uint32_t> indices;
    const auto index_of = [&](std::uint32_t number) {
      const auto [found, inserted] =
          indices.emplace(number, static_cast<std::uint32_t>(program_.files.size()));
      if (inserted) program_.files.push_back(files_[number]);
      return found->second;
    };
    for (const auto& [number, name] : files_)
      index_of(number);
    for (Function& function : program_.functions) {
      for (std::size_t i = 1; i < function.locations.size(); ++i) {
        function.locations[i].file = index_of(function.locations[i].file);
      }
    }
  }

  Cursor cursor_;
  Program program_;
  DebugStrings strings_;
  std::map<std::uint32_t, std::string> files_;
  std::vector<InlinedName> inlined_names_;
};

}  // namespace

Result<Program> parse(std::string_view text, std::string_view name) {
  return ModuleParser(text, name).parse();
}

}  // namespace drgpum::emulator::ptx

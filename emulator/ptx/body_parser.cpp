// SPDX-License-Identifier: Apache-2.0
// The body of a function: declarations and labels. instruction_parser.cpp has the instructions.

#include "emulator/ptx/body_parser.h"

#include <algorithm>

#include "emulator/ptx/declarations.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::ptx {
namespace {

constexpr std::uint64_t kLargestLine = 0xffffffffu;

bool is_variable_space(std::string_view word) {
  return word == "shared" || word == "local" || word == "param" || word == "const" ||
         word == "global";
}

Symbol symbol(SymbolKind kind, std::size_t index, const std::string& name) {
  return {kind, static_cast<std::uint32_t>(index), name};
}

}  // namespace

BodyParser::BodyParser(Cursor& cursor, Function& function, DebugStrings& strings)
    : cursor_(cursor),
      function_(function),
      strings_(strings),
      scopes_(cursor, function),
      operands_(cursor, scopes_, function) {
  function_.locations.emplace_back();
}

void BodyParser::parse() {
  declare_parameters();
  cursor_.expect('{', "before the body");
  open_blocks_ = 1;
  while (open_blocks_ > 0 && !cursor_.at_end())
    parse_statement();
  if (open_blocks_ > 0) return cursor_.fail("the body of " + function_.name + " has no end");
  scopes_.close();
}

void BodyParser::declare_parameters() {
  for (std::size_t i = 0; i < function_.parameters.size(); ++i) {
    const std::string& name = function_.parameters[i].name;
    scopes_.declare_symbol(name, symbol(SymbolKind::kParameter, i, name));
  }
  for (std::size_t i = 0; i < function_.returns.size(); ++i) {
    const std::string& name = function_.returns[i].name;
    scopes_.declare_symbol(name, symbol(SymbolKind::kReturn, i, name));
  }
}

void BodyParser::parse_statement() {
  if (cursor_.accept('{')) {
    ++open_blocks_;
    scopes_.open();
  } else if (cursor_.accept('}')) {
    if (--open_blocks_ > 0) scopes_.close();
  } else if (cursor_.accept(';')) {
    return;
  } else if (cursor_.at_directive()) {
    parse_directive();
  } else if (cursor_.accept('@')) {
    parse_guarded();
  } else {
    parse_label_or_instruction();
  }
}

void BodyParser::parse_directive() {
  if (cursor_.accept_directive("reg")) return parse_registers();
  if (cursor_.accept_directive("loc")) return parse_location();
  if (is_variable_space(cursor_.peek().text)) return parse_local_variables();
  if (cursor_.accept_directive("section")) {
    return strings_.read_section(cursor_, cursor_.take().text);
  }
  if (cursor_.accept_directive("pragma")) {  // "nounroll" and the like: hints for ptxas
    while (!cursor_.at(';') && !cursor_.at_end())
      cursor_.take();
    return cursor_.expect(';', "after .pragma");
  }
  cursor_.fail("unknown directive in a body");
}

// After .reg: .v2 .b32 %a, %r<10>;
void BodyParser::parse_registers() {
  std::uint8_t elements = 1;
  if (cursor_.at_directive("v2") || cursor_.at_directive("v4")) {
    elements = cursor_.take().text == "v2" ? 2 : 4;
  }
  const Token word = cursor_.take();
  const auto type = type_of_word(word.text);
  if (word.kind != TokenKind::kDirective || !type || *type == Type::kOther) {
    return cursor_.fail(word, "expected the type of a register");
  }
  do {
    const Token name = cursor_.expect_identifier("the register's name");
    if (cursor_.accept('<')) {
      const Token count = cursor_.take();
      if (count.kind != TokenKind::kInteger) cursor_.fail(count, "expected a number of registers");
      cursor_.expect('>', "after the number of registers");
      scopes_.declare_range(name, *type, count.bits);
    } else {
      scopes_.declare_register(name, *type, elements);
    }
  } while (cursor_.accept(',') && !cursor_.failed());
  cursor_.expect(';', "after the registers");
}

void BodyParser::parse_local_variables() {
  const std::size_t first = function_.variables.size();
  const Token start = cursor_.peek();
  parse_variables(cursor_, Linkage::kLocal, function_.variables);
  for (std::size_t i = first; i < function_.variables.size(); ++i) {
    Variable& variable = function_.variables[i];
    if (variable.space == Space::kGlobal || variable.space == Space::kConst) {
      return cursor_.unsupported(start,
                                 "global and const variables inside a body are not supported");
    }
    const std::string name = variable.name;
    variable.name = scopes_.unique_name(name);
    scopes_.declare_symbol(name, symbol(SymbolKind::kLocalVariable, i, variable.name));
  }
}

// After .loc: file line column [, function_name label+4, inlined_at file line column].
void BodyParser::parse_location() {
  const auto place = [this] {
    SourceLocation location;
    location.file = static_cast<std::uint32_t>(parse_count(cursor_, kLargestLine, "a file"));
    location.line = static_cast<std::uint32_t>(parse_count(cursor_, kLargestLine, "a line"));
    location.column = static_cast<std::uint32_t>(parse_count(cursor_, kLargestLine, "a column"));
    return location;
  };
  SourceLocation location = place();
  InlinedName inlined;
  if (cursor_.accept(',')) {
    cursor_.expect_identifier("function_name");
    inlined.label = cursor_.expect_identifier("a label of .debug_str");
    if (cursor_.at('+')) inlined.addend = parse_constant(cursor_).bits;
    cursor_.expect(',', "before inlined_at");
    cursor_.expect_identifier("inlined_at");
    location.inlined_at = find_location(place());
  }
  location_ = static_cast<std::uint32_t>(function_.locations.size());
  function_.locations.push_back(location);
  if (inlined.label.text.empty()) return;
  inlined.location = location_;
  inlined_names_.push_back(inlined);
}

// The latest location at that place; a new one if the text has not named it yet.
std::uint32_t BodyParser::find_location(const SourceLocation& place) {
  auto& all = function_.locations;
  const auto same = [&](const SourceLocation& other) {
    return other.file == place.file && other.line == place.line && other.column == place.column;
  };
  const auto found = std::find_if(all.rbegin(), all.rend() - 1, same);
  if (found != all.rend() - 1) return static_cast<std::uint32_t>(all.rend() - found - 1);
  all.push_back(place);
  return static_cast<std::uint32_t>(all.size() - 1);
}

void BodyParser::parse_after_label(const Token& name) {
  if (cursor_.accept_directive("branchtargets")) return parse_targets(name);
  if (cursor_.accept_directive("calltargets")) return parse_call_targets(name);
  if (cursor_.accept_directive("callprototype")) return parse_prototype(name);
  scopes_.define_label(name, {LabelKind::kInstruction, next_instruction()});
}

void BodyParser::parse_targets(const Token& name) {
  const auto table = static_cast<std::uint32_t>(function_.label_tables.size());
  auto& items = function_.label_tables.emplace_back();
  do {
    LabelReference reference{cursor_.expect_identifier("a label"), LabelUse::kTableItem, table, 0};
    reference.item = static_cast<std::uint32_t>(items.size());
    items.push_back(0);
    scopes_.refer(reference);
  } while (cursor_.accept(',') && !cursor_.failed());
  cursor_.expect(';', "after the labels");
  scopes_.define_label(name, {LabelKind::kTable, table});
}

void BodyParser::parse_call_targets(const Token& name) {
  Prototype prototype;
  prototype.name = scopes_.unique_name(name.text);
  do {
    const Token target = cursor_.expect_identifier("a function");
    const Name found = scopes_.find(target.text);
    if (found.kind != NameKind::kSymbol) cursor_.fail(target, "expected a function");
    prototype.targets.push_back(found.index);
  } while (cursor_.accept(',') && !cursor_.failed());
  cursor_.expect(';', "after the functions");
  const auto index = static_cast<std::uint32_t>(function_.prototypes.size());
  function_.prototypes.push_back(std::move(prototype));
  scopes_.define_label(name, {LabelKind::kPrototype, index});
}

// After .callprototype: (.param .b32 _) _ (.param .b64 _) .noreturn;
void BodyParser::parse_prototype(const Token& name) {
  Prototype prototype;
  prototype.name = scopes_.unique_name(name.text);
  if (cursor_.at('(')) parse_parameters(cursor_, prototype.returns);
  cursor_.expect_identifier("_");
  if (cursor_.at('(')) parse_parameters(cursor_, prototype.parameters);
  while (cursor_.at_directive()) {  // .noreturn, .abi_preserve 8
    cursor_.take();
    if (cursor_.peek().kind == TokenKind::kInteger) cursor_.take();
  }
  cursor_.expect(';', "after the prototype");
  const auto index = static_cast<std::uint32_t>(function_.prototypes.size());
  function_.prototypes.push_back(std::move(prototype));
  scopes_.define_label(name, {LabelKind::kPrototype, index});
}

std::uint32_t BodyParser::next_instruction() const {
  return static_cast<std::uint32_t>(function_.instructions.size());
}

}  // namespace drgpum::emulator::ptx

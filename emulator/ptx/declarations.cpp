// SPDX-License-Identifier: Apache-2.0
// Declarations of variables and parameters.

#include "emulator/ptx/declarations.h"

#include <algorithm>
#include <bit>

#include "emulator/ptx/constant.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::ptx {
namespace {

constexpr std::uint64_t kLargestVariable = std::uint64_t{1} << 40;   // bytes; 1 TiB
constexpr std::uint64_t kLargestParameter = std::uint64_t{1} << 20;  // bytes; the ISA has 32,764
constexpr std::uint64_t kLargestAlignment = std::uint64_t{1} << 20;
constexpr std::uint64_t kLargestInitial = std::uint64_t{1} << 28;  // bytes written out
constexpr std::uint32_t kHandleBytes = 8;  // a texture, sampler or surface reference
constexpr int kDeepestBraces = 16;

// What stands between the state space and the name.
struct Prefix {
  Type type = Type::kNone;
  std::uint32_t alignment = 0;  // 0: the type's own
  std::uint32_t elements = 1;   // .v2, .v4
  bool managed = false;
  bool handle = false;  // .texref, .samplerref, .surfref

  [[nodiscard]] std::uint32_t bytes() const {
    return handle ? kHandleBytes : bytes_of(type) * elements;
  }
};

std::uint32_t parse_alignment(Cursor& cursor) {
  const Token token = cursor.peek();
  const std::uint64_t alignment = parse_count(cursor, kLargestAlignment, "an alignment");
  if (!std::has_single_bit(alignment)) cursor.fail(token, "an alignment must be a power of two");
  return static_cast<std::uint32_t>(alignment);
}

// After .attribute: (.managed, .unified(1, 2)).
void parse_attributes(Cursor& cursor, Prefix& prefix) {
  cursor.expect('(', "after .attribute");
  int depth = 1;
  while (depth > 0 && !cursor.at_end()) {
    if (cursor.at_directive("managed")) prefix.managed = true;
    const Token token = cursor.take();
    if (token.kind != TokenKind::kPunctuation) continue;
    if (token.text == "(") ++depth;
    if (token.text == ")") --depth;
  }
}

void parse_type(Cursor& cursor, Prefix& prefix) {
  const Token token = cursor.take();
  const auto type = type_of_word(token.text);
  if (!type) return cursor.fail(token, "expected a type");
  prefix.handle = token.text.ends_with("ref");
  prefix.type = prefix.handle ? Type::kB64 : *type;
  if (prefix.bytes() == 0) cursor.fail(token, "variables cannot have this type");
}

Prefix parse_prefix(Cursor& cursor) {
  Prefix prefix;
  while (cursor.at_directive()) {
    if (cursor.accept_directive("align")) {
      prefix.alignment = parse_alignment(cursor);
    } else if (cursor.accept_directive("attribute")) {
      parse_attributes(cursor, prefix);
    } else if (cursor.accept_directive("ptr")) {  // .ptr .global .align 8: hints on a parameter
      if (space_of_word(cursor.peek().text)) cursor.take();
      if (cursor.accept_directive("align")) parse_alignment(cursor);
    } else if (cursor.accept_directive("v2")) {
      prefix.elements = 2;
    } else if (cursor.accept_directive("v4")) {
      prefix.elements = 4;
    } else {
      parse_type(cursor, prefix);
    }
  }
  if (prefix.type == Type::kNone) cursor.fail("expected a type");
  if (prefix.alignment == 0) prefix.alignment = std::max(prefix.bytes(), 1u);
  return prefix;
}

// [2][3]; an empty [] counts as open and is filled by the initialiser.
struct Shape {
  std::vector<std::uint64_t> lengths;
  bool open = false;
};

Shape parse_shape(Cursor& cursor) {
  Shape shape;
  while (cursor.accept('[')) {
    if (cursor.accept(']')) {
      shape.open = true;
      shape.lengths.push_back(0);
    } else {
      shape.lengths.push_back(parse_count(cursor, kLargestVariable, "a length"));
      cursor.expect(']', "after the length");
    }
  }
  return shape;
}

std::uint64_t total_bytes(Cursor& cursor, const Token& name, const Shape& shape,
                          std::uint64_t element, std::uint64_t limit) {
  std::uint64_t bytes = element;
  for (const std::uint64_t length : shape.lengths) {
    if (__builtin_mul_overflow(bytes, length, &bytes)) bytes = limit + 1;
  }
  if (bytes > limit) cursor.fail(name, "larger than " + std::to_string(limit) + " bytes");
  return bytes;
}

// Reads `= {...}` into Variable::initial and Variable::relocations.
class InitialiserParser {
 public:
  InitialiserParser(Cursor& cursor, const Prefix& prefix, const Shape& shape, Variable& variable)
      : cursor_(cursor), prefix_(prefix), shape_(shape), variable_(variable) {}

  void parse() {
    const std::uint64_t end = list(0, 0);
    if (!shape_.open) {
      if (end > variable_.size) cursor_.fail("the initialiser is longer than the variable");
      return;
    }
    variable_.size = std::max(variable_.size, end);
  }

 private:
  // Bytes of one element of a list at brace depth `depth`.
  [[nodiscard]] std::uint64_t stride(std::size_t depth) const {
    std::uint64_t bytes = prefix_.bytes();
    for (std::size_t i = depth + 1; i < shape_.lengths.size(); ++i)
      bytes *= shape_.lengths[i];
    if (depth >= shape_.lengths.size()) bytes = bytes_of(prefix_.type);
    return bytes;
  }

  // A value, or {list}, at byte `offset`; returns where the next element would start.
  std::uint64_t list(std::uint64_t offset, std::size_t depth) {
    if (!cursor_.accept('{')) return scalar(offset);
    if (depth > kDeepestBraces) cursor_.fail("braces nested too deep");
    const std::uint64_t step = stride(depth);
    while (!cursor_.at('}') && !cursor_.at_end()) {
      const bool nested = cursor_.at('{');
      const std::uint64_t next = list(offset, depth + 1);
      offset = nested ? std::max(next, offset + step) : next;
      if (!cursor_.accept(',')) break;
    }
    cursor_.expect('}', "after the initialiser");
    return offset;
  }

  std::uint64_t scalar(std::uint64_t offset) {
    if (at_constant(cursor_)) return number_or_mask(offset);
    Relocation relocation;
    symbol(relocation);
    return relocate(offset, std::move(relocation));
  }

  // 5, or 0xFF00(symbol): one byte of an address.
  std::uint64_t number_or_mask(std::uint64_t offset) {
    const Token token = cursor_.peek();
    const Constant constant = parse_constant(cursor_);
    if (cursor_.accept('(')) {
      Relocation relocation;
      relocation.mask = constant.bits;
      symbol(relocation);
      cursor_.expect(')', "after the masked symbol");
      return relocate(offset, std::move(relocation));
    }
    const auto bits = converted(constant, prefix_.type);
    if (!bits) cursor_.fail(token, "a constant that the variable's type cannot hold");
    return store(offset, bits.value_or(0));
  }

  // generic(name), name, name+8; texture references take field lists, which nothing here reads.
  void symbol(Relocation& relocation) {
    Token name = cursor_.expect_identifier("a constant or a symbol");
    if (name.text == "generic" && cursor_.accept('(')) {
      relocation.generic = true;
      name = cursor_.expect_identifier("a symbol");
      cursor_.expect(')', "after generic(symbol");
    }
    relocation.symbol = name.text;
    if (cursor_.at('+') || cursor_.at('-')) {
      relocation.addend += static_cast<std::int64_t>(parse_constant(cursor_).bits);
    }
  }

  std::uint64_t relocate(std::uint64_t offset, Relocation relocation) {
    relocation.offset = offset;
    relocation.size = static_cast<std::uint8_t>(bytes_of(prefix_.type));
    variable_.relocations.push_back(std::move(relocation));
    return store(offset, 0);
  }

  std::uint64_t store(std::uint64_t offset, std::uint64_t bits) {
    const std::uint64_t size = bytes_of(prefix_.type);
    if (offset > kLargestInitial) {
      cursor_.fail("initialiser too long");
      return offset;
    }
    auto& bytes = variable_.initial;
    if (bytes.size() < offset + size) bytes.resize(offset + size);
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(size, 8); ++i) {
      bytes[offset + i] = static_cast<std::byte>(bits >> (8 * i));
    }
    return offset + size;
  }

  Cursor& cursor_;
  const Prefix& prefix_;
  const Shape& shape_;
  Variable& variable_;
};

// Skips `{ field = value, ... }` of a texture or sampler reference.
void skip_braces(Cursor& cursor) {
  cursor.expect('{', "after '='");
  while (!cursor.at('}') && !cursor.at_end())
    cursor.take();
  cursor.expect('}', "after the fields");
}

Variable parse_declarator(Cursor& cursor, const Prefix& prefix, Space space, Linkage linkage) {
  const Token name = cursor.expect_identifier("the variable's name");
  Variable variable;
  variable.name = name.text;
  variable.space = space;
  variable.linkage = linkage;
  variable.type = prefix.type;
  variable.alignment = prefix.alignment;
  variable.managed = prefix.managed;
  variable.is_texture_or_surface = prefix.handle;
  const Shape shape = parse_shape(cursor);
  variable.size = total_bytes(cursor, name, shape, prefix.bytes(), kLargestVariable);
  if (cursor.accept('=')) {
    if (prefix.handle) {
      skip_braces(cursor);
    } else {
      InitialiserParser(cursor, prefix, shape, variable).parse();
    }
  }
  return variable;
}

Parameter parse_parameter(Cursor& cursor) {
  if (!cursor.accept_directive("param")) {
    if (cursor.at_directive("reg")) {
      cursor.unsupported(cursor.peek(), "parameters in registers are not supported; use .param");
    }
    cursor.fail("expected .param");
  }
  const Prefix prefix = parse_prefix(cursor);
  Parameter parameter;
  const Token name = cursor.expect_identifier("the parameter's name");
  parameter.name = name.text;
  parameter.type = prefix.type;
  parameter.alignment = prefix.alignment;
  const Shape shape = parse_shape(cursor);
  parameter.size = static_cast<std::uint32_t>(
      total_bytes(cursor, name, shape, prefix.bytes(), kLargestParameter));
  return parameter;
}

}  // namespace

void parse_variables(Cursor& cursor, Linkage linkage, std::vector<Variable>& variables) {
  const Token word = cursor.take();
  const auto space = space_of_word(word.text);
  if (!space) return cursor.fail(word, "expected a state space");
  const Prefix prefix = parse_prefix(cursor);
  do {
    variables.push_back(parse_declarator(cursor, prefix, *space, linkage));
  } while (cursor.accept(',') && !cursor.failed());
  cursor.expect(';', "after the declaration");
}

std::uint32_t parse_parameters(Cursor& cursor, std::vector<Parameter>& parameters) {
  cursor.expect('(', "before the parameters");
  std::uint64_t end = 0;
  while (!cursor.at(')') && !cursor.at_end()) {
    const Token token = cursor.peek();
    Parameter parameter = parse_parameter(cursor);
    const std::uint64_t mask = parameter.alignment - 1;
    const std::uint64_t offset = (end + mask) & ~mask;
    end = offset + parameter.size;
    if (end > kLargestParameter) cursor.fail(token, "too many bytes of parameters");
    parameter.offset = static_cast<std::uint32_t>(offset);
    parameters.push_back(std::move(parameter));
    if (!cursor.accept(',')) break;
  }
  cursor.expect(')', "after the parameters");
  return static_cast<std::uint32_t>(end);
}

}  // namespace drgpum::emulator::ptx

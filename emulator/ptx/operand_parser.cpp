// SPDX-License-Identifier: Apache-2.0
// Operands of instructions.

#include "emulator/ptx/operand_parser.h"

#include <string>

#include "emulator/ptx/signature.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::ptx {
namespace {

constexpr std::size_t kLongestVector = 255;

Operand immediate(const Constant& constant) {
  Operand operand;
  operand.kind = OperandKind::kImmediate;
  operand.bits = constant.bits;
  operand.count = static_cast<std::uint8_t>(constant.kind);
  return operand;
}

Operand with_index(OperandKind kind, std::uint32_t index) {
  Operand operand;
  operand.kind = kind;
  operand.index = index;
  return operand;
}

// .x .y .z .w and .r .g .b .a of a vector register; 4 for any other word.
std::uint32_t component(std::string_view word) {
  if (word.size() != 1) return 4;
  const std::size_t place = std::string_view("xyzwrgba").find(word[0]);
  return place == std::string_view::npos ? 4 : static_cast<std::uint32_t>(place % 4);
}

// .b0 ... .b3, .h0, .h1 of a video instruction's operand, as Operand::bits has them; 0 for others.
std::uint64_t video_part(std::string_view word) {
  if (word.size() != 2 || word[1] < '0' || word[1] > '3') return 0;
  const auto number = static_cast<std::uint64_t>(word[1] - '0');
  if (word[0] == 'b') return 0x10 + number;
  return word[0] == 'h' && number < 2 ? 0x20 + number : 0;
}

void settle(Cursor& cursor, const Token& where, Operand& operand, Type type) {
  if (operand.kind != OperandKind::kImmediate) return;
  const auto kind = static_cast<ConstantKind>(operand.count);
  operand.count = 0;
  const auto bits = converted({kind, operand.bits}, type);
  if (!bits) cursor.unsupported(where, "a floating-point constant of a 16-bit type");
  operand.bits = bits.value_or(0);
}

}  // namespace

void OperandParser::parse(std::vector<Operand>& operands) {
  if (cursor_.accept('[')) return parse_address(operands);
  if (cursor_.accept('{')) return parse_vector(operands);
  const bool negated = cursor_.accept('!');
  Operand operand = parse_scalar();
  operand.negated = negated;
  operands.push_back(operand);
}

// After '[': base + offset, then what else the brackets hold.
void OperandParser::parse_address(std::vector<Operand>& operands) {
  const std::size_t place = operands.size();
  operands.push_back(parse_address_base());
  while (cursor_.accept(',')) {
    if (cursor_.at('[') || operands.size() - place > kLongestVector) {
      return cursor_.fail("expected an operand inside the brackets");
    }
    parse(operands);
  }
  operands[place].count = static_cast<std::uint8_t>(operands.size() - place - 1);
  cursor_.expect(']', "after the address");
  cursor_.accept_directive("unified");
}

Operand OperandParser::parse_address_base() {
  Operand address;
  if (at_constant(cursor_)) {
    address.offset = static_cast<std::int64_t>(parse_constant(cursor_).bits);
  } else {
    const Token token = cursor_.peek();
    const Operand base = parse_name();
    const bool is_register = base.kind == OperandKind::kRegister;
    if (!is_register && base.kind != OperandKind::kSymbol) {
      cursor_.fail(token, "expected a register or a symbol as an address");
    }
    address = base;
    address.address_base = is_register ? AddressBase::kRegister : AddressBase::kSymbol;
  }
  address.kind = OperandKind::kAddress;
  return address;
}

// After '{'. The elements of one vector stand together in Function::vector_elements.
void OperandParser::parse_vector(std::vector<Operand>& operands) {
  std::vector<Operand> elements;
  while (!cursor_.at('}') && !cursor_.at_end()) {
    if (elements.size() >= kLongestVector) cursor_.fail("vector too long");
    const bool negated = cursor_.accept('!');
    elements.push_back(parse_scalar());
    elements.back().negated = negated;
    if (elements.back().kind == OperandKind::kVector) {
      cursor_.fail("vectors cannot hold vectors");
    }
    if (!cursor_.accept(',')) break;
  }
  cursor_.expect('}', "after the vector");
  auto& all = function_.vector_elements;
  Operand operand = with_index(OperandKind::kVector, static_cast<std::uint32_t>(all.size()));
  operand.count = static_cast<std::uint8_t>(elements.size());
  all.insert(all.end(), elements.begin(), elements.end());
  operands.push_back(operand);
}

Operand OperandParser::parse_scalar() {
  if (at_constant(cursor_)) return immediate(parse_constant(cursor_));
  return parse_name();
}

Operand OperandParser::parse_name() {
  const Token token = cursor_.expect_identifier("an operand");
  if (token.text == "_") return with_index(OperandKind::kSink, 0);
  const auto found = scopes_.find_register(token.text);
  if (!found && token.text.starts_with('%')) return special(token);
  const Name name = found ? *found : scopes_.find(token.text);
  Operand operand = parse_part(token, name);
  if (cursor_.at('+') || cursor_.at('-')) {
    operand.offset = static_cast<std::int64_t>(parse_constant(cursor_).bits);
  }
  return operand;
}

// A register or symbol, and the component or part of it that a dotted word selects.
Operand OperandParser::parse_part(const Token& token, const Name& name) {
  if (name.kind == NameKind::kSymbol) return with_index(OperandKind::kSymbol, name.index);
  Operand operand = with_index(OperandKind::kRegister, name.index);
  if (name.kind == NameKind::kVectorRegister && !cursor_.at_directive()) {
    auto& all = function_.vector_elements;
    const auto begin = static_cast<std::uint32_t>(all.size());
    for (std::uint32_t i = 0; i < name.elements; ++i) {
      all.push_back(with_index(OperandKind::kRegister, name.index + i));
    }
    operand = with_index(OperandKind::kVector, begin);
    operand.count = name.elements;
    return operand;
  }
  if (!cursor_.at_directive()) return operand;
  const Token word = cursor_.take();
  if (name.kind == NameKind::kVectorRegister && component(word.text) < name.elements) {
    operand.index += component(word.text);
  } else if (name.kind == NameKind::kRegister && video_part(word.text) != 0) {
    operand.bits = video_part(word.text);
  } else {
    cursor_.fail(word, "no such part of " + std::string(token.text));
  }
  return operand;
}

Operand OperandParser::special(const Token& token) {
  std::string name(token.text);
  if (cursor_.at_directive()) name += '.' + std::string(cursor_.take().text);
  Operand operand;
  if (name == "%tid.w" || name == "%ntid.w" || name == "%ctaid.w" || name == "%nctaid.w") {
    operand.kind = OperandKind::kImmediate;  // the ISA fixes the fourth components
    operand.bits = name.starts_with("%n") ? 1 : 0;
    return operand;
  }
  const auto found = special_of_word(name);
  if (!found) cursor_.fail(token, "undeclared register");
  operand.kind = OperandKind::kSpecial;
  operand.special = found.value_or(SpecialRegister{}).special;
  operand.bits = found.value_or(SpecialRegister{}).number;
  return operand;
}

std::uint32_t OperandParser::parse_guard() {
  const Token token = cursor_.expect_identifier("a predicate after @");
  const auto name = scopes_.find_register(token.text);
  if (!name || name->kind != NameKind::kRegister) {
    cursor_.fail(token, "expected a predicate register");
    return 0;
  }
  return name->index;
}

void settle_constants(Cursor& cursor, const Token& where, Instruction& instruction,
                      Function& function) {
  const Signature signature = signature_of(instruction);
  for (std::size_t i = 0; i < instruction.sources.size(); ++i) {
    Operand& operand = instruction.sources[i];
    const bool known = !signature.open && i < signature.count;
    const Type type = known ? signature.sources[i].type : Type::kNone;
    if (operand.kind == OperandKind::kVector) {
      const bool packs = instruction.opcode == Opcode::kMov;
      for (std::uint32_t e = 0; e < operand.count; ++e) {
        settle(cursor, where, function.vector_elements[operand.index + e],
               packs ? Type::kNone : type);
      }
    } else {
      settle(cursor, where, operand, type);
    }
  }
}

}  // namespace drgpum::emulator::ptx

// SPDX-License-Identifier: Apache-2.0
// One instruction as PTX text.

#include "emulator/ptx/instruction_printer.h"

#include <cinttypes>
#include <cstdio>

#include "emulator/ptx/printer.h"
#include "emulator/ptx/signature.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::ptx {
namespace {

std::string offset_text(std::int64_t offset) {
  return offset == 0 ? "" : '+' + std::to_string(offset);  // +-4 is how PTX wants it
}

class InstructionPrinter {
 public:
  InstructionPrinter(const Function& function, const Instruction& instruction)
      : function_(function), instruction_(instruction), signature_(signature_of(instruction)) {}

  std::string text() {
    guard();
    opcode();
    if (instruction_.opcode == Opcode::kCall) {
      call();
    } else {
      operands();
    }
    return text_ + ';';
  }

 private:
  void guard() {
    if (instruction_.guard == kNoRegister) return;
    text_ += instruction_.guard_negated ? "@!" : "@";
    text_ += function_.registers[instruction_.guard].name + ' ';
  }

  void opcode() {
    if (!instruction_.spelling.empty()) {
      text_ += instruction_.spelling;
      return;
    }
    text_ += word_of(instruction_.opcode);
    for (const std::string& word : instruction_.modifiers)
      text_ += '.' + word;
  }

  void operands() {
    const auto& results = instruction_.destinations;
    for (std::size_t i = 0; i < results.size(); ++i) {
      text_ += i == 0 ? " " : "|";
      operand(results[i], signature_.destination_slot.type);
    }
    const auto& sources = instruction_.sources;
    for (std::size_t i = 0; i < sources.size(); i += 1 + address_tail(sources[i])) {
      text_ += i == 0 && results.empty() ? " " : ", ";
      if (sources[i].kind == OperandKind::kAddress) {
        address(i);
      } else {
        operand(sources[i], type_of_source(i));
      }
    }
  }

  static std::size_t address_tail(const Operand& operand) {
    return operand.kind == OperandKind::kAddress ? operand.count : 0;
  }

  [[nodiscard]] Type type_of_source(std::size_t place) const {
    if (signature_.open || place >= signature_.count) return Type::kNone;
    return signature_.sources[place].type;
  }

  // The address at `place` of the sources with all that shares its brackets.
  void address(std::size_t place) {
    const Operand& base = instruction_.sources[place];
    text_ += '[';
    if (base.address_base == AddressBase::kAbsolute) {
      text_ += std::to_string(static_cast<std::uint64_t>(base.offset));
    } else {
      text_ += base.address_base == AddressBase::kRegister ? function_.registers[base.index].name
                                                           : function_.symbols[base.index].name;
      text_ += offset_text(base.offset);
    }
    const std::size_t end = place + base.count;
    for (std::size_t i = place + 1; i <= end && i < instruction_.sources.size(); ++i) {
      text_ += ", ";
      operand(instruction_.sources[i], Type::kNone);
    }
    text_ += ']';
  }

  void operand(const Operand& operand, Type type) {
    if (operand.negated) text_ += '!';
    switch (operand.kind) {
      case OperandKind::kRegister:
        text_ += function_.registers[operand.index].name + part(operand);
        return;
      case OperandKind::kImmediate:
        text_ += constant_text(operand.bits, type);
        return;
      case OperandKind::kSpecial:
        text_ += text_of({operand.special, static_cast<std::uint32_t>(operand.bits)});
        return;
      case OperandKind::kSymbol:
        text_ += function_.symbols[operand.index].name + offset_text(operand.offset);
        return;
      case OperandKind::kVector:
        return vector(operand, instruction_.opcode == Opcode::kMov ? Type::kNone : type);
      case OperandKind::kLabel:
        text_ += "$LBL_" + std::to_string(operand.index);
        return;
      case OperandKind::kLabelTable:
        text_ += "$TBL_" + std::to_string(operand.index);
        return;
      case OperandKind::kSink:
        text_ += '_';
        return;
      case OperandKind::kAddress:
      case OperandKind::kNone:
        return;
    }
  }

  static std::string part(const Operand& operand) {
    if (operand.bits == 0) return {};
    return (operand.bits < 0x20 ? ".b" : ".h") + std::to_string(operand.bits & 0xf);
  }

  void vector(const Operand& whole, Type type) {
    text_ += '{';
    for (std::uint32_t i = 0; i < whole.count; ++i) {
      if (i > 0) text_ += ", ";
      operand(function_.vector_elements[whole.index + i], type);
    }
    text_ += '}';
  }

  void list(std::size_t first, const std::vector<Operand>& all) {
    text_ += '(';
    for (std::size_t i = first; i < all.size(); ++i) {
      if (i > first) text_ += ", ";
      operand(all[i], Type::kNone);
    }
    text_ += ')';
  }

  void call() {
    text_ += ' ';
    if (!instruction_.destinations.empty()) {
      list(0, instruction_.destinations);
      text_ += ", ";
    }
    operand(instruction_.sources.front(), Type::kNone);
    const bool indirect = instruction_.prototype != kNoRegister;
    if (instruction_.sources.size() > 1 || indirect) {
      text_ += ", ";
      list(1, instruction_.sources);
    }
    if (indirect) text_ += ", " + function_.prototypes[instruction_.prototype].name;
  }

  const Function& function_;
  const Instruction& instruction_;
  Signature signature_;
  std::string text_;
};

}  // namespace

std::string constant_text(std::uint64_t bits, Type type) {
  char text[24];
  if (type == Type::kF32) {
    std::snprintf(text, sizeof text, "0f%08" PRIX64, bits);
  } else if (type == Type::kF64) {
    std::snprintf(text, sizeof text, "0d%016" PRIX64, bits);
  } else {
    std::snprintf(text, sizeof text, "%" PRIu64, bits);
  }
  return text;
}

std::string to_text(const Function& function, const Instruction& instruction) {
  return InstructionPrinter(function, instruction).text();
}

}  // namespace drgpum::emulator::ptx

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Operands of instructions. Source: PTX ISA 9.0, chapter 6.

#include <vector>

#include "emulator/ptx/constant.h"
#include "emulator/ptx/cursor.h"
#include "emulator/ptx/program.h"
#include "emulator/ptx/scopes.h"

namespace drgpum::emulator::ptx {

// Constants come out with their kind in Operand::count until settle_constants().
class OperandParser {
 public:
  OperandParser(Cursor& cursor, Scopes& scopes, Function& function)
      : cursor_(cursor), scopes_(scopes), function_(function) {}

  // One operand; an address that brackets several comes out as several.
  void parse(std::vector<Operand>& operands);

  // A plain name: register, special register or symbol.
  Operand parse_name();

  std::uint32_t parse_guard();  // the register of @p

 private:
  void parse_address(std::vector<Operand>& operands);
  void parse_vector(std::vector<Operand>& operands);
  Operand parse_scalar();
  Operand parse_address_base();
  Operand parse_part(const Token& token, const Name& name);
  Operand special(const Token& token);

  Cursor& cursor_;
  Scopes& scopes_;
  Function& function_;
};

// Gives every constant among the operands the bits of the type that its place asks for.
void settle_constants(Cursor& cursor, const Token& where, Instruction& instruction,
                      Function& function);

}  // namespace drgpum::emulator::ptx

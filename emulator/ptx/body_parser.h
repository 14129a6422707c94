// SPDX-License-Identifier: Apache-2.0
#pragma once
// The body of a function: declarations, labels, instructions. Source: PTX ISA 9.0, chapters 4,
// 9, 11.

#include <vector>

#include "emulator/ptx/cursor.h"
#include "emulator/ptx/debug_strings.h"
#include "emulator/ptx/operand_parser.h"
#include "emulator/ptx/program.h"
#include "emulator/ptx/scopes.h"

namespace drgpum::emulator::ptx {

// A .loc whose inlined function is named by a label of .debug_str, which comes later in the text.
struct InlinedName {
  std::uint32_t function = 0;  // index of Program::functions
  std::uint32_t location = 0;  // index of Function::locations
  Token label;
  std::uint64_t addend = 0;
};

class BodyParser {
 public:
  // `function` has its parameters already.
  BodyParser(Cursor& cursor, Function& function, DebugStrings& strings);

  // '{' stands at the cursor. SourceLocation::file holds the number of the .file directive.
  void parse();

  [[nodiscard]] const std::vector<InlinedName>& inlined_names() const { return inlined_names_; }

 private:
  void declare_parameters();
  void parse_statement();
  void parse_directive();
  void parse_registers();
  void parse_local_variables();
  void parse_location();
  std::uint32_t find_location(const SourceLocation& place);
  void parse_label_or_instruction();
  void parse_after_label(const Token& name);
  void parse_targets(const Token& name);
  void parse_call_targets(const Token& name);
  void parse_prototype(const Token& name);
  void parse_guarded();
  void parse_instruction(const Token& word);
  void parse_opcode(const Token& word, Instruction& instruction);
  void parse_operands(Instruction& instruction);
  void parse_branch(Instruction& instruction);
  void parse_call(Instruction& instruction);
  void parse_list(std::vector<Operand>& operands);
  [[nodiscard]] std::uint32_t next_instruction() const;

  Cursor& cursor_;
  Function& function_;
  DebugStrings& strings_;
  Scopes scopes_;
  OperandParser operands_;
  std::vector<InlinedName> inlined_names_;
  std::uint32_t location_ = 0;
  std::uint32_t guard_ = kNoRegister;
  bool guard_negated_ = false;
  std::size_t open_blocks_ = 0;
};

}  // namespace drgpum::emulator::ptx

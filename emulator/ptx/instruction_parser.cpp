// SPDX-License-Identifier: Apache-2.0
// The instructions of a body (BodyParser's other half).

#include <algorithm>

#include "emulator/ptx/body_parser.h"
#include "emulator/ptx/signature.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::ptx {
namespace {

bool has_word(const Instruction& instruction, std::string_view word) {
  const auto& words = instruction.modifiers;
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string_view word_at(const Instruction& instruction, std::size_t place) {
  const auto& words = instruction.modifiers;
  return place < words.size() ? std::string_view(words[place]) : std::string_view();
}

// cp.async has kin that work quite differently.
Opcode classified_copy(const Instruction& instruction) {
  if (word_at(instruction, 0) != "async") return Opcode::kOther;
  const std::string_view next = word_at(instruction, 1);
  if (next == "commit_group") return Opcode::kCpAsyncCommitGroup;
  if (next == "wait_group") return Opcode::kCpAsyncWaitGroup;
  if (next == "wait_all") return Opcode::kCpAsyncWaitAll;
  return next == "ca" || next == "cg" ? Opcode::kCpAsync : Opcode::kOther;
}

Opcode classified(const Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kCpAsync:
      return classified_copy(instruction);
    case Opcode::kSt:
      return has_word(instruction, "async") || has_word(instruction, "bulk") ? Opcode::kOther
                                                                             : Opcode::kSt;
    case Opcode::kRed:
      return has_word(instruction, "async") ? Opcode::kOther : Opcode::kRed;
    case Opcode::kPrefetch:
      return has_word(instruction, "tensormap") ? Opcode::kOther : Opcode::kPrefetch;
    default:
      return instruction.opcode;
  }
}

// Whether Instruction::spelling is wanted: the opcode alone does not say what to do.
bool is_spelled(Opcode opcode) {
  return opcode == Opcode::kOther || opcode == Opcode::kVideo ||
         (opcode >= Opcode::kWmma && opcode <= Opcode::kSuq);
}

}  // namespace

void BodyParser::parse_label_or_instruction() {
  const Token word = cursor_.expect_identifier("an instruction, a label or a directive");
  if (cursor_.accept(':')) return parse_after_label(word);
  guard_ = kNoRegister;
  guard_negated_ = false;
  parse_instruction(word);
}

// After '@'.
void BodyParser::parse_guarded() {
  guard_negated_ = cursor_.accept('!');
  guard_ = operands_.parse_guard();
  parse_instruction(cursor_.expect_identifier("an instruction"));
}

void BodyParser::parse_instruction(const Token& word) {
  if (cursor_.failed()) return;
  Instruction instruction;
  instruction.guard = guard_;
  instruction.guard_negated = guard_negated_;
  instruction.location = location_;
  instruction.line = word.line;
  parse_opcode(word, instruction);
  switch (instruction.opcode) {
    case Opcode::kCall:
      parse_call(instruction);
      break;
    case Opcode::kBra:
    case Opcode::kBrx:
      parse_branch(instruction);
      break;
    default:
      parse_operands(instruction);
  }
  settle_constants(cursor_, word, instruction, function_);
  cursor_.expect(';', "after the instruction");
  function_.instructions.push_back(std::move(instruction));
}

void BodyParser::parse_opcode(const Token& word, Instruction& instruction) {
  instruction.opcode = opcode_of_word(word.text);
  while (cursor_.at_directive())
    apply_modifier(cursor_.take().text, instruction);
  instruction.opcode = classified(instruction);
  const bool converts = instruction.opcode == Opcode::kCvta;
  instruction.to_generic = converts && !has_word(instruction, "to");
  if (!is_spelled(instruction.opcode)) return;
  instruction.spelling = word.text;
  for (const std::string& modifier : instruction.modifiers) {
    instruction.spelling += '.' + modifier;
  }
}

void BodyParser::parse_operands(Instruction& instruction) {
  std::vector<Operand> operands;
  std::size_t results = 1;
  while (!cursor_.at(';') && !cursor_.at_end()) {
    operands_.parse(operands);
    if (operands.size() == 1 && cursor_.accept('|')) {
      operands_.parse(operands);
      results = operands.size();
    }
    if (!cursor_.accept(',')) break;
  }
  if (operands.empty()) return;
  const bool has_result = has_destination(instruction, operands.front(), operands.size());
  const auto split = operands.begin() + static_cast<std::ptrdiff_t>(has_result ? results : 0);
  instruction.destinations.assign(operands.begin(), split);
  instruction.sources.assign(split, operands.end());
}

// bra label; brx.idx index, table;
void BodyParser::parse_branch(Instruction& instruction) {
  const bool indexed = instruction.opcode == Opcode::kBrx;
  if (indexed) {
    operands_.parse(instruction.sources);
    cursor_.expect(',', "before the table of labels");
    if (instruction.sources.size() != 1) return cursor_.fail("expected one index");
  }
  Operand& target = instruction.sources.emplace_back();
  target.kind = indexed ? OperandKind::kLabelTable : OperandKind::kLabel;
  const LabelUse use = indexed ? LabelUse::kTable : LabelUse::kBranch;
  scopes_.refer({cursor_.expect_identifier("a label"), use, next_instruction(), 0});
}

// call (results), callee, (arguments), prototype; all but the callee may be absent.
void BodyParser::parse_call(Instruction& instruction) {
  if (cursor_.at('(')) {
    parse_list(instruction.destinations);
    cursor_.expect(',', "before the called function");
  }
  instruction.sources.push_back(operands_.parse_name());
  while (cursor_.accept(',')) {
    if (cursor_.at('(')) {
      parse_list(instruction.sources);
    } else {
      scopes_.refer(
          {cursor_.expect_identifier("a prototype"), LabelUse::kPrototype, next_instruction(), 0});
    }
  }
}

void BodyParser::parse_list(std::vector<Operand>& operands) {
  cursor_.expect('(', "before the list");
  while (!cursor_.at(')') && !cursor_.at_end()) {
    operands_.parse(operands);
    if (!cursor_.accept(',')) break;
  }
  cursor_.expect(')', "after the list");
}

}  // namespace drgpum::emulator::ptx

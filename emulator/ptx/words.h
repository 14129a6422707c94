// SPDX-License-Identifier: Apache-2.0
#pragma once
// The words of PTX and what they stand for. Source: PTX ISA 9.0, chapters 4, 5, 9 and 10.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "emulator/ptx/program.h"

namespace drgpum::emulator::ptx {

std::optional<Type> type_of_word(std::string_view word);  // kOther for e4m3, tf32, u16x2 ...
std::string_view word_of(Type type);
std::uint32_t bytes_of(Type type);  // 0 for kNone, kPred and kOther

bool is_float(Type type);
bool is_signed(Type type);
Type widened(Type type);  // the result of mul.wide: twice as many bits

std::optional<Space> space_of_word(std::string_view word);  // also shared::cta, param::func ...
std::string_view word_of(Space space);

// By the word before the first dot. cp gives kCpAsync and kMbarrier its kin: classify() refines.
Opcode opcode_of_word(std::string_view word);  // kOther when unknown
std::string_view word_of(Opcode opcode);

struct SpecialRegister {
  Special special = Special::kTidX;
  std::uint32_t number = 0;  // Operand::bits
};

// "%tid.x", "%laneid", "%envreg2"; the name without a component is known for scalars only.
std::optional<SpecialRegister> special_of_word(std::string_view name);
std::string text_of(const SpecialRegister& special);

// Sets the field that a dotted word after the opcode stands for; hints leave no trace.
void apply_modifier(std::string_view word, Instruction& instruction);

}  // namespace drgpum::emulator::ptx

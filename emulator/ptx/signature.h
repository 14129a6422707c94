// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which operands an instruction takes. Source: PTX ISA 9.0, chapter 9.

#include <array>
#include <cstdint>

#include "emulator/ptx/program.h"

namespace drgpum::emulator::ptx {

enum class Use : std::uint8_t {
  kValue,  // a register, an immediate, a special register, where it fits the address of a symbol
  kWider,  // kValue whose register may be wider than the type (ld, st, cvt)
  kPredicate,  // a predicate register or a truth value
  kAddress,
  kVector,    // elements together as wide as the type, or a plain value of the type (mov)
  kElements,  // `vector` elements of the type, or one plain value when vector is 1 (ld, st)
  kLabel,
  kLabelTable,
  kAny,
};

struct Slot {
  Use use = Use::kAny;
  Type type = Type::kNone;
};

inline constexpr std::size_t kMaxSlots = 6;

struct Signature {
  bool open = true;  // not checked; immediates are 64-bit integers or floats as spelled
  bool destination = true;
  Slot destination_slot;
  bool second_destination = false;  // a predicate after `|` is allowed
  std::uint8_t required = 0;        // sources that must be there
  std::uint8_t count = 0;           // sources that may be there
  std::array<Slot, kMaxSlots> sources;
};

// All fields of `instruction` but the operands must stand.
Signature signature_of(const Instruction& instruction);

// Whether the first operand in the text is a result; `first` tells for opcodes with both forms.
bool has_destination(const Instruction& instruction, const Operand& first, std::size_t operands);

}  // namespace drgpum::emulator::ptx

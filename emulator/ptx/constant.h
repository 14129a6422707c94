// SPDX-License-Identifier: Apache-2.0
#pragma once
// Constant expressions. Source: PTX ISA 9.0, 4.5.

#include <cstdint>
#include <optional>

#include "emulator/ptx/cursor.h"
#include "emulator/ptx/program.h"

namespace drgpum::emulator::ptx {

enum class ConstantKind : std::uint8_t { kInteger, kSingle, kDouble };

struct Constant {
  ConstantKind kind = ConstantKind::kInteger;
  std::uint64_t bits = 0;  // two's complement, or the bits of a float or a double
};

// Whether a constant can begin here: a number, a sign, a parenthesis.
bool at_constant(const Cursor& cursor);

Constant parse_constant(Cursor& cursor);

// parse_constant() of an integer that is not negative and at most `limit`.
std::uint64_t parse_count(Cursor& cursor, std::uint64_t limit, std::string_view what);

// The bits that `constant` has as a value of `type`: doubles narrowed or widened, integers cut to
// the type's width; nullopt where the language has no conversion. kNone and kOther keep the bits.
std::optional<std::uint64_t> converted(const Constant& constant, Type type);

}  // namespace drgpum::emulator::ptx

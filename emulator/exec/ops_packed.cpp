// SPDX-License-Identifier: Apache-2.0
// add, min and max on the two 16-bit integers of a word, and .relu, which takes what is negative
// for 0: what the DPX intrinsics and those on halves of a word are made of from sm_90 on.
// Source: PTX ISA 9.0, "Integer Arithmetic Instructions".

#include <algorithm>
#include <string_view>

#include "emulator/exec/row_ops.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;

bool has(const ptx::Instruction& in, std::string_view word) {
  return std::find(in.modifiers.begin(), in.modifiers.end(), word) != in.modifiers.end();
}

template <Opcode opcode, typename T>
T combined(T a, T b) {
  if constexpr (opcode == Opcode::kAdd)
    return static_cast<T>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
  else if constexpr (opcode == Opcode::kMin)
    return std::min(a, b);
  else
    return std::max(a, b);
}

template <Opcode opcode, typename T, bool relu>
struct Whole {
  static T apply(T a, T b) {
    const T result = combined<opcode>(a, b);
    return relu && result < 0 ? T{0} : result;
  }
};

template <Opcode opcode, typename T, bool relu>
struct Halves {
  static std::uint32_t half(std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint16_t>(
        Whole<opcode, T, relu>::apply(static_cast<T>(a), static_cast<T>(b)));
  }
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
    return half(a, b) | half(a >> 16, b >> 16) << 16;
  }
};

template <Opcode opcode>
Handler handler_of(const ptx::Instruction& in) {
  using Word = std::uint32_t;
  const bool relu = has(in, "relu");
  if (has(in, "u16x2"))
    return relu ? nullptr : binary<Word, Word, Halves<opcode, std::uint16_t, false>>;
  if (has(in, "s16x2"))
    return relu ? binary<Word, Word, Halves<opcode, std::int16_t, true>>
                : binary<Word, Word, Halves<opcode, std::int16_t, false>>;
  if (relu && in.type == ptx::Type::kS32)
    return binary<std::int32_t, std::int32_t, Whole<opcode, std::int32_t, true>>;
  return nullptr;
}

}  // namespace

bool lower_packed(Builder& builder, const ptx::Instruction& in) {
  Handler handler = nullptr;
  if (in.opcode == Opcode::kAdd && !has(in, "relu") && !in.sat)
    handler = handler_of<Opcode::kAdd>(in);
  else if (in.opcode == Opcode::kMin)
    handler = handler_of<Opcode::kMin>(in);
  else if (in.opcode == Opcode::kMax)
    handler = handler_of<Opcode::kMax>(in);
  return handler != nullptr && emit_binary(builder, in, handler, 4, 4);
}

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
// Integer add, sub, mul, mad, min, max, abs, neg, sad.

#include <algorithm>

#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Half;
using ptx::Opcode;
using ptx::Type;

template <typename T>
struct WiderOf;
template <>
struct WiderOf<std::uint16_t> {
  using type = std::uint32_t;
};
template <>
struct WiderOf<std::int16_t> {
  using type = std::int32_t;
};
template <>
struct WiderOf<std::uint32_t> {
  using type = std::uint64_t;
};
template <>
struct WiderOf<std::int32_t> {
  using type = std::int64_t;
};
template <>
struct WiderOf<std::uint64_t> {
  using type = Uint128;
};
template <>
struct WiderOf<std::int64_t> {
  using type = Int128;
};
template <typename T>
using Wider = typename WiderOf<T>::type;

// Unsigned arithmetic of at least 32 bits wraps without undefined behaviour.
template <typename T>
using Wrapping = std::conditional_t<sizeof(T) < 4, std::uint32_t, std::make_unsigned_t<T>>;

struct Add {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
  }
};
struct Sub {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) - static_cast<Wrapping<T>>(b));
  }
};
struct MulLow {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
  }
};
struct MulHigh {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>((static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b)) >> (8 * sizeof(T)));
  }
};
struct MulWide {
  template <typename T>
  static Wider<T> apply(T a, T b) {
    return static_cast<Wider<T>>(a) * static_cast<Wider<T>>(b);
  }
};
struct MadLow {
  template <typename T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulLow::apply(a, b), c);
  }
};
struct MadHigh {
  template <typename T>
  static T apply(T a, T b, T c) {
    return Add::apply(MulHigh::apply(a, b), c);
  }
};
struct MadHighSat {
  static std::int32_t apply(std::int32_t a, std::int32_t b, std::int32_t c) {
    const std::int64_t sum = std::int64_t{MulHigh::apply(a, b)} + c;
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(sum, INT32_MIN, INT32_MAX));
  }
};
struct MadWide {
  template <typename T>
  static Wider<T> apply(T a, T b, Wider<T> c) {
    return Add::apply(MulWide::apply(a, b), c);
  }
};
struct AddSat {
  static std::int32_t apply(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::int64_t{a} + b, INT32_MIN, INT32_MAX));
  }
};
struct SubSat {
  static std::int32_t apply(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(
        std::clamp<std::int64_t>(std::int64_t{a} - b, INT32_MIN, INT32_MAX));
  }
};
struct Min {
  template <typename T>
  static T apply(T a, T b) {
    return b < a ? b : a;
  }
};
struct Max {
  template <typename T>
  static T apply(T a, T b) {
    return a < b ? b : a;
  }
};
struct Neg {
  template <typename T>
  static T apply(T a) {
    return Sub::apply(T{0}, a);
  }
};
struct Abs {
  template <typename T>
  static T apply(T a) {
    return a < 0 ? Neg::apply(a) : a;
  }
};
struct Sad {
  template <typename T>
  static T apply(T a, T b, T c) {
    return Add::apply(c, a < b ? Sub::apply(b, a) : Sub::apply(a, b));
  }
};

// mul24 and mad24: the low 24 bits of the operands, sign- or zero-extended; .hi gives bits 47..16.
template <typename T>
T low24(T a) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<T>(static_cast<std::uint32_t>(a) << 8) >> 8;
  else
    return a & 0xffffffu;
}
struct Mul24Low {
  template <typename T>
  static T apply(T a, T b) {
    return MulLow::apply(low24(a), low24(b));
  }
};
struct Mul24High {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(MulWide::apply(low24(a), low24(b)) >> 16);
  }
};
struct Mad24Low {
  template <typename T>
  static T apply(T a, T b, T c) {
    return Add::apply(Mul24Low::apply(a, b), c);
  }
};
struct Mad24High {
  template <typename T>
  static T apply(T a, T b, T c) {
    return Add::apply(Mul24High::apply(a, b), c);
  }
};

template <typename Operation>
Handler binary_of(Type type) {
  return with_integer(type, [](auto t) -> Handler {
    using T = decltype(t);
    return binary<T, T, Operation>;
  });
}
template <typename Operation>
Handler unary_of(Type type) {
  return with_integer(type, [](auto t) -> Handler {
    using T = decltype(t);
    return unary<T, T, Operation>;
  });
}
template <typename Operation>
Handler ternary_of(Type type) {
  return with_integer(type, [](auto t) -> Handler {
    using T = decltype(t);
    return ternary<T, T, T, Operation>;
  });
}
// Sign does not change the bits of these: fewer handlers.
Type without_sign(Type type) {
  switch (type) {
    case Type::kS16:
      return Type::kU16;
    case Type::kS32:
      return Type::kU32;
    case Type::kS64:
      return Type::kU64;
    default:
      return type;
  }
}

Handler wide_handler(Type type, bool with_addend) {
  switch (type) {
    case Type::kU16:
      return with_addend ? ternary<std::uint32_t, std::uint16_t, std::uint32_t, MadWide>
                         : binary<std::uint32_t, std::uint16_t, MulWide>;
    case Type::kS16:
      return with_addend ? ternary<std::int32_t, std::int16_t, std::int32_t, MadWide>
                         : binary<std::int32_t, std::int16_t, MulWide>;
    case Type::kU32:
      return with_addend ? ternary<std::uint64_t, std::uint32_t, std::uint64_t, MadWide>
                         : binary<std::uint64_t, std::uint32_t, MulWide>;
    case Type::kS32:
      return with_addend ? ternary<std::int64_t, std::int32_t, std::int64_t, MadWide>
                         : binary<std::int64_t, std::int32_t, MulWide>;
    default:
      return nullptr;
  }
}

bool lower_multiply(Builder& builder, const ptx::Instruction& in) {
  const bool mad = in.opcode == Opcode::kMad;
  const unsigned bytes = ptx::bytes_of(in.type);
  if (in.half == Half::kWide) {
    const Handler handler = wide_handler(in.type, mad);
    if (handler == nullptr) return false;
    return mad ? emit_ternary(builder, in, handler, 2 * bytes, bytes, 2 * bytes)
               : emit_binary(builder, in, handler, 2 * bytes, bytes);
  }
  Handler handler = nullptr;
  if (mad) {
    handler = in.half == Half::kHi
                  ? (in.sat ? ternary<std::int32_t, std::int32_t, std::int32_t, MadHighSat>
                            : ternary_of<MadHigh>(in.type))
                  : ternary_of<MadLow>(without_sign(in.type));
    return handler != nullptr && emit_ternary(builder, in, handler, bytes, bytes, bytes);
  }
  handler =
      in.half == Half::kHi ? binary_of<MulHigh>(in.type) : binary_of<MulLow>(without_sign(in.type));
  return handler != nullptr && emit_binary(builder, in, handler, bytes, bytes);
}

template <typename Low, typename High>
Handler mul24_handler(const ptx::Instruction& in, bool with_addend) {
  const bool is_signed = in.type == Type::kS32;
  const bool high = in.half == Half::kHi;
  if (with_addend) {
    if (is_signed)
      return high ? ternary<std::int32_t, std::int32_t, std::int32_t, Mad24High>
                  : ternary<std::int32_t, std::int32_t, std::int32_t, Mad24Low>;
    return high ? ternary<std::uint32_t, std::uint32_t, std::uint32_t, Mad24High>
                : ternary<std::uint32_t, std::uint32_t, std::uint32_t, Mad24Low>;
  }
  if (is_signed)
    return high ? binary<std::int32_t, std::int32_t, High>
                : binary<std::int32_t, std::int32_t, Low>;
  return high ? binary<std::uint32_t, std::uint32_t, High>
              : binary<std::uint32_t, std::uint32_t, Low>;
}

}  // namespace

bool lower_integer(Builder& builder, const ptx::Instruction& in) {
  const unsigned bytes = ptx::bytes_of(in.type);
  if (ptx::is_float(in.type) || in.type == Type::kPred || in.carry_out) return false;
  if (std::find(in.modifiers.begin(), in.modifiers.end(), "relu") != in.modifiers.end())
    return false;  // lower_packed
  const auto two = [&](Handler handler) {
    return handler != nullptr && emit_binary(builder, in, handler, bytes, bytes);
  };
  const auto one = [&](Handler handler) {
    return handler != nullptr && emit_unary(builder, in, handler, bytes, bytes);
  };
  switch (in.opcode) {
    case Opcode::kAdd:
      return two(in.sat ? binary<std::int32_t, std::int32_t, AddSat>
                        : binary_of<Add>(without_sign(in.type)));
    case Opcode::kSub:
      return two(in.sat ? binary<std::int32_t, std::int32_t, SubSat>
                        : binary_of<Sub>(without_sign(in.type)));
    case Opcode::kMin:
      return two(binary_of<Min>(in.type));
    case Opcode::kMax:
      return two(binary_of<Max>(in.type));
    case Opcode::kNeg:
      return one(unary_of<Neg>(without_sign(in.type)));
    case Opcode::kAbs:
      return one(unary_of<Abs>(in.type));
    case Opcode::kMul:
    case Opcode::kMad:
      return lower_multiply(builder, in);
    case Opcode::kMul24:
      return two(mul24_handler<Mul24Low, Mul24High>(in, false));
    case Opcode::kMad24:
      return emit_ternary(builder, in, mul24_handler<Mul24Low, Mul24High>(in, true), bytes, bytes,
                          bytes);
    case Opcode::kSad: {
      const Handler handler = ternary_of<Sad>(in.type);
      return handler != nullptr && emit_ternary(builder, in, handler, bytes, bytes, bytes);
    }
    default:
      return false;
  }
}

}  // namespace drgpum::emulator::exec

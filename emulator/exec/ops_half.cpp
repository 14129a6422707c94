// SPDX-License-Identifier: Apache-2.0
// Arithmetic of f16, bf16 and their pairs. Each operation is computed in double precision, where it
// is exact (fma: but for one rounding of 53 bits), and rounded once.

#include <algorithm>
#include <cmath>

#include "emulator/exec/half.h"
#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::Type;

constexpr std::uint32_t kSaturate = 1, kFlush = 2, kRelu = 4, kKeepNan = 8;

struct Add {
  static double apply(double a, double b, double) { return a + b; }
};
struct Sub {
  static double apply(double a, double b, double) { return a - b; }
};
struct Mul {
  static double apply(double a, double b, double) { return a * b; }
};
struct Fma {
  static double apply(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct Exp2 {
  static double apply(double a, double, double) { return std::exp2(a); }
};
struct Tanh {
  static double apply(double a, double, double) { return std::tanh(a); }
};

template <Type type>
double widen(std::uint16_t h, std::uint32_t detail) {
  // Only f16 has subnormals that .ftz flushes.
  if (type == Type::kF16 && (detail & kFlush) != 0 && (h & 0x7c00u) == 0) h &= 0x8000u;
  return static_cast<double>(half_to_float<type>(h));
}

template <Type type>
std::uint16_t finish(double x, std::uint32_t detail) {
  if ((detail & kSaturate) != 0) x = x > 0 ? std::min(x, 1.0) : 0.0;
  if ((detail & kRelu) != 0 && x < 0) x = 0;
  std::uint16_t h = type == Type::kF16 ? to_f16(x) : to_bf16(x);
  if (type == Type::kF16 && (detail & kFlush) != 0 && (h & 0x7c00u) == 0) h &= 0x8000u;
  return h;
}

template <Type type, typename Operation>
std::uint16_t compute(std::uint16_t a, std::uint16_t b, std::uint16_t c, std::uint32_t detail) {
  return finish<type>(
      Operation::apply(widen<type>(a, detail), widen<type>(b, detail), widen<type>(c, detail)),
      detail);
}

// min and max choose one of the operands' bits.
template <bool minimum, Type type>
std::uint16_t choose(std::uint16_t a, std::uint16_t b, std::uint32_t detail) {
  const float x = half_to_float<type>(a), y = half_to_float<type>(b);
  const bool a_nan = x != x, b_nan = y != y;
  if (a_nan || b_nan) {
    if ((a_nan && b_nan) || (detail & kKeepNan) != 0) return 0x7fff;
    return a_nan ? b : a;
  }
  if (x == y) return static_cast<std::uint16_t>(minimum ? a | b : a & b);
  return (x < y) == minimum ? a : b;
}
template <Type type, bool minimum>
struct Choose {
  static std::uint16_t apply(std::uint16_t a, std::uint16_t b, std::uint16_t, std::uint32_t d) {
    return choose<minimum, type>(a, b, d);
  }
};
template <Type type, typename Operation>
struct Compute {
  static std::uint16_t apply(std::uint16_t a, std::uint16_t b, std::uint16_t c, std::uint32_t d) {
    return compute<type, Operation>(a, b, c, d);
  }
};
struct Neg {
  static std::uint16_t apply(std::uint16_t a, std::uint16_t, std::uint16_t, std::uint32_t) {
    return a ^ 0x8000u;
  }
};
struct Abs {
  static std::uint16_t apply(std::uint16_t a, std::uint16_t, std::uint16_t, std::uint32_t) {
    return a & 0x7fffu;
  }
};

template <typename Operation, typename T>
const Op* half_op(const Op* op, WarpContext& warp) {
  const T* a = warp.source<T>(op->a);
  const T* b = warp.source<T>(op->b);
  const T* c = warp.source<T>(op->c);
  const std::uint32_t detail = op->detail;
  store_lanes<T>(warp, op, [=](unsigned i) {
    if constexpr (sizeof(T) == 2) {
      return Operation::apply(a[i], b[i], c[i], detail);
    } else {
      const auto low = [](std::uint32_t x) { return static_cast<std::uint16_t>(x); };
      const auto high = [](std::uint32_t x) { return static_cast<std::uint16_t>(x >> 16); };
      return static_cast<T>(
          Operation::apply(low(a[i]), low(b[i]), low(c[i]), detail) |
          (static_cast<T>(Operation::apply(high(a[i]), high(b[i]), high(c[i]), detail)) << 16));
    }
  });
  return op + 1;
}

template <typename Operation>
Handler sized(bool pair) {
  return pair ? half_op<Operation, std::uint32_t> : half_op<Operation, std::uint16_t>;
}

template <Type type>
Handler handler_of(Opcode opcode, bool pair) {
  switch (opcode) {
    case Opcode::kAdd:
      return sized<Compute<type, Add>>(pair);
    case Opcode::kSub:
      return sized<Compute<type, Sub>>(pair);
    case Opcode::kMul:
      return sized<Compute<type, Mul>>(pair);
    case Opcode::kFma:
      return sized<Compute<type, Fma>>(pair);
    case Opcode::kEx2:
      return sized<Compute<type, Exp2>>(pair);
    case Opcode::kTanh:
      return sized<Compute<type, Tanh>>(pair);
    case Opcode::kMin:
      return sized<Choose<type, true>>(pair);
    case Opcode::kMax:
      return sized<Choose<type, false>>(pair);
    case Opcode::kNeg:
      return sized<Neg>(pair);
    case Opcode::kAbs:
      return sized<Abs>(pair);
    default:
      return nullptr;
  }
}

std::uint32_t detail_of(const ptx::Instruction& in) {
  const auto has = [&](const char* word) {
    return std::find(in.modifiers.begin(), in.modifiers.end(), word) != in.modifiers.end();
  };
  return (in.sat ? kSaturate : 0) | (in.ftz ? kFlush : 0) | (has("relu") ? kRelu : 0) |
         (has("NaN") ? kKeepNan : 0);
}

}  // namespace

bool lower_half(Builder& builder, const ptx::Instruction& in) {
  const bool f16 = in.type == Type::kF16 || in.type == Type::kF16x2;
  const bool bf16 = in.type == Type::kBf16 || in.type == Type::kBf16x2;
  if ((!f16 && !bf16) || in.sources.empty() || in.sources.size() > 3) return false;
  const bool pair = in.type == Type::kF16x2 || in.type == Type::kBf16x2;
  const Handler handler =
      f16 ? handler_of<Type::kF16>(in.opcode, pair) : handler_of<Type::kBf16>(in.opcode, pair);
  if (handler == nullptr) return false;
  for (const std::string& word : in.modifiers)
    if (word == "xorsign") return false;
  const unsigned bytes = pair ? 4 : 2;
  RowOffset rows[3] = {};
  for (std::size_t i = 0; i < in.sources.size(); ++i)
    rows[i] = builder.source(in.sources[i], bytes);
  for (std::size_t i = in.sources.size(); i < 3; ++i)
    rows[i] = rows[0];
  builder.emit(handler, builder.destination(in.destinations[0], bytes), rows[0], rows[1], rows[2])
      .detail = detail_of(in);
  return true;
}

}  // namespace drgpum::emulator::exec

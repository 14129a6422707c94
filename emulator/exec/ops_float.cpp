// SPDX-License-Identifier: Apache-2.0
// f32 and f64 arithmetic that IEEE 754 defines: add, sub, mul, fma, div, rcp, sqrt, min, max, neg,
// abs, copysign, testp. f32 results that are NaN are the device's 0x7fffffff.

#include <algorithm>
#include <bit>
#include <cmath>

#include "emulator/exec/float_mode.h"
#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::Type;

inline float canonical(float x) {
  return x == x ? x : std::bit_cast<float>(0x7fffffffu);
}
inline double canonical(double x) {
  return x;
}

struct Add {
  template <typename T>
  static T apply(T a, T b) {
    return canonical(a + b);
  }
};
struct Sub {
  template <typename T>
  static T apply(T a, T b) {
    return canonical(a - b);
  }
};
struct Mul {
  template <typename T>
  static T apply(T a, T b) {
    return canonical(a * b);
  }
};
struct Div {
  template <typename T>
  static T apply(T a, T b) {
    return canonical(a / b);
  }
};
struct Fma {
  static float apply(float a, float b, float c) { return canonical(__builtin_fmaf(a, b, c)); }
  static double apply(double a, double b, double c) { return __builtin_fma(a, b, c); }
};
struct Reciprocal {
  template <typename T>
  static T apply(T a) {
    return canonical(T{1} / a);
  }
};
struct SquareRoot {
  static float apply(float a) { return canonical(__builtin_sqrtf(a)); }
  static double apply(double a) { return __builtin_sqrt(a); }
};
struct Neg {
  template <typename T>
  static T apply(T a) {
    return -a;
  }
};
struct Abs {
  static float apply(float a) { return __builtin_fabsf(a); }
  static double apply(double a) { return __builtin_fabs(a); }
};
// The sign of a on the magnitude of b.
struct CopySign {
  static float apply(float a, float b) { return __builtin_copysignf(b, a); }
  static double apply(double a, double b) { return __builtin_copysign(b, a); }
};

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

template <typename T>
T not_a_number() {
  if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(0x7fffffffu);
  else
    return std::bit_cast<T>(0x7ff8000000000000u);
}

// One NaN loses against a number; -0 is less than +0.
template <bool minimum, bool keep_nan>
struct MinMax {
  template <typename T>
  static T apply(T a, T b) {
    const auto ab = std::bit_cast<Bits<T>>(a), bb = std::bit_cast<Bits<T>>(b);
    const T equal = std::bit_cast<T>(minimum ? ab | bb : ab & bb);
    const T ordered = minimum ? (a < b ? a : b) : (a > b ? a : b);
    const T number = a == b ? equal : ordered;
    const bool a_nan = a != a, b_nan = b != b;
    if constexpr (keep_nan) return a_nan || b_nan ? not_a_number<T>() : number;
    const T other = a_nan ? (b_nan ? not_a_number<T>() : b) : a;
    return a_nan || b_nan ? other : number;
  }
};

template <typename Operation>
struct Saturated {
  template <typename... T>
  static float apply(T... values) {
    const float x = Operation::apply(values...);
    return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;  // NaN gives 0
  }
};

template <typename Operation>
Handler two(const ptx::Instruction& in) {
  if (in.type == Type::kF64) return binary<double, double, Operation>;
  return in.sat ? binary<float, float, Saturated<Operation>> : binary<float, float, Operation>;
}
template <typename Operation>
Handler two_unsaturated(Type type) {
  return type == Type::kF64 ? binary<double, double, Operation> : binary<float, float, Operation>;
}
template <typename Operation>
Handler one(Type type) {
  return type == Type::kF64 ? unary<double, double, Operation> : unary<float, float, Operation>;
}

Handler fma_handler(const ptx::Instruction& in) {
  if (in.type == Type::kF64) return ternary<double, double, double, Fma>;
  return in.sat ? ternary<float, float, float, Saturated<Fma>> : ternary<float, float, float, Fma>;
}

template <bool minimum>
Handler min_max_handler(const ptx::Instruction& in) {
  return has_word(in, "NaN") ? two_unsaturated<MinMax<minimum, true>>(in.type)
                             : two_unsaturated<MinMax<minimum, false>>(in.type);
}

template <typename T>
const Op* test_property(const Op* op, WarpContext& warp) {
  const T* a = warp.source<T>(op->a);
  std::uint32_t lanes = 0;
  for (unsigned i = 0; i < kLanes; ++i)
    lanes |= static_cast<std::uint32_t>(((op->detail >> std::fpclassify(a[i])) & 1) != 0) << i;
  warp.write_predicate(op->dst, lanes);
  return op + 1;
}

bool lower_testp(Builder& builder, const ptx::Instruction& in) {
  std::uint32_t classes = 0;
  const auto add = [&](std::initializer_list<int> list) {
    for (const int c : list)
      classes |= 1u << c;
  };
  if (has_word(in, "finite")) add({FP_NORMAL, FP_SUBNORMAL, FP_ZERO});
  if (has_word(in, "infinite")) add({FP_INFINITE});
  if (has_word(in, "number")) add({FP_NORMAL, FP_SUBNORMAL, FP_ZERO, FP_INFINITE});
  if (has_word(in, "notanumber")) add({FP_NAN});
  if (has_word(in, "normal")) add({FP_NORMAL});
  if (has_word(in, "subnormal")) add({FP_SUBNORMAL});
  const RowOffset a = builder.source(in.sources[0], ptx::bytes_of(in.type));
  builder
      .emit(in.type == Type::kF64 ? test_property<double> : test_property<float>,
            builder.predicate(in.destinations[0]), a)
      .detail = classes;
  return true;
}

Handler handler_of(const ptx::Instruction& in) {
  switch (in.opcode) {
    case Opcode::kAdd:
      return two<Add>(in);
    case Opcode::kSub:
      return two<Sub>(in);
    case Opcode::kMul:
      return two<Mul>(in);
    case Opcode::kDiv:
      return two_unsaturated<Div>(in.type);
    case Opcode::kMin:
      return min_max_handler<true>(in);
    case Opcode::kMax:
      return min_max_handler<false>(in);
    case Opcode::kCopysign:
      return two_unsaturated<CopySign>(in.type);
    case Opcode::kFma:
    case Opcode::kMad:
      return fma_handler(in);
    case Opcode::kRcp:
      return one<Reciprocal>(in.type);
    case Opcode::kSqrt:
      return one<SquareRoot>(in.type);
    case Opcode::kNeg:
      return one<Neg>(in.type);
    case Opcode::kAbs:
      return one<Abs>(in.type);
    default:
      return nullptr;
  }
}

}  // namespace

bool lower_float(Builder& builder, const ptx::Instruction& in) {
  if (in.type != Type::kF32 && in.type != Type::kF64) return false;
  if (has_word(in, "xorsign") || in.sources.empty()) return false;
  if (in.opcode == Opcode::kTestp) return lower_testp(builder, in);
  const Handler handler = handler_of(in);
  const unsigned bytes = ptx::bytes_of(in.type);
  if (handler == nullptr) return false;
  // Three operands of min and max are newer than the devices that are emulated.
  const bool three = in.opcode == Opcode::kFma || in.opcode == Opcode::kMad;
  if (in.sources.size() > (three ? 3u : 2u)) return false;
  if (in.sources.size() == 3) {
    emit_ternary(builder, in, handler, bytes, bytes, bytes);
  } else if (in.sources.size() == 2) {
    emit_binary(builder, in, handler, bytes, bytes);
  } else {
    emit_unary(builder, in, handler, bytes, bytes);
  }
  set_float_mode(builder.out().ops.back(), mxcsr_of(in.rounding, in.ftz));
  return true;
}

}  // namespace drgpum::emulator::exec

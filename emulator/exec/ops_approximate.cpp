// SPDX-License-Identifier: Apache-2.0
// ex2, lg2, sin, cos, tanh, rsqrt of f32, and the .approx forms of rcp and rsqrt for f64. The
// host's functions are closer to the exact value than PTX asks for.

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

// 2^x by splitting x into an integer and a fraction in [-0.5, 0.5], and a polynomial (Taylor terms
// of 2^f up to f^7 in double precision: error below 2^-30). Vectorises, unlike exp2f.
struct Exp2 {
  static float apply(float x) {
    const double clamped = std::min(std::max(static_cast<double>(x), -200.0), 200.0);
    const double whole = __builtin_floor(clamped + 0.5);
    const double f = clamped - whole;
    double p = 1.5252733804059841e-05;
    p = p * f + 1.5403530393381608e-04;
    p = p * f + 1.3333558146428443e-03;
    p = p * f + 9.6181291076284772e-03;
    p = p * f + 5.5504108664821580e-02;
    p = p * f + 2.4022650695910071e-01;
    p = p * f + 6.9314718055994531e-01;
    p = p * f + 1.0;
    const auto exponent = static_cast<std::int64_t>(static_cast<std::int32_t>(whole)) + 1023;
    const double scale = std::bit_cast<double>(static_cast<std::uint64_t>(exponent) << 52);
    return canonical(x == x ? static_cast<float>(p * scale) : x);
  }
};
struct Log2 {
  static float apply(float x) { return canonical(std::log2(x)); }
};
struct Sine {
  static float apply(float x) { return canonical(std::sin(x)); }
};
struct Cosine {
  static float apply(float x) { return canonical(std::cos(x)); }
};
struct Tanh {
  static float apply(float x) { return canonical(std::tanh(x)); }
};
struct ReciprocalSquareRoot {
  static float apply(float x) {
    return canonical(static_cast<float>(1.0 / __builtin_sqrt(static_cast<double>(x))));
  }
  static double apply(double x) { return 1.0 / __builtin_sqrt(x); }
};

Handler single_handler(Opcode opcode) {
  switch (opcode) {
    case Opcode::kEx2:
      return unary<float, float, Exp2>;
    case Opcode::kLg2:
      return unary<float, float, Log2>;
    case Opcode::kSin:
      return unary<float, float, Sine>;
    case Opcode::kCos:
      return unary<float, float, Cosine>;
    case Opcode::kTanh:
      return unary<float, float, Tanh>;
    case Opcode::kRsqrt:
      return unary<float, float, ReciprocalSquareRoot>;
    default:
      return nullptr;
  }
}

}  // namespace

bool lower_approximate(Builder& builder, const ptx::Instruction& in) {
  if (in.opcode == Opcode::kRsqrt && in.type == Type::kF64)
    return emit_unary(builder, in, unary<double, double, ReciprocalSquareRoot>, 8, 8);
  if (in.type != Type::kF32) return false;
  const Handler handler = single_handler(in.opcode);
  if (handler == nullptr) return false;
  // Subnormal operands and results count as zero with .ftz only; the functions themselves run in
  // the default mode.
  RowOffset a = builder.source(in.sources[0], 4);
  if (in.ftz) {
    const RowOffset flushed = builder.temporary(4);
    builder.emit(kFlushRow, flushed, a);
    a = flushed;
  }
  const RowOffset dst = builder.destination(in.destinations[0], 4);
  builder.emit(handler, dst, a);
  if (in.ftz) builder.emit(kFlushRow, dst, dst);
  return true;
}

}  // namespace drgpum::emulator::exec

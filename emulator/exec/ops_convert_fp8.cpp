// SPDX-License-Identifier: Apache-2.0
// cvt between pairs of 8-bit floats and f32 or f16x2. Source: PTX ISA 9.0, "cvt"; the formats are
// those of "FP8 Formats for Deep Learning" (arXiv:2209.05433): e4m3 has no infinity.

#include <algorithm>
#include <cmath>
#include <string_view>

#include "emulator/exec/convert.h"
#include "emulator/exec/half.h"
#include "emulator/exec/row_ops.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Type;

constexpr std::uint32_t kRelu = 1;
constexpr std::uint8_t kNan = 0x7f;  // of both formats

struct E4m3 {
  static constexpr int kFraction = 3, kBias = 7;
  static constexpr std::uint8_t kLargest = 0x7e;  // 448
};
struct E5m2 {
  static constexpr int kFraction = 2, kBias = 15;
  static constexpr std::uint8_t kLargest = 0x7b;  // 57344
};

// To the nearest, halves to even; what is too large becomes the largest (.satfinite).
template <typename F>
std::uint8_t narrow(float x, bool relu) {
  if (std::isnan(x)) return kNan;
  if (relu && std::signbit(x)) return 0;
  const std::uint8_t sign = std::signbit(x) ? 0x80 : 0;
  const double magnitude = std::fabs(static_cast<double>(x));
  if (magnitude == 0) return sign;
  if (std::isinf(x)) return sign | F::kLargest;
  const int least = 1 - F::kBias;
  const int exponent = std::max(std::ilogb(magnitude), least);
  const double steps = std::nearbyint(std::ldexp(magnitude, F::kFraction - exponent));
  const int code = ((exponent - least) << F::kFraction) + static_cast<int>(steps);
  return sign | static_cast<std::uint8_t>(std::min<int>(code, F::kLargest));
}

template <typename F>
float widen(std::uint8_t code) {
  const int exponent = (code & 0x7f) >> F::kFraction;
  const int fraction = code & ((1 << F::kFraction) - 1);
  const int significand = exponent > 0 ? fraction | 1 << F::kFraction : fraction;
  float magnitude = std::ldexp(static_cast<float>(significand),
                               std::max(exponent, 1) - F::kBias - F::kFraction);
  if ((code & 0x7f) == kNan || (code & 0x7f) > F::kLargest + 1)
    magnitude = std::nanf("");
  else if ((code & 0x7f) > F::kLargest)
    magnitude = INFINITY;  // of e5m2 alone
  return (code & 0x80) != 0 ? -magnitude : magnitude;
}

// The first source becomes the upper byte.
template <typename F>
const Op* from_floats(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<float>(op->a);
  const auto* b = warp.source<float>(op->b);
  const bool relu = (op->detail & kRelu) != 0;
  store_lanes<std::uint16_t>(warp, op, [=](unsigned i) {
    return static_cast<std::uint16_t>(narrow<F>(a[i], relu) << 8 | narrow<F>(b[i], relu));
  });
  return op + 1;
}

template <typename F>
const Op* from_halves(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint32_t>(op->a);
  const bool relu = (op->detail & kRelu) != 0;
  const auto half = [=](std::uint32_t bits) {
    return narrow<F>(half_to_float<Type::kF16>(static_cast<std::uint16_t>(bits)), relu);
  };
  store_lanes<std::uint16_t>(warp, op, [=](unsigned i) {
    return static_cast<std::uint16_t>(half(a[i] >> 16) << 8 | half(a[i] & 0xffff));
  });
  return op + 1;
}

// Every value is one of f16 as well.
template <typename F>
const Op* to_halves(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint16_t>(op->a);
  const bool relu = (op->detail & kRelu) != 0;
  const auto half = [=](std::uint8_t code) -> std::uint32_t {
    const float x = widen<F>(code);
    if (std::isnan(x)) return 0x7fff;
    return relu && std::signbit(x) ? 0 : to_f16(static_cast<double>(x), HalfRounding::kNearest);
  };
  store_lanes<std::uint32_t>(warp, op, [=](unsigned i) {
    return half(static_cast<std::uint8_t>(a[i] >> 8)) << 16 | half(static_cast<std::uint8_t>(a[i]));
  });
  return op + 1;
}

template <typename F>
bool lower_format(Builder& builder, const ptx::Instruction& in, bool relu) {
  const std::size_t sources = in.sources.size();
  Op* op = nullptr;
  if (in.type == Type::kOther && in.source_type == Type::kF32 && sources == 2) {
    const RowOffset a = builder.source(in.sources[0], 4);
    const RowOffset b = builder.source(in.sources[1], 4);
    op = &builder.emit(from_floats<F>, builder.destination(in.destinations[0], 2), a, b);
  } else if (in.type == Type::kOther && in.source_type == Type::kF16x2 && sources == 1) {
    const RowOffset a = builder.source(in.sources[0], 4);
    op = &builder.emit(from_halves<F>, builder.destination(in.destinations[0], 2), a);
  } else if (in.type == Type::kF16x2 && in.source_type == Type::kOther && sources == 1) {
    const RowOffset a = builder.source(in.sources[0], 2);
    op = &builder.emit(to_halves<F>, builder.destination(in.destinations[0], 4), a);
  }
  if (op != nullptr) op->detail = relu ? kRelu : 0;
  return op != nullptr;
}

}  // namespace

bool lower_fp8_conversion(Builder& builder, const ptx::Instruction& in) {
  const auto has = [&](std::string_view word) {
    return std::find(in.modifiers.begin(), in.modifiers.end(), word) != in.modifiers.end();
  };
  if (in.rounding != ptx::Rounding::kRn) return false;
  if (has("e4m3x2")) return lower_format<E4m3>(builder, in, has("relu"));
  if (has("e5m2x2")) return lower_format<E5m2>(builder, in, has("relu"));
  return false;
}

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
// cvt of f16, bf16, f16x2, bf16x2 and tf32.

#include <algorithm>

#include "emulator/exec/convert.h"
#include "emulator/exec/half.h"
#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Type;

HalfRounding half_rounding(ptx::Rounding rounding) {
  switch (rounding) {
    case ptx::Rounding::kRz:
      return HalfRounding::kZero;
    case ptx::Rounding::kRm:
      return HalfRounding::kDown;
    case ptx::Rounding::kRp:
      return HalfRounding::kUp;
    default:
      return HalfRounding::kNearest;
  }
}

// detail of to_half: HalfRounding, then these.
constexpr std::uint32_t kRelu = 0x100, kSaturate = 0x200, kFinite = 0x400;

template <Type type>
std::uint16_t narrow(double x, std::uint32_t detail) {
  if ((detail & kSaturate) != 0) x = x > 0 ? std::min(x, 1.0) : 0;
  if ((detail & kRelu) != 0 && !(x != x)) x = x > 0 ? x : 0;
  const auto rounding = static_cast<HalfRounding>(detail & 0xff);
  const std::uint16_t h = type == Type::kF16 ? to_f16(x, rounding) : to_bf16(x, rounding);
  const std::uint16_t infinity = type == Type::kF16 ? 0x7c00u : 0x7f80u;
  const bool overflowed = (detail & kFinite) != 0 && (h & 0x7fffu) == infinity;
  return overflowed ? static_cast<std::uint16_t>(h - 1) : h;
}

template <Type type, typename S>
const Op* to_half(const Op* op, WarpContext& warp) {
  const S* a = warp.source<S>(op->a);
  store_lanes<std::uint16_t>(
      warp, op, [=](unsigned i) { return narrow<type>(static_cast<double>(a[i]), op->detail); });
  return op + 1;
}

// cvt.f16x2.f32 d, a, b: a becomes the upper half.
template <Type type>
const Op* to_pair(const Op* op, WarpContext& warp) {
  const float* a = warp.source<float>(op->a);
  const float* b = warp.source<float>(op->b);
  store_lanes<std::uint32_t>(warp, op, [=](unsigned i) {
    return (static_cast<std::uint32_t>(narrow<type>(a[i], op->detail)) << 16) |
           narrow<type>(b[i], op->detail);
  });
  return op + 1;
}

template <Type type>
const Op* from_half(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint16_t>(op->a);
  store_lanes<float>(warp, op, [=](unsigned i) {
    const float x = half_to_float<type>(a[i]);
    return x == x ? x : std::bit_cast<float>(0x7fffffffu);
  });
  return op + 1;
}

// tf32 keeps 10 bits of the fraction; .rna rounds halves away from zero.
const Op* to_tf32(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint32_t>(op->a);
  const bool to_even = op->detail != 0;
  store_lanes<std::uint32_t>(warp, op, [=](unsigned i) {
    const std::uint32_t x = a[i];
    const bool special = (x & 0x7f800000u) == 0x7f800000u;
    const std::uint32_t add = to_even ? 0xfffu + ((x >> 13) & 1) : 0x1000u;
    return special ? x : (x + add) & ~0x1fffu;
  });
  return op + 1;
}

std::uint32_t detail_of(const ptx::Instruction& in) {
  const auto has = [&](const char* word) {
    return std::find(in.modifiers.begin(), in.modifiers.end(), word) != in.modifiers.end();
  };
  return static_cast<std::uint32_t>(half_rounding(in.rounding)) | (has("relu") ? kRelu : 0) |
         (in.sat ? kSaturate : 0) | (has("satfinite") ? kFinite : 0);
}

bool lower_pair(Builder& builder, const ptx::Instruction& in) {
  if (in.sources.size() != 2 || in.source_type != Type::kF32) return false;
  const RowOffset a = builder.source(in.sources[0], 4);
  const RowOffset b = builder.source(in.sources[1], 4);
  const RowOffset dst = builder.destination(in.destinations[0], 4);
  builder.emit(in.type == Type::kF16x2 ? to_pair<Type::kF16> : to_pair<Type::kBf16>, dst, a, b)
      .detail = detail_of(in);
  return true;
}

bool lower_tf32(Builder& builder, const ptx::Instruction& in) {
  if (in.modifiers.size() < 2 || in.source_type != Type::kF32) return false;
  if (std::find(in.modifiers.begin(), in.modifiers.end(), "tf32") == in.modifiers.end())
    return false;
  const RowOffset a = builder.source(in.sources[0], 4);
  builder.emit(to_tf32, builder.destination(in.destinations[0], 4), a).detail =
      in.rounding == ptx::Rounding::kRn ? 1 : 0;
  return true;
}

Type widened_source(Type from) {
  if (from == Type::kF16 || from == Type::kBf16) return Type::kF32;
  return from;
}

template <typename S>
Handler to_half_handler(Type to) {
  return to == Type::kF16 ? to_half<Type::kF16, S> : to_half<Type::kBf16, S>;
}

}  // namespace

bool lower_half_conversion(Builder& builder, const ptx::Instruction& in) {
  const Type to = in.type, from = in.source_type;
  if (to == Type::kF16x2 || to == Type::kBf16x2) return lower_pair(builder, in);
  if (to == Type::kOther) return lower_tf32(builder, in);
  if (from == Type::kOther || from == Type::kF16x2 || from == Type::kBf16x2) return false;
  // Everything goes through f32 (or f64), which holds all halves exactly.
  const unsigned source_bytes = std::max(ptx::bytes_of(from), 2u);
  RowOffset row = builder.source(in.sources[0], source_bytes);
  if (is_half(from)) {
    const RowOffset wide = builder.temporary(4);
    builder.emit(from == Type::kF16 ? from_half<Type::kF16> : from_half<Type::kBf16>, wide, row);
    row = wide;
  }
  Type wide_type = widened_source(from);
  if (is_half(to)) {
    const bool integral = in.rounding == ptx::Rounding::kRni ||
                          in.rounding == ptx::Rounding::kRzi ||
                          in.rounding == ptx::Rounding::kRmi || in.rounding == ptx::Rounding::kRpi;
    if (!ptx::is_float(from)) {
      const RowOffset converted = builder.temporary(8);
      ptx::Instruction plain = in;
      plain.rounding = ptx::Rounding::kRn;
      plain.sat = false;
      RowOffset integer = row;
      if (ptx::bytes_of(from) < 4) {
        integer = builder.temporary(4);
        if (!emit_conversion(builder, integer, Type::kS32, row, from, plain)) return false;
        wide_type = Type::kS32;
      }
      if (!emit_conversion(builder, converted, Type::kF64, integer, wide_type, plain)) return false;
      row = converted;
      wide_type = Type::kF64;
    } else if (integral) {
      const RowOffset whole = builder.temporary(4);
      if (!emit_conversion(builder, whole, Type::kF32, row, Type::kF32, in)) return false;
      row = whole;
    }
    const RowOffset dst = builder.destination(in.destinations[0], 2);
    builder
        .emit(wide_type == Type::kF64 ? to_half_handler<double>(to) : to_half_handler<float>(to),
              dst, row)
        .detail = detail_of(in);
    return true;
  }
  const unsigned bytes = std::max(ptx::bytes_of(to), 2u);
  return emit_conversion(builder, builder.destination(in.destinations[0], bytes), to, row,
                         Type::kF32, in);
}

}  // namespace drgpum::emulator::exec

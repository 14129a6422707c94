// SPDX-License-Identifier: Apache-2.0
// cvt between integers and f32/f64, by way of temporary rows where a type is narrow; halves are in
// ops_convert_half.cpp.

#include <algorithm>
#include <cmath>
#include <limits>

#include "emulator/exec/convert.h"
#include "emulator/exec/float_mode.h"
#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Rounding;
using ptx::Type;

// 8-bit values live in 16-bit rows.
template <typename T>
using Stored = std::conditional_t<sizeof(T) == 1, std::uint16_t, T>;

template <typename D, typename S>
const Op* integer_to_integer(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<Stored<S>>(op->a);
  store_lanes<Stored<D>>(warp, op, [=](unsigned i) {
    return static_cast<Stored<D>>(static_cast<D>(static_cast<S>(a[i])));
  });
  return op + 1;
}

template <typename D, typename S>
const Op* integer_to_integer_saturating(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<Stored<S>>(op->a);
  store_lanes<Stored<D>>(warp, op, [=](unsigned i) {
    const Int128 value = static_cast<S>(a[i]);
    const Int128 low = std::numeric_limits<D>::min(), high = std::numeric_limits<D>::max();
    return static_cast<Stored<D>>(static_cast<D>(value < low ? low : value > high ? high : value));
  });
  return op + 1;
}

template <typename S, typename D>
const Op* integer_to_float(const Op* op, WarpContext& warp) {
  const S* a = warp.source<S>(op->a);
  store_lanes<D>(warp, op, [=](unsigned i) { return static_cast<D>(a[i]); });
  return op + 1;
}

// What the device gives for NaN: zero between 32-bit types, else only the top bit.
template <typename D, typename S>
constexpr D nan_as_integer() {
  if constexpr (sizeof(S) == 4 && sizeof(D) < 8)
    return 0;
  else
    return static_cast<D>(std::make_unsigned_t<D>{1} << (8 * sizeof(D) - 1));
}

template <typename D, typename S>
D clamp_to_integer(S x) {
  // Powers of two: exact in S. The largest value below `high` that S has fits D.
  constexpr S kHigh =
      static_cast<S>(std::uint64_t{1} << (8 * sizeof(D) - 1)) * (std::is_signed_v<D> ? S{1} : S{2});
  constexpr S kLow = std::is_signed_v<D> ? -kHigh : S{0};
  if (x != x) return nan_as_integer<D, S>();
  if (x >= kHigh) return std::numeric_limits<D>::max();
  if (x <= kLow) return std::numeric_limits<D>::min();
  return static_cast<D>(x);
}

template <typename S>
S round_to_integral(S x, Rounding rounding) {
  switch (rounding) {
    case Rounding::kRni:
    case Rounding::kRn:
      return std::nearbyint(x);
    case Rounding::kRmi:
    case Rounding::kRm:
      return std::floor(x);
    case Rounding::kRpi:
    case Rounding::kRp:
      return std::ceil(x);
    default:
      return std::trunc(x);
  }
}

template <typename S>
S flush(S x) {
  if constexpr (sizeof(S) == 4) {
    const auto bits = std::bit_cast<std::uint32_t>(x);
    return (bits & 0x7f800000u) == 0 ? std::bit_cast<S>(bits & 0x80000000u) : x;
  }
  return x;
}

constexpr std::uint32_t kFlushBit = 0x100;

template <typename S, typename D>
const Op* float_to_integer(const Op* op, WarpContext& warp) {
  const S* a = warp.source<S>(op->a);
  const auto rounding = static_cast<Rounding>(op->detail & 0xff);
  const bool ftz = (op->detail & kFlushBit) != 0;
  if (rounding == Rounding::kRzi) {  // flushing makes no difference
    store_lanes<Stored<D>>(
        warp, op, [=](unsigned i) { return static_cast<Stored<D>>(clamp_to_integer<D>(a[i])); });
    return op + 1;
  }
  store_lanes<Stored<D>>(warp, op, [=](unsigned i) {
    const S x = ftz ? flush(a[i]) : a[i];
    return static_cast<Stored<D>>(clamp_to_integer<D>(round_to_integral(x, rounding)));
  });
  return op + 1;
}

template <typename T>
T quiet(T x) {
  if constexpr (sizeof(T) == 4) return x == x ? x : std::bit_cast<T>(0x7fffffffu);
  return x;
}

// Bits of `detail` of float_to_float beside its rounding: kFlushBit and this one.
constexpr std::uint32_t kSaturateBit = 0x200;

template <typename S, typename D>
const Op* float_to_float(const Op* op, WarpContext& warp) {
  const S* a = warp.source<S>(op->a);
  if (op->b != 0) {
    store_lanes<D>(warp, op, [=](unsigned i) {
      const D x = static_cast<D>(a[i]);
      return x > D{0} ? (x < D{1} ? x : D{1}) : D{0};
    });
    return op + 1;
  }
  store_lanes<D>(warp, op, [=](unsigned i) { return quiet(static_cast<D>(a[i])); });
  return op + 1;
}

template <typename T>
const Op* float_to_integral(const Op* op, WarpContext& warp) {
  const T* a = warp.source<T>(op->a);
  const auto rounding = static_cast<Rounding>(op->detail & 0xff);
  const bool ftz = (op->detail & kFlushBit) != 0;
  const bool saturate = (op->detail & kSaturateBit) != 0;
  store_lanes<T>(warp, op, [=](unsigned i) {
    const T x = quiet(round_to_integral(ftz ? flush(a[i]) : a[i], rounding));
    return saturate ? (x > T{0} ? (x < T{1} ? x : T{1}) : T{0}) : x;
  });
  return op + 1;
}

template <typename F>
Handler with_any_integer(Type type, F&& visit) {
  switch (type) {
    case Type::kB8:
    case Type::kU8:
      return visit(std::uint8_t{});
    case Type::kS8:
      return visit(std::int8_t{});
    default:
      return with_integer(type, visit);
  }
}

template <typename F>
Handler with_float(Type type, F&& visit) {
  if (type == Type::kF32) return visit(float{});
  return type == Type::kF64 ? visit(double{}) : nullptr;
}

bool is_integral(Rounding rounding) {
  return rounding == Rounding::kRni || rounding == Rounding::kRzi || rounding == Rounding::kRmi ||
         rounding == Rounding::kRpi;
}

unsigned stored_bytes(Type type) {
  return std::max(ptx::bytes_of(type), 2u);
}

Handler integer_handler(Type to, Type from, bool saturate) {
  return with_any_integer(from, [&](auto s) -> Handler {
    return with_any_integer(to, [&](auto d) -> Handler {
      using S = decltype(s);
      using D = decltype(d);
      if (saturate) return integer_to_integer_saturating<D, S>;
      return integer_to_integer<D, S>;
    });
  });
}

Type register_type(unsigned bytes, bool is_signed) {
  if (bytes == 2) return is_signed ? Type::kS16 : Type::kU16;
  if (bytes == 4) return is_signed ? Type::kS32 : Type::kU32;
  return is_signed ? Type::kS64 : Type::kU64;
}

// Signed 8- and 16-bit values are kept sign-extended in wider registers.
void extend_to_register(Builder& builder, const ptx::Operand& to, RowOffset row, Type type) {
  const unsigned width = builder.register_bytes(to.index);
  const Handler handler = integer_handler(register_type(width, ptx::is_signed(type)), type, false);
  builder.emit(handler, builder.destination(to, width), row);
}

}  // namespace

bool emit_conversion(Builder& builder, RowOffset dst, Type to, RowOffset source, Type from,
                     const ptx::Instruction& in) {
  const bool from_float = ptx::is_float(from), to_float = ptx::is_float(to);
  if (!from_float && !to_float) {
    const Handler handler = integer_handler(to, from, in.sat);
    if (handler == nullptr) return false;
    builder.emit(handler, dst, source);
    return true;
  }
  if (!from_float) {
    const Handler handler = with_integer(from, [&](auto s) -> Handler {
      return with_float(to, [&](auto d) -> Handler {
        if constexpr (sizeof(s) < 4)
          return nullptr;
        else
          return integer_to_float<decltype(s), decltype(d)>;
      });
    });
    if (handler == nullptr) return false;
    set_float_mode(builder.emit(handler, dst, source), mxcsr_of(in.rounding, false));
    return true;
  }
  if (!to_float) {
    const Handler handler = with_float(from, [&](auto s) -> Handler {
      return with_any_integer(
          to, [&](auto d) -> Handler { return float_to_integer<decltype(s), decltype(d)>; });
    });
    if (handler == nullptr) return false;
    builder.emit(handler, dst, source).detail =
        static_cast<std::uint32_t>(in.rounding) | (in.ftz ? kFlushBit : 0);
    return true;
  }
  if (from == to && is_integral(in.rounding)) {
    builder
        .emit(from == Type::kF32 ? float_to_integral<float> : float_to_integral<double>, dst,
              source)
        .detail = static_cast<std::uint32_t>(in.rounding) | (in.ftz ? kFlushBit : 0) |
                  (in.sat ? kSaturateBit : 0);
    return true;
  }
  const Handler handler = with_float(from, [&](auto s) -> Handler {
    return with_float(to,
                      [&](auto d) -> Handler { return float_to_float<decltype(s), decltype(d)>; });
  });
  if (handler == nullptr) return false;
  set_float_mode(builder.emit(handler, dst, source, in.sat ? 1 : 0), mxcsr_of(in.rounding, in.ftz));
  return true;
}

bool lower_convert(Builder& builder, const ptx::Instruction& in) {
  if (in.opcode != ptx::Opcode::kCvt) return false;
  const Type to = in.type, from = in.source_type;
  const bool other = to == Type::kOther || from == Type::kOther;
  if (other && lower_fp8_conversion(builder, in)) return true;
  if (is_half(to) || is_half(from) || other) return lower_half_conversion(builder, in);
  RowOffset source = builder.source(in.sources[0], stored_bytes(from));
  Type source_type = from;
  if (ptx::is_float(to) && ptx::bytes_of(from) < 4) {  // narrow integers go through s32
    const RowOffset wide = builder.temporary(4);
    builder.emit(integer_handler(Type::kS32, from, false), wide, source);
    source = wide;
    source_type = Type::kS32;
  }
  const ptx::Operand& target = in.destinations[0];
  const bool extend = !ptx::is_float(to) && ptx::is_signed(to) &&
                      target.kind == ptx::OperandKind::kRegister &&
                      builder.register_bytes(target.index) > stored_bytes(to);
  const RowOffset dst =
      extend ? builder.temporary(stored_bytes(to)) : builder.destination(target, stored_bytes(to));
  if (!emit_conversion(builder, dst, to, source, source_type, in)) return false;
  if (extend) extend_to_register(builder, target, dst, to);
  return true;
}

}  // namespace drgpum::emulator::exec

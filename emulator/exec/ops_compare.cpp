// SPDX-License-Identifier: Apache-2.0
// setp and set.

#include <cmath>

#include "emulator/exec/float_mode.h"
#include "emulator/exec/half.h"
#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::BoolOp;
using ptx::Compare;
using ptx::Opcode;
using ptx::Type;

template <Compare compare, typename T>
bool holds(T a, T b) {
  switch (compare) {
    case Compare::kEq:
      return a == b;
    case Compare::kNe:
      return a < b || a > b;  // false for NaN
    case Compare::kLt:
      return a < b;
    case Compare::kLe:
      return a <= b;
    case Compare::kGt:
      return a > b;
    case Compare::kGe:
      return a >= b;
    case Compare::kEqu:
      return !(a < b || a > b);
    case Compare::kNeu:
      return a != b;
    case Compare::kLtu:
      return !(a >= b);
    case Compare::kLeu:
      return !(a > b);
    case Compare::kGtu:
      return !(a <= b);
    case Compare::kGeu:
      return !(a < b);
    case Compare::kNum:
      return a == a && b == b;
    case Compare::kNan:
      return a != a || b != b;
    default:
      return false;
  }
}

// detail of a comparison whose result is combined with predicate c: its BoolOp, and kNegated.
constexpr std::uint32_t kNegated = 0x100;

std::uint32_t combine(std::uint32_t held, const Op* op, const WarpContext& warp) {
  const auto bool_op = static_cast<BoolOp>(op->detail & 0xff);
  if (bool_op == BoolOp::kNone) return held;
  const std::uint32_t c =
      *warp.source<std::uint32_t>(op->c) ^ ((op->detail & kNegated) != 0 ? ~0u : 0u);
  if (bool_op == BoolOp::kAnd) return held & c;
  return bool_op == BoolOp::kOr ? held | c : held ^ c;
}

// The second predicate of setp p|q, whose row is in `immediate`: the negated comparison, combined.
inline void write_second(std::uint32_t held, const Op* op, const WarpContext& warp) {
  if (op->immediate != 0)
    warp.write_predicate(static_cast<RowOffset>(op->immediate - 1), combine(~held, op, warp));
}

template <Compare compare, typename T>
const Op* compare_rows(const Op* op, WarpContext& warp) {
  const T* a = warp.source<T>(op->a);
  const T* b = warp.source<T>(op->b);
  const std::uint32_t held = lanes_where<T>([=](unsigned i) { return holds<compare>(a[i], b[i]); });
  if (op->detail == 0 && op->immediate == 0) [[likely]] {
    warp.write_predicate(op->dst, held);
    return op + 1;
  }
  // c may be the row of p.
  const std::uint32_t first = combine(held, op, warp);
  write_second(held, op, warp);
  warp.write_predicate(op->dst, first);
  return op + 1;
}

template <typename T>
Handler integer_compare(Compare compare) {
  switch (compare) {
    case Compare::kEq:
      return compare_rows<Compare::kEq, T>;
    case Compare::kNe:
      return compare_rows<Compare::kNeu, T>;
    case Compare::kLt:
    case Compare::kLo:
      return compare_rows<Compare::kLt, T>;
    case Compare::kLe:
    case Compare::kLs:
      return compare_rows<Compare::kLe, T>;
    case Compare::kGt:
    case Compare::kHi:
      return compare_rows<Compare::kGt, T>;
    case Compare::kGe:
    case Compare::kHs:
      return compare_rows<Compare::kGe, T>;
    default:
      return nullptr;
  }
}

template <typename T>
Handler float_compare(Compare compare) {
  switch (compare) {
    case Compare::kEq:
      return compare_rows<Compare::kEq, T>;
    case Compare::kNe:
      return compare_rows<Compare::kNe, T>;
    case Compare::kLt:
      return compare_rows<Compare::kLt, T>;
    case Compare::kLe:
      return compare_rows<Compare::kLe, T>;
    case Compare::kGt:
      return compare_rows<Compare::kGt, T>;
    case Compare::kGe:
      return compare_rows<Compare::kGe, T>;
    case Compare::kEqu:
      return compare_rows<Compare::kEqu, T>;
    case Compare::kNeu:
      return compare_rows<Compare::kNeu, T>;
    case Compare::kLtu:
      return compare_rows<Compare::kLtu, T>;
    case Compare::kLeu:
      return compare_rows<Compare::kLeu, T>;
    case Compare::kGtu:
      return compare_rows<Compare::kGtu, T>;
    case Compare::kGeu:
      return compare_rows<Compare::kGeu, T>;
    case Compare::kNum:
      return compare_rows<Compare::kNum, T>;
    case Compare::kNan:
      return compare_rows<Compare::kNan, T>;
    default:
      return nullptr;
  }
}

Handler compare_handler(Type type, Compare compare) {
  // .lo .ls .hi .hs compare without sign whatever the type says.
  const bool unsigned_words = compare == Compare::kLo || compare == Compare::kLs ||
                              compare == Compare::kHi || compare == Compare::kHs;
  if (type == Type::kF32) return float_compare<float>(compare);
  if (type == Type::kF64) return float_compare<double>(compare);
  if (unsigned_words)
    return with_bits(ptx::bytes_of(type),
                     [&](auto t) -> Handler { return integer_compare<decltype(t)>(compare); });
  return with_integer(type,
                      [&](auto t) -> Handler { return integer_compare<decltype(t)>(compare); });
}

// f16 and bf16 rows, widened to f32 for comparison; x2 types give two predicates.
template <Type type>
const Op* widen_half(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint16_t>(op->a);
  store_lanes<float>(warp, op, [=](unsigned i) { return half_to_float<type>(a[i]); });
  return op + 1;
}

// The low (detail 0) or high half of packed rows.
const Op* unpack_half(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint32_t>(op->a);
  const unsigned shift = op->detail * 16;
  store_lanes<std::uint16_t>(warp, op,
                             [=](unsigned i) { return static_cast<std::uint16_t>(a[i] >> shift); });
  return op + 1;
}

RowOffset widened(Builder& builder, const ptx::Operand& operand, Type type) {
  const RowOffset row = builder.source(operand, 2);
  const RowOffset wide = builder.temporary(4);
  builder.emit(type == Type::kF16 ? widen_half<Type::kF16> : widen_half<Type::kBf16>, wide, row);
  return wide;
}

struct Comparison {
  Handler handler;
  RowOffset a;
  RowOffset b;
};

Comparison comparison(Builder& builder, const ptx::Instruction& in, Type type) {
  if (type == Type::kF16 || type == Type::kBf16) {
    const RowOffset a = widened(builder, in.sources[0], type);
    return {float_compare<float>(in.compare), a, widened(builder, in.sources[1], type)};
  }
  const unsigned bytes = ptx::bytes_of(type);
  const RowOffset a = builder.source(in.sources[0], bytes);
  return {compare_handler(type, in.compare), a, builder.source(in.sources[1], bytes)};
}

void set_combination(Builder& builder, const ptx::Instruction& in, Op& op) {
  if (in.bool_op == BoolOp::kNone || in.sources.size() < 3) return;
  op.c = builder.predicate(in.sources[2]);
  op.detail = static_cast<std::uint32_t>(in.bool_op) | (in.sources[2].negated ? kNegated : 0);
}

bool lower_packed_setp(Builder& builder, const ptx::Instruction& in) {
  const Type half = in.type == Type::kF16x2 ? Type::kF16 : Type::kBf16;
  RowOffset rows[2][2];
  for (unsigned side = 0; side < 2; ++side) {
    const RowOffset packed = builder.source(in.sources[side], 4);
    for (unsigned part = 0; part < 2; ++part) {
      const RowOffset row = builder.temporary(2);
      builder.emit(unpack_half, row, packed).detail = part;
      rows[side][part] = builder.temporary(4);
      builder.emit(half == Type::kF16 ? widen_half<Type::kF16> : widen_half<Type::kBf16>,
                   rows[side][part], row);
    }
  }
  for (unsigned part = 0; part < in.destinations.size() && part < 2; ++part) {
    if (in.destinations[part].kind != ptx::OperandKind::kRegister) continue;
    Op& op = builder.emit(float_compare<float>(in.compare),
                          builder.predicate(in.destinations[part]), rows[0][part], rows[1][part]);
    set_combination(builder, in, op);
  }
  return true;
}

bool lower_setp(Builder& builder, const ptx::Instruction& in) {
  if (in.type == Type::kF16x2 || in.type == Type::kBf16x2) return lower_packed_setp(builder, in);
  const Comparison c = comparison(builder, in, in.type);
  if (c.handler == nullptr) return false;
  const bool first = in.destinations[0].kind == ptx::OperandKind::kRegister;
  const RowOffset p = first ? builder.predicate(in.destinations[0]) : builder.temporary(4);
  Op& op = builder.emit(c.handler, p, c.a, c.b);
  set_combination(builder, in, op);
  if (in.destinations.size() > 1 && in.destinations[1].kind == ptx::OperandKind::kRegister)
    op.immediate = static_cast<std::uint64_t>(builder.predicate(in.destinations[1])) + 1;
  const bool is_float = in.type == Type::kF32;
  if (is_float && in.ftz) {
    // immediate and detail are taken: flush the operands first.
    const Op compare = op;
    builder.out().ops.pop_back();
    const RowOffset a = builder.temporary(4), b = builder.temporary(4);
    builder.emit(kFlushRow, a, compare.a);
    builder.emit(kFlushRow, b, compare.b);
    Op& again = builder.emit(compare.run, compare.dst, a, b, compare.c);
    again.detail = compare.detail;
    again.immediate = compare.immediate;
  }
  return true;
}

// set: 1.0 or all ones where the predicate in a holds.
template <typename T>
const Op* spread(const Op* op, WarpContext& warp) {
  const std::uint32_t lanes = *warp.source<std::uint32_t>(op->a);
  const T value = static_cast<T>(op->immediate);
  store_lanes<T>(warp, op, [=](unsigned i) { return ((lanes >> i) & 1) != 0 ? value : T{0}; });
  return op + 1;
}

bool lower_set(Builder& builder, const ptx::Instruction& in) {
  const Type source = in.source_type == Type::kNone ? in.type : in.source_type;
  const unsigned bytes = ptx::bytes_of(in.type);
  const Comparison c = comparison(builder, in, source);
  if (c.handler == nullptr || (bytes != 4 && bytes != 2)) return false;
  if (in.type == Type::kF16x2 || in.type == Type::kBf16x2) return false;
  const RowOffset lanes = builder.temporary(4);
  set_combination(builder, in, builder.emit(c.handler, lanes, c.a, c.b));
  Op& op = builder.emit(bytes == 4 ? spread<std::uint32_t> : spread<std::uint16_t>,
                        builder.destination(in.destinations[0], bytes), lanes);
  op.immediate = in.type == Type::kF32    ? std::bit_cast<std::uint32_t>(1.0f)
                 : in.type == Type::kF16  ? 0x3c00u
                 : in.type == Type::kBf16 ? 0x3f80u
                                          : 0xffffffffu;
  return true;
}

const Op* flush_row(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint32_t>(op->a);
  store_lanes<std::uint32_t>(
      warp, op, [=](unsigned i) { return (a[i] & 0x7f800000u) == 0 ? a[i] & 0x80000000u : a[i]; });
  return op + 1;
}

}  // namespace

const Handler kFlushRow = flush_row;

bool lower_compare(Builder& builder, const ptx::Instruction& in) {
  if (in.opcode == Opcode::kSetp) return lower_setp(builder, in);
  return in.opcode == Opcode::kSet && lower_set(builder, in);
}

}  // namespace drgpum::emulator::exec

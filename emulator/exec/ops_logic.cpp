// SPDX-License-Identifier: Apache-2.0
// and, or, xor, not, cnot, shl, shr, shf, lop3; also on predicates.

#include <algorithm>

#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::Type;

struct And {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <typename T>
  static T apply(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <typename T>
  static T apply(T a) {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <typename T>
  static T apply(T a) {
    return a == 0 ? T{1} : T{0};
  }
};

// Shift amounts past the width clamp: zeros, or the sign.
struct ShiftLeft {
  template <typename T>
  static T apply(T a, std::uint32_t n) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    return n >= kBits ? T{0} : static_cast<T>(a << (n % kBits));
  }
};
struct ShiftRight {
  template <typename T>
  static T apply(T a, std::uint32_t n) {
    constexpr std::uint32_t kBits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (n >= kBits ? kBits - 1 : n));
    return n >= kBits ? T{0} : static_cast<T>(a >> (n % kBits));
  }
};

template <typename T, typename Operation>
const Op* shift(const Op* op, WarpContext& warp) {
  const T* a = warp.source<T>(op->a);
  const std::uint32_t* n = warp.source<std::uint32_t>(op->b);
  store_lanes<T>(warp, op, [=](unsigned i) { return Operation::apply(a[i], n[i]); });
  return op + 1;
}

template <bool right, bool clamp>
struct Funnel {
  static std::uint32_t apply(std::uint32_t low, std::uint32_t high, std::uint32_t n) {
    const std::uint64_t both = (std::uint64_t{high} << 32) | low;
    const std::uint32_t by = clamp ? std::min(n, 32u) : n & 31;
    return static_cast<std::uint32_t>(right ? both >> by : (both << by) >> 32);
  }
};

Handler funnel_handler(const ptx::Instruction& in) {
  using U = std::uint32_t;
  if (in.right)
    return in.clamp ? ternary<U, U, U, Funnel<true, true>> : ternary<U, U, U, Funnel<true, false>>;
  return in.clamp ? ternary<U, U, U, Funnel<false, true>> : ternary<U, U, U, Funnel<false, false>>;
}

const Op* lop3(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint32_t>(op->a);
  const auto* b = warp.source<std::uint32_t>(op->b);
  const auto* c = warp.source<std::uint32_t>(op->c);
  // One all-ones or all-zeros word per row of the truth table.
  std::uint32_t table[8];
  for (unsigned i = 0; i < 8; ++i)
    table[i] = ((op->detail >> i) & 1) != 0 ? ~0u : 0u;
  store_lanes<std::uint32_t>(warp, op, [=](unsigned i) {
    const std::uint32_t x = a[i], y = b[i], z = c[i];
    return (~x & ~y & ~z & table[0]) | (~x & ~y & z & table[1]) | (~x & y & ~z & table[2]) |
           (~x & y & z & table[3]) | (x & ~y & ~z & table[4]) | (x & ~y & z & table[5]) |
           (x & y & ~z & table[6]) | (x & y & z & table[7]);
  });
  return op + 1;
}

// lop3.or/.and d|p: p = (d != 0) op q. c: q; immediate: 1 for .and.
const Op* lop3_predicate(const Op* op, WarpContext& warp) {
  const auto* d = warp.source<std::uint32_t>(op->a);
  const std::uint32_t set = lanes_where([=](unsigned i) { return d[i] != 0; });
  const std::uint32_t q = *warp.source<std::uint32_t>(op->b) ^ (op->detail != 0 ? ~0u : 0u);
  warp.write_predicate(op->dst, op->immediate != 0 ? (set & q) : (set | q));
  return op + 1;
}

template <typename Operation>
const Op* predicate_binary(const Op* op, WarpContext& warp) {
  warp.write_predicate(op->dst, Operation::apply(*warp.source<std::uint32_t>(op->a),
                                                 *warp.source<std::uint32_t>(op->b)));
  return op + 1;
}

const Op* predicate_not(const Op* op, WarpContext& warp) {
  warp.write_predicate(op->dst, ~*warp.source<std::uint32_t>(op->a));
  return op + 1;
}

bool lower_predicate(Builder& builder, const ptx::Instruction& in) {
  const RowOffset a = builder.predicate(in.sources[0]);
  const RowOffset dst = builder.predicate(in.destinations[0]);
  switch (in.opcode) {
    case Opcode::kAnd:
      builder.emit(predicate_binary<And>, dst, a, builder.predicate(in.sources[1]));
      return true;
    case Opcode::kOr:
      builder.emit(predicate_binary<Or>, dst, a, builder.predicate(in.sources[1]));
      return true;
    case Opcode::kXor:
      builder.emit(predicate_binary<Xor>, dst, a, builder.predicate(in.sources[1]));
      return true;
    case Opcode::kNot:
      builder.emit(predicate_not, dst, a);
      return true;
    default:
      return false;
  }
}

bool lower_shift(Builder& builder, const ptx::Instruction& in) {
  const unsigned bytes = ptx::bytes_of(in.type);
  const Handler handler =
      in.opcode == Opcode::kShl
          ? with_bits(bytes, [](auto t) -> Handler { return shift<decltype(t), ShiftLeft>; })
          : with_integer(in.type, [](auto t) -> Handler { return shift<decltype(t), ShiftRight>; });
  if (handler == nullptr) return false;
  const RowOffset a = builder.source(in.sources[0], bytes);
  const RowOffset n = builder.source(in.sources[1], 4);
  builder.emit(handler, builder.destination(in.destinations[0], bytes), a, n);
  return true;
}

bool lower_lop3(Builder& builder, const ptx::Instruction& in) {
  const RowOffset a = builder.source(in.sources[0], 4);
  const RowOffset b = builder.source(in.sources[1], 4);
  const RowOffset c = builder.source(in.sources[2], 4);
  const RowOffset dst = builder.destination(in.destinations[0], 4);
  builder.emit(lop3, dst, a, b, c).detail = static_cast<std::uint32_t>(in.sources[3].bits);
  if (in.bool_op == ptx::BoolOp::kNone || in.destinations.size() < 2) return true;
  Op& op = builder.emit(lop3_predicate, builder.predicate(in.destinations[1]), dst,
                        builder.predicate(in.sources[4]));
  op.detail = in.sources[4].negated ? 1 : 0;
  op.immediate = in.bool_op == ptx::BoolOp::kAnd ? 1 : 0;
  return true;
}

template <typename Operation>
Handler bits_handler(unsigned bytes) {
  return with_bits(bytes, [](auto t) -> Handler {
    using T = decltype(t);
    return binary<T, T, Operation>;
  });
}

}  // namespace

bool lower_logic(Builder& builder, const ptx::Instruction& in) {
  const bool predicates = in.type == Type::kPred;
  const unsigned bytes = ptx::bytes_of(in.type);
  switch (in.opcode) {
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor: {
      if (predicates) return lower_predicate(builder, in);
      const Handler handler = in.opcode == Opcode::kAnd  ? bits_handler<And>(bytes)
                              : in.opcode == Opcode::kOr ? bits_handler<Or>(bytes)
                                                         : bits_handler<Xor>(bytes);
      return handler != nullptr && emit_binary(builder, in, handler, bytes, bytes);
    }
    case Opcode::kNot:
    case Opcode::kCnot: {
      if (predicates) return lower_predicate(builder, in);
      const bool negate = in.opcode == Opcode::kNot;
      const Handler handler = with_bits(bytes, [&](auto t) -> Handler {
        using T = decltype(t);
        return negate ? Handler{unary<T, T, Not>} : Handler{unary<T, T, Cnot>};
      });
      return handler != nullptr && emit_unary(builder, in, handler, bytes, bytes);
    }
    case Opcode::kShl:
    case Opcode::kShr:
      return lower_shift(builder, in);
    case Opcode::kShf:
      return emit_ternary(builder, in, funnel_handler(in), 4, 4, 4);
    case Opcode::kLop3:
      return lower_lop3(builder, in);
    default:
      return false;
  }
}

}  // namespace drgpum::emulator::exec

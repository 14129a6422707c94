// SPDX-License-Identifier: Apache-2.0
// Extended precision: add.cc, addc, sub.cc, subc, mad.cc, madc. The carry flag is a predicate row
// of the frame.

#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Half;
using ptx::Opcode;
using ptx::Type;

template <typename T>
struct Wider;
template <>
struct Wider<std::uint32_t> {
  using type = std::uint64_t;
  using signed_type = std::int64_t;
};
template <>
struct Wider<std::uint64_t> {
  using type = Uint128;
  using signed_type = Int128;
};

// detail of these ops.
constexpr std::uint32_t kCarryIn = 1, kCarryOut = 2;

// The carry row's offset is in `immediate`. sum(i, carry) gives the wide result of lane i: its bit
// at T's width is the carry out (or the borrow: the flag of sub is a borrow flag).
template <typename T, typename F>
void with_carry(const Op* op, WarpContext& warp, F&& sum) {
  const auto flags = static_cast<RowOffset>(op->immediate);
  const std::uint32_t carry_in = (op->detail & kCarryIn) != 0 ? warp.predicate(flags) : 0;
  std::uint32_t carry_out = 0;
  for (unsigned i = 0; i < kLanes; ++i)
    carry_out |= static_cast<std::uint32_t>((sum(i, (carry_in >> i) & 1) >> (8 * sizeof(T))) & 1)
                 << i;
  store_lanes<T>(warp, op, [&](unsigned i) { return static_cast<T>(sum(i, (carry_in >> i) & 1)); });
  if ((op->detail & kCarryOut) != 0) warp.write_predicate(flags, carry_out);
}

template <typename T>
const Op* add_carry(const Op* op, WarpContext& warp) {
  using W = typename Wider<T>::type;
  const T* a = warp.source<T>(op->a);
  const T* b = warp.source<T>(op->b);
  with_carry<T>(op, warp, [=](unsigned i, std::uint32_t carry) { return W{a[i]} + b[i] + carry; });
  return op + 1;
}

template <typename T>
const Op* subtract_borrow(const Op* op, WarpContext& warp) {
  using W = typename Wider<T>::type;
  const T* a = warp.source<T>(op->a);
  const T* b = warp.source<T>(op->b);
  with_carry<T>(op, warp,
                [=](unsigned i, std::uint32_t borrow) { return W{a[i]} - b[i] - borrow; });
  return op + 1;
}

// The half of a * b, plus c.
template <typename T, bool is_signed, bool high>
const Op* multiply_add_carry(const Op* op, WarpContext& warp) {
  using W = typename Wider<T>::type;
  using S = typename Wider<T>::signed_type;
  const T* a = warp.source<T>(op->a);
  const T* b = warp.source<T>(op->b);
  const T* c = warp.source<T>(op->c);
  with_carry<T>(op, warp, [=](unsigned i, std::uint32_t carry) {
    const W product =
        is_signed ? static_cast<W>(static_cast<S>(static_cast<std::make_signed_t<T>>(a[i])) *
                                   static_cast<std::make_signed_t<T>>(b[i]))
                  : W{a[i]} * b[i];
    const T half = static_cast<T>(high ? product >> (8 * sizeof(T)) : product);
    return W{half} + c[i] + carry;
  });
  return op + 1;
}

template <typename T>
Handler multiply_handler(const ptx::Instruction& in) {
  if (in.half != Half::kHi) return multiply_add_carry<T, false, false>;
  const bool is_signed = ptx::is_signed(in.type);
  return is_signed ? multiply_add_carry<T, true, true> : multiply_add_carry<T, false, true>;
}

template <typename T>
Handler handler_of(const ptx::Instruction& in) {
  switch (in.opcode) {
    case Opcode::kAdd:
    case Opcode::kAddc:
      return add_carry<T>;
    case Opcode::kSub:
    case Opcode::kSubc:
      return subtract_borrow<T>;
    case Opcode::kMad:
    case Opcode::kMadc:
      return multiply_handler<T>(in);
    default:
      return nullptr;
  }
}

}  // namespace

bool lower_carry(Builder& builder, const ptx::Instruction& in) {
  const bool carry_in =
      in.opcode == Opcode::kAddc || in.opcode == Opcode::kSubc || in.opcode == Opcode::kMadc;
  if (!carry_in && !in.carry_out) return false;
  const unsigned bytes = ptx::bytes_of(in.type);
  const Handler handler = bytes == 8   ? handler_of<std::uint64_t>(in)
                          : bytes == 4 ? handler_of<std::uint32_t>(in)
                                       : nullptr;
  if (handler == nullptr) return false;
  if (in.sources.size() == 3) {
    emit_ternary(builder, in, handler, bytes, bytes, bytes);
  } else {
    emit_binary(builder, in, handler, bytes, bytes);
  }
  Op& op = builder.out().ops.back();
  op.detail = (carry_in ? kCarryIn : 0) | (in.carry_out ? kCarryOut : 0);
  op.immediate = static_cast<std::uint64_t>(builder.carry_row());
  return true;
}

}  // namespace drgpum::emulator::exec

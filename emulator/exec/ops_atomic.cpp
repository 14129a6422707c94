// SPDX-License-Identifier: Apache-2.0
// atom and red. Lanes go one after the other, lowest first; with several workers each operation is
// also atomic among the host's threads.

#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/exec/half.h"
#include "emulator/exec/memory_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::AtomOp;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::Type;
// Operations on the bits of a memory word: `value` is the operand, `compare` that of cas.
struct Add {
  template <typename T>
  static T apply(T old, T value, T) {
    if constexpr (std::is_integral_v<T>) {
      using U = std::make_unsigned_t<T>;
      return static_cast<T>(static_cast<U>(old) + static_cast<U>(value));
    } else {
      return old + value;
    }
  }
};
struct Min {
  template <typename T>
  static T apply(T old, T value, T) {
    return std::min(old, value);
  }
};
struct Max {
  template <typename T>
  static T apply(T old, T value, T) {
    return std::max(old, value);
  }
};
struct Inc {
  template <typename T>
  static T apply(T old, T limit, T) {
    return old >= limit ? T{0} : static_cast<T>(old + 1);
  }
};
struct Dec {
  template <typename T>
  static T apply(T old, T limit, T) {
    return old == 0 || old > limit ? limit : static_cast<T>(old - 1);
  }
};
struct And {
  template <typename T>
  static T apply(T old, T value, T) {
    return static_cast<T>(old & value);
  }
};
struct Or {
  template <typename T>
  static T apply(T old, T value, T) {
    return static_cast<T>(old | value);
  }
};
struct Xor {
  template <typename T>
  static T apply(T old, T value, T) {
    return static_cast<T>(old ^ value);
  }
};
struct Exchange {
  template <typename T>
  static T apply(T, T value, T) {
    return value;
  }
};
// cas: a is compared, b is stored.
struct CompareSwap {
  template <typename T>
  static T apply(T old, T compare, T value) {
    return old == compare ? value : old;
  }
};

template <Type type>
struct HalfAdd {
  static std::uint16_t one(std::uint16_t a, std::uint16_t b) {
    const double sum = double{half_to_float<type>(a)} + double{half_to_float<type>(b)};
    return type == Type::kF16 ? to_f16(sum) : to_bf16(sum);
  }
  template <typename T>
  static T apply(T old, T value, T) {
    if constexpr (sizeof(T) == 2)
      return one(old, value);
    else
      return static_cast<T>(
          one(static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(value)) |
          (std::uint32_t{
               one(static_cast<std::uint16_t>(old >> 16), static_cast<std::uint16_t>(value >> 16))}
           << 16));
  }
};

template <std::size_t bytes>
struct BitsOf;
template <>
struct BitsOf<2> {
  using type = std::uint16_t;
};
template <>
struct BitsOf<4> {
  using type = std::uint32_t;
};
template <>
struct BitsOf<8> {
  using type = std::uint64_t;
};

// One read-modify-write of the host's memory; returns the old value.
template <typename T, typename Operation>
T modify(std::byte* at, T a, T b, bool shared) {
  T old;
  if (!shared) {
    std::memcpy(&old, at, sizeof old);
    const T updated = Operation::apply(old, a, b);
    std::memcpy(at, &updated, sizeof updated);
    return old;
  }
  if constexpr (sizeof(T) == 16) {
    // No lock-free 16-byte operation without further instruction sets: one lock serves all.
    static std::mutex mutex;
    const std::scoped_lock lock(mutex);
    return modify<T, Operation>(at, a, b, false);
  } else {
    using Bits = typename BitsOf<sizeof(T)>::type;
    auto* word = reinterpret_cast<Bits*>(at);
    Bits expected = __atomic_load_n(word, __ATOMIC_RELAXED);
    for (;;) {
      old = std::bit_cast<T>(expected);
      const Bits updated = std::bit_cast<Bits>(Operation::apply(old, a, b));
      if (__atomic_compare_exchange_n(word, &expected, updated, false, __ATOMIC_SEQ_CST,
                                      __ATOMIC_RELAXED))
        return old;
    }
  }
}

// dst (immediate != 0): the old values; a, b: rows of the operands.
template <typename T, typename Operation>
const Op* atomic(const Op* op, WarpContext& warp) {
  const MemoryAccess& access = *static_cast<const MemoryAccess*>(op->extra);
  if (!resolve_access(warp, op, access)) return nullptr;
  const bool shared = warp.worker->launch->shared_atomics && access.where == Where::kGeneric;
  const T* a = warp.source<T>(op->a);
  const T* b = warp.source<T>(op->b);
  T* dst = warp.target<T>(op->dst);
  const bool wants_old = op->immediate != 0;
  for_lanes(warp.mask, [&](unsigned i) {
    const T old = modify<T, Operation>(warp.pointers[i], a[i], b[i], shared);
    if (wants_old) dst[i] = old;
  });
  return op + 1;
}

// Vectors (.v2.f32 ...) and what else has several elements: element k of row list.
template <typename T, typename Operation>
const Op* atomic_vector(const Op* op, WarpContext& warp) {
  const MemoryAccess& access = *static_cast<const MemoryAccess*>(op->extra);
  const auto& old_rows = *reinterpret_cast<const std::vector<std::int32_t>*>(op->immediate);
  if (!resolve_access(warp, op, access)) return nullptr;
  const bool shared = warp.worker->launch->shared_atomics && access.where == Where::kGeneric;
  for_lanes(warp.mask, [&](unsigned i) {
    for (unsigned k = 0; k < access.count; ++k) {
      const T value = warp.source<T>(access.rows[k])[i];
      const T old = modify<T, Operation>(warp.pointers[i] + k * sizeof(T), value, value, shared);
      if (!old_rows.empty()) warp.target<T>(old_rows[k])[i] = old;
    }
  });
  return op + 1;
}

template <typename T>
Handler bitwise(AtomOp op) {
  switch (op) {
    case AtomOp::kAnd:
      return atomic<T, And>;
    case AtomOp::kOr:
      return atomic<T, Or>;
    case AtomOp::kXor:
      return atomic<T, Xor>;
    case AtomOp::kExch:
      return atomic<T, Exchange>;
    case AtomOp::kCas:
      return atomic<T, CompareSwap>;
    case AtomOp::kAdd:
      return atomic<T, Add>;
    default:
      return nullptr;
  }
}

template <typename T>
Handler ordered(AtomOp op) {
  switch (op) {
    case AtomOp::kMin:
      return atomic<T, Min>;
    case AtomOp::kMax:
      return atomic<T, Max>;
    case AtomOp::kInc:
      return atomic<T, Inc>;
    case AtomOp::kDec:
      return atomic<T, Dec>;
    default:
      return nullptr;
  }
}

Handler integer_handler(AtomOp op, Type type) {
  const bool is_ordered =
      op == AtomOp::kMin || op == AtomOp::kMax || op == AtomOp::kInc || op == AtomOp::kDec;
  switch (type) {
    case Type::kS32:
      return is_ordered ? ordered<std::int32_t>(op) : bitwise<std::uint32_t>(op);
    case Type::kS64:
      return is_ordered ? ordered<std::int64_t>(op) : bitwise<std::uint64_t>(op);
    case Type::kU32:
    case Type::kB32:
      return is_ordered ? ordered<std::uint32_t>(op) : bitwise<std::uint32_t>(op);
    case Type::kU64:
    case Type::kB64:
      return is_ordered ? ordered<std::uint64_t>(op) : bitwise<std::uint64_t>(op);
    case Type::kB16:
      return op == AtomOp::kCas    ? Handler{atomic<std::uint16_t, CompareSwap>}
             : op == AtomOp::kExch ? Handler{atomic<std::uint16_t, Exchange>}
                                   : nullptr;
    case Type::kB128:
      return op == AtomOp::kCas    ? Handler{atomic<Uint128, CompareSwap>}
             : op == AtomOp::kExch ? Handler{atomic<Uint128, Exchange>}
                                   : nullptr;
    default:
      return nullptr;
  }
}

Handler handler_of(AtomOp op, Type type, bool vector) {
  if (op == AtomOp::kAdd) {
    switch (type) {
      case Type::kF32:
        return vector ? atomic_vector<float, Add> : atomic<float, Add>;
      case Type::kF64:
        return atomic<double, Add>;
      case Type::kF16:
        return vector ? atomic_vector<std::uint16_t, HalfAdd<Type::kF16>>
                      : atomic<std::uint16_t, HalfAdd<Type::kF16>>;
      case Type::kBf16:
        return vector ? atomic_vector<std::uint16_t, HalfAdd<Type::kBf16>>
                      : atomic<std::uint16_t, HalfAdd<Type::kBf16>>;
      case Type::kF16x2:
        return vector ? atomic_vector<std::uint32_t, HalfAdd<Type::kF16>>
                      : atomic<std::uint32_t, HalfAdd<Type::kF16>>;
      case Type::kBf16x2:
        return vector ? atomic_vector<std::uint32_t, HalfAdd<Type::kBf16>>
                      : atomic<std::uint32_t, HalfAdd<Type::kBf16>>;
      default:
        break;
    }
  }
  return vector ? nullptr : integer_handler(op, type);
}

bool lower_vector(Builder& builder, const ptx::Instruction& in, MemoryAccess& access,
                  const ptx::Operand& value, Handler handler, unsigned bytes) {
  access.count = value.count;
  for (unsigned k = 0; k < value.count; ++k)
    access.rows[k] = builder.source(builder.element(value, k), bytes);
  auto& old_rows = builder.out().lists.emplace_back();
  if (in.opcode == Opcode::kAtom && in.destinations[0].kind == OperandKind::kVector)
    for (unsigned k = 0; k < value.count; ++k)
      old_rows.push_back(builder.destination(builder.element(in.destinations[0], k), bytes));
  Op& op = builder.emit(handler);
  op.extra = &access;
  op.immediate = reinterpret_cast<std::uint64_t>(&old_rows);
  return true;
}

}  // namespace

bool lower_atomic(Builder& builder, const ptx::Instruction& in) {
  if (in.opcode != Opcode::kAtom && in.opcode != Opcode::kRed) return false;
  const auto addresses = addresses_of(in);
  auto values = values_of(in);
  const bool wants_old = in.opcode == Opcode::kAtom;
  if (wants_old && !values.empty()) values.erase(values.begin());
  if (addresses.empty() || values.empty()) return false;
  const bool vector = values[0]->kind == OperandKind::kVector;
  const Handler handler = handler_of(in.atom_op, in.type, vector);
  if (handler == nullptr) return false;
  const unsigned bytes = ptx::bytes_of(in.type);
  MemoryAccess& access = lower_address(builder, in, *addresses[0], in.space);
  access.element_bytes = static_cast<std::uint8_t>(bytes);
  access.flags = kRead | kWrite | kAtomic;
  access.synchronising = true;
  if (vector) return lower_vector(builder, in, access, *values[0], handler, bytes);
  const RowOffset a = builder.source(*values[0], bytes);
  const RowOffset b = values.size() > 1 ? builder.source(*values[1], bytes) : a;
  const bool has_target = wants_old && in.destinations[0].kind == OperandKind::kRegister;
  const RowOffset dst = has_target ? builder.destination(in.destinations[0], bytes) : 0;
  Op& op = builder.emit(handler, dst, a, b);
  op.extra = &access;
  op.immediate = has_target ? 1 : 0;
  return true;
}

}  // namespace drgpum::emulator::exec

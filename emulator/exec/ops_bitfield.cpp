// SPDX-License-Identifier: Apache-2.0
// bfe, bfi, bfind, bmsk, brev, clz, popc, fns, prmt, szext, dp2a, dp4a.

#include <algorithm>
#include <bit>

#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::Type;

template <typename T>
constexpr std::uint32_t kBits = 8 * sizeof(T);

// Position and length are the low bytes of b and c. Signed fields extend the field's top bit, or
// the word's where the field reaches past it.
struct Extract {
  template <typename T>
  static T apply(T a, std::uint32_t b, std::uint32_t c) {
    using U = std::make_unsigned_t<T>;
    const std::uint32_t position = b & 0xff, length = c & 0xff;
    const auto bits = static_cast<U>(a);
    const std::uint32_t top = std::min(position + length - 1, kBits<T> - 1);
    const bool sign = std::is_signed_v<T> && length != 0 && ((bits >> top) & 1) != 0;
    const U shifted = position >= kBits<T> ? U{0} : static_cast<U>(bits >> position);
    const U field = length >= kBits<T> ? ~U{0} : static_cast<U>((U{1} << length) - 1);
    // Bits of the word that the field really has.
    const U present = position >= kBits<T> ? U{0} : static_cast<U>(~U{0} >> position);
    const U value = shifted & field;
    return static_cast<T>(sign ? value | ~(field & present) : value);
  }
};

struct Insert {
  template <typename T>
  static T apply(T a, T b, std::uint32_t c, std::uint32_t d) {
    const std::uint32_t position = c & 0xff, length = d & 0xff;
    if (position >= kBits<T> || length == 0) return b;
    const T field =
        length >= kBits<T> ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << length) - 1);
    const T mask = static_cast<T>(field << position);
    return static_cast<T>((b & ~mask) | ((a << position) & mask));
  }
};

struct CountLeadingZeros {
  template <typename T>
  static std::uint32_t apply(T a) {
    return static_cast<std::uint32_t>(std::countl_zero(a));
  }
};
struct Population {
  template <typename T>
  static std::uint32_t apply(T a) {
    return static_cast<std::uint32_t>(std::popcount(a));
  }
};
struct Reverse {
  template <typename T>
  static T apply(T a) {
    T reversed = 0;
    for (std::uint32_t i = 0; i < kBits<T>; ++i)
      reversed = static_cast<T>(reversed | (((a >> i) & 1) << (kBits<T> - 1 - i)));
    return reversed;
  }
};

// The top bit that differs from the sign; its distance from the top with .shiftamt.
template <bool shift_amount>
struct Find {
  template <typename T>
  static std::uint32_t apply(T a) {
    using U = std::make_unsigned_t<T>;
    auto bits = static_cast<U>(a);
    if (std::is_signed_v<T> && a < 0) bits = static_cast<U>(~bits);
    if (bits == 0) return ~0u;
    const auto leading = static_cast<std::uint32_t>(std::countl_zero(bits));
    return shift_amount ? leading : kBits<T> - 1 - leading;
  }
};

template <bool clamp>
struct Mask {
  static std::uint32_t apply(std::uint32_t a, std::uint32_t b) {
    const std::uint32_t start = clamp ? std::min(a, 32u) : a & 31;
    const std::uint32_t width = clamp ? std::min(b, 32u) : b & 31;
    const std::uint64_t field = (std::uint64_t{1} << width) - 1;
    return static_cast<std::uint32_t>(field << start);
  }
};

// Sign- or zero-extends the low b bits.
template <bool clamp>
struct Extend {
  template <typename T>
  static T apply(T a, std::uint32_t b) {
    const std::uint32_t width = clamp ? std::min(b, 32u) : b & 31;
    if (width == 0) return 0;
    if (width >= 32) return a;
    const auto shifted = static_cast<std::uint32_t>(a) << (32 - width);
    return static_cast<T>(static_cast<T>(shifted) >> (32 - width));
  }
};

// The offset-th set bit of mask from base upward (offset > 0) or downward; base itself for 0.
std::uint32_t find_nth(std::uint32_t mask, std::uint32_t base, std::int32_t offset) {
  if (offset == 0) return base < 32 && ((mask >> base) & 1) != 0 ? base : ~0u;
  const std::int32_t step = offset > 0 ? 1 : -1;
  std::int32_t left = offset * step;
  for (auto at = static_cast<std::int32_t>(base); at >= 0 && at < 32; at += step)
    if (((mask >> at) & 1) != 0 && --left == 0) return static_cast<std::uint32_t>(at);
  return ~0u;
}
struct FindNth {
  static std::uint32_t apply(std::uint32_t mask, std::uint32_t base, std::uint32_t offset) {
    return find_nth(mask, base, static_cast<std::int32_t>(offset));
  }
};

std::uint32_t byte_of(std::uint64_t both, std::uint32_t selector) {
  const auto byte = static_cast<std::uint32_t>((both >> (8 * (selector & 7))) & 0xff);
  if ((selector & 8) == 0) return byte;
  return (byte & 0x80) != 0 ? 0xff : 0;  // the sign, replicated
}

// Selector nibbles of the named modes, by the low two bits of c.
constexpr std::uint32_t kModes[6][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
    {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
    {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
    {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
    {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
    {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
};

const Op* permute(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint32_t>(op->a);
  const auto* b = warp.source<std::uint32_t>(op->b);
  const auto* c = warp.source<std::uint32_t>(op->c);
  const std::uint32_t mode = op->detail;
  store_lanes<std::uint32_t>(warp, op, [=](unsigned i) {
    const std::uint64_t both = (std::uint64_t{b[i]} << 32) | a[i];
    const std::uint32_t selector = mode == 0 ? c[i] : kModes[mode - 1][c[i] & 3];
    return byte_of(both, selector & 15) | (byte_of(both, (selector >> 4) & 15) << 8) |
           (byte_of(both, (selector >> 8) & 15) << 16) |
           (byte_of(both, (selector >> 12) & 15) << 24);
  });
  return op + 1;
}

template <typename T>
const Op* insert(const Op* op, WarpContext& warp) {
  const T* a = warp.source<T>(op->a);
  const T* b = warp.source<T>(op->b);
  const auto* c = warp.source<std::uint32_t>(op->c);
  const auto* d = warp.source<std::uint32_t>(static_cast<RowOffset>(op->immediate));
  store_lanes<T>(warp, op, [=](unsigned i) { return Insert::apply(a[i], b[i], c[i], d[i]); });
  return op + 1;
}

template <typename T>
const Op* extract(const Op* op, WarpContext& warp) {
  const T* a = warp.source<T>(op->a);
  const auto* b = warp.source<std::uint32_t>(op->b);
  const auto* c = warp.source<std::uint32_t>(op->c);
  store_lanes<T>(warp, op, [=](unsigned i) { return Extract::apply(a[i], b[i], c[i]); });
  return op + 1;
}

std::int32_t part_of(std::uint32_t word, unsigned index, unsigned bits, bool is_signed) {
  const std::uint32_t field = (word >> (index * bits)) & ((1u << bits) - 1);
  if (!is_signed) return static_cast<std::int32_t>(field);
  return static_cast<std::int32_t>(field << (32 - bits)) >> (32 - bits);
}

// detail: bit 0: a signed, bit 1: b signed, bit 2: dp2a, bit 3: .hi.
const Op* dot_product(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint32_t>(op->a);
  const auto* b = warp.source<std::uint32_t>(op->b);
  const auto* c = warp.source<std::uint32_t>(op->c);
  const bool two = (op->detail & 4) != 0;
  const unsigned first_byte = (op->detail & 8) != 0 ? 2 : 0;
  const bool a_signed = (op->detail & 1) != 0, b_signed = (op->detail & 2) != 0;
  store_lanes<std::uint32_t>(warp, op, [=](unsigned i) {
    std::uint32_t sum = c[i];
    for (unsigned k = 0; k < (two ? 2u : 4u); ++k) {
      const std::int32_t x = part_of(a[i], k, two ? 16 : 8, a_signed);
      const std::int32_t y = part_of(b[i], k + first_byte, 8, b_signed);
      sum += static_cast<std::uint32_t>(x * y);
    }
    return sum;
  });
  return op + 1;
}

bool lower_permute(Builder& builder, const ptx::Instruction& in) {
  constexpr std::string_view kWords[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
  emit_ternary(builder, in, permute, 4, 4, 4);
  for (std::uint32_t i = 0; i < 6; ++i)
    if (has_word(in, kWords[i])) builder.out().ops.back().detail = i + 1;
  return true;
}

bool lower_insert(Builder& builder, const ptx::Instruction& in, unsigned bytes) {
  const RowOffset a = builder.source(in.sources[0], bytes);
  const RowOffset b = builder.source(in.sources[1], bytes);
  const RowOffset c = builder.source(in.sources[2], 4);
  const RowOffset d = builder.source(in.sources[3], 4);
  builder
      .emit(bytes == 8 ? insert<std::uint64_t> : insert<std::uint32_t>,
            builder.destination(in.destinations[0], bytes), a, b, c)
      .immediate = static_cast<std::uint64_t>(d);
  return true;
}

bool lower_extract(Builder& builder, const ptx::Instruction& in, unsigned bytes) {
  const RowOffset a = builder.source(in.sources[0], bytes);
  const RowOffset b = builder.source(in.sources[1], 4);
  const RowOffset c = builder.source(in.sources[2], 4);
  const Handler handler = with_integer(in.type, [](auto t) -> Handler {
    if constexpr (sizeof(t) < 4)
      return nullptr;
    else
      return extract<decltype(t)>;
  });
  builder.emit(handler, builder.destination(in.destinations[0], bytes), a, b, c);
  return handler != nullptr;
}

// Operand types of dp4a and dp2a stand in the modifiers: a's, then b's.
bool lower_dot_product(Builder& builder, const ptx::Instruction& in) {
  std::vector<bool> is_signed;
  for (const std::string& word : in.modifiers)
    if (word == "u32" || word == "s32") is_signed.push_back(word == "s32");
  if (is_signed.size() < 2) return false;
  emit_ternary(builder, in, dot_product, 4, 4, 4);
  builder.out().ops.back().detail = (is_signed[0] ? 1u : 0) | (is_signed[1] ? 2u : 0) |
                                    (in.opcode == Opcode::kDp2a ? 4u : 0) |
                                    (has_word(in, "hi") ? 8u : 0);
  return true;
}

template <typename Operation>
Handler count_handler(unsigned bytes) {
  return bytes == 8 ? unary<std::uint32_t, std::uint64_t, Operation>
                    : unary<std::uint32_t, std::uint32_t, Operation>;
}

template <bool shift_amount>
Handler find_handler(Type type) {
  return with_integer(type, [](auto t) -> Handler {
    return unary<std::uint32_t, decltype(t), Find<shift_amount>>;
  });
}

bool lower_extend(Builder& builder, const ptx::Instruction& in) {
  const bool clamp = has_word(in, "clamp");
  const bool is_signed = in.type == Type::kS32;
  using S = std::int32_t;
  using U = std::uint32_t;
  const RowOffset a = builder.source(in.sources[0], 4);
  const RowOffset b = builder.source(in.sources[1], 4);
  const auto handler_of = [](auto t, bool c) -> Handler {
    using T = decltype(t);
    return c ? Handler{+[](const Op* op, WarpContext& warp) -> const Op* {
      const T* x = warp.source<T>(op->a);
      const auto* n = warp.source<std::uint32_t>(op->b);
      store_lanes<T>(warp, op, [=](unsigned i) { return Extend<true>::apply(x[i], n[i]); });
      return op + 1;
    }}
             : Handler{+[](const Op* op, WarpContext& warp) -> const Op* {
                 const T* x = warp.source<T>(op->a);
                 const auto* n = warp.source<std::uint32_t>(op->b);
                 store_lanes<T>(warp, op,
                                [=](unsigned i) { return Extend<false>::apply(x[i], n[i]); });
                 return op + 1;
               }};
  };
  builder.emit(is_signed ? handler_of(S{}, clamp) : handler_of(U{}, clamp),
               builder.destination(in.destinations[0], 4), a, b);
  return true;
}

}  // namespace

bool lower_bitfield(Builder& builder, const ptx::Instruction& in) {
  using U = std::uint32_t;
  const unsigned bytes = ptx::bytes_of(in.type);
  switch (in.opcode) {
    case Opcode::kBfe:
      return lower_extract(builder, in, bytes);
    case Opcode::kBfi:
      return lower_insert(builder, in, bytes);
    case Opcode::kBfind:
      return emit_unary(
          builder, in, in.shift_amount ? find_handler<true>(in.type) : find_handler<false>(in.type),
          4, bytes);
    case Opcode::kBmsk:
      return emit_binary(
          builder, in, has_word(in, "clamp") ? binary<U, U, Mask<true>> : binary<U, U, Mask<false>>,
          4, 4);
    case Opcode::kBrev:
      return emit_unary(
          builder, in,
          bytes == 8 ? unary<std::uint64_t, std::uint64_t, Reverse> : unary<U, U, Reverse>, bytes,
          bytes);
    case Opcode::kClz:
      return emit_unary(builder, in, count_handler<CountLeadingZeros>(bytes), 4, bytes);
    case Opcode::kPopc:
      return emit_unary(builder, in, count_handler<Population>(bytes), 4, bytes);
    case Opcode::kFns:
      return emit_ternary(builder, in, ternary<U, U, U, FindNth>, 4, 4, 4);
    case Opcode::kPrmt:
      return lower_permute(builder, in);
    case Opcode::kSzext:
      return lower_extend(builder, in);
    case Opcode::kDp4a:
    case Opcode::kDp2a:
      return lower_dot_product(builder, in);
    default:
      return false;
  }
}

}  // namespace drgpum::emulator::exec

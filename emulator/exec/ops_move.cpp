// SPDX-License-Identifier: Apache-2.0
// mov in all its forms, cvta, isspacep, and the row moves that lowering inserts.

#include <cstring>

#include "emulator/exec/float_mode.h"
#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::OperandKind;
using ptx::Space;
using ptx::Type;

struct Same {
  template <typename T>
  static T apply(T a) {
    return a;
  }
};

template <typename D, typename S>
const Op* resize(const Op* op, WarpContext& warp) {
  const S* a = warp.source<S>(op->a);
  store_lanes<D>(warp, op, [=](unsigned i) { return static_cast<D>(a[i]); });
  return op + 1;
}

const Op* move_predicate(const Op* op, WarpContext& warp) {
  warp.write_predicate(op->dst, *warp.source<std::uint32_t>(op->a) ^ (op->detail != 0 ? ~0u : 0u));
  return op + 1;
}

// Packing: part k of dst is row k of the list; unpacking the other way round.
template <typename W, typename N>
const Op* pack(const Op* op, WarpContext& warp) {
  const auto& rows = *static_cast<const std::vector<std::int32_t>*>(op->extra);
  const unsigned count = sizeof(W) / sizeof(N);
  const N* parts[8];
  for (unsigned k = 0; k < count; ++k)
    parts[k] = warp.source<N>(rows[k]);
  store_lanes<W>(warp, op, [&](unsigned i) {
    W value = 0;
    for (unsigned k = 0; k < count; ++k)
      value |= static_cast<W>(static_cast<W>(parts[k][i]) << (8 * sizeof(N) * k));
    return value;
  });
  return op + 1;
}

template <typename W, typename N>
const Op* unpack(const Op* op, WarpContext& warp) {
  const auto& rows = *static_cast<const std::vector<std::int32_t>*>(op->extra);
  alignas(64) W whole[kLanes];  // the source may be one of the rows
  std::memcpy(whole, warp.source<W>(op->a), sizeof whole);
  const W* a = whole;
  for (unsigned k = 0; k < sizeof(W) / sizeof(N); ++k) {
    if (rows[k] < 0) continue;  // sink
    const unsigned shift = static_cast<unsigned>(8 * sizeof(N) * k);
    store_lanes<N>(warp, rows[k], [=](unsigned i) { return static_cast<N>(a[i] >> shift); });
  }
  return op + 1;
}

template <typename W>
Handler pack_handler(unsigned part, bool packing) {
  if (part == 2) return packing ? pack<W, std::uint16_t> : unpack<W, std::uint16_t>;
  if constexpr (sizeof(W) > 4)
    if (part == 4) return packing ? pack<W, std::uint32_t> : unpack<W, std::uint32_t>;
  if constexpr (sizeof(W) > 8)
    if (part == 8) return packing ? pack<W, std::uint64_t> : unpack<W, std::uint64_t>;
  return nullptr;
}

Handler pack_handler(unsigned whole, unsigned part, bool packing) {
  if (whole == 4) return pack_handler<std::uint32_t>(part, packing);
  if (whole == 8) return pack_handler<std::uint64_t>(part, packing);
  return whole == 16 ? pack_handler<Uint128>(part, packing) : nullptr;
}

// mov.b16 to and from {b8, b8}: 8-bit values live in 16-bit rows.
const Op* pack_bytes(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint16_t>(op->a);
  const auto* b = warp.source<std::uint16_t>(op->b);
  store_lanes<std::uint16_t>(warp, op, [=](unsigned i) {
    return static_cast<std::uint16_t>((a[i] & 0xff) | (b[i] << 8));
  });
  return op + 1;
}

bool lower_pack(Builder& builder, const ptx::Instruction& in, unsigned bytes) {
  const ptx::Operand& vector = in.sources[0];
  const unsigned part = bytes / vector.count;
  if (part == 1) {
    const RowOffset a = builder.source(builder.element(vector, 0), 2);
    const RowOffset b = builder.source(builder.element(vector, 1), 2);
    builder.emit(pack_bytes, builder.destination(in.destinations[0], 2), a, b);
    return true;
  }
  const Handler handler = pack_handler(bytes, part, true);
  if (handler == nullptr) return false;
  auto& rows = builder.out().lists.emplace_back();
  for (unsigned k = 0; k < vector.count; ++k)
    rows.push_back(builder.source(builder.element(vector, k), part));
  builder.emit(handler, builder.destination(in.destinations[0], bytes), 0).extra = &rows;
  return true;
}

bool lower_unpack(Builder& builder, const ptx::Instruction& in, unsigned bytes) {
  const ptx::Operand& vector = in.destinations[0];
  const unsigned part = bytes / vector.count;
  const Handler handler = pack_handler(bytes, part, false);
  if (handler == nullptr) return false;
  auto& rows = builder.out().lists.emplace_back();
  const RowOffset source = builder.source(in.sources[0], bytes);
  for (unsigned k = 0; k < vector.count; ++k) {
    const ptx::Operand& element = builder.element(vector, k);
    rows.push_back(element.kind == OperandKind::kSink ? -1 : builder.destination(element, part));
  }
  builder.emit(handler, 0, source).extra = &rows;
  return true;
}

// Addresses ---------------------------------------------------------------------------------------

const Op* local_address(const Op* op, WarpContext& warp) {
  const std::uint64_t address = warp.frame->local_base + op->immediate;
  if (op->detail == 8) {
    store_lanes<std::uint64_t>(warp, op, [=](unsigned) { return address; });
  } else {
    store_lanes<std::uint32_t>(warp, op,
                               [=](unsigned) { return static_cast<std::uint32_t>(address); });
  }
  return op + 1;
}

const Op* add_window(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint64_t>(op->a);
  const std::uint64_t window = op->immediate;
  store_lanes<std::uint64_t>(warp, op, [=](unsigned i) { return (a[i] & 0xffffffffu) + window; });
  return op + 1;
}

const Op* drop_window(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint64_t>(op->a);
  store_lanes<std::uint64_t>(warp, op, [=](unsigned i) { return a[i] & 0xffffffffu; });
  return op + 1;
}

std::uint64_t window_of(Space space) {
  switch (space) {
    case Space::kShared:
      return kSharedWindow;
    case Space::kLocal:
      return kLocalWindow;
    case Space::kParam:
      return kParameterWindow;
    default:
      return 0;
  }
}

bool lower_cvta(Builder& builder, const ptx::Instruction& in) {
  const std::uint64_t window = window_of(in.space);
  const RowOffset a = builder.source(in.sources[0], 8);
  const RowOffset dst = builder.destination(in.destinations[0], 8);
  // Parameters of device functions whose address is taken lie in local memory.
  const bool in_local = in.space == Space::kParam && !builder.is_entry();
  if (window == 0) {
    builder.emit(unary<std::uint64_t, std::uint64_t, Same>, dst, a);
  } else if (in.to_generic) {
    builder.emit(add_window, dst, a).immediate = in_local ? kLocalWindow : window;
  } else {
    builder.emit(drop_window, dst, a);
  }
  return true;
}

const Op* is_in_window(const Op* op, WarpContext& warp) {
  const auto* a = warp.source<std::uint64_t>(op->a);
  const std::uint64_t window = op->immediate;
  const std::uint32_t lanes = lanes_where([=](unsigned i) {
    const std::uint64_t high = a[i] >> kWindowBits;
    if (window != 0) return high == window >> kWindowBits;
    return high != kSharedWindow >> kWindowBits && high != kLocalWindow >> kWindowBits &&
           high != kParameterWindow >> kWindowBits;
  });
  warp.write_predicate(op->dst, lanes);
  return op + 1;
}

bool lower_isspacep(Builder& builder, const ptx::Instruction& in) {
  const RowOffset a = builder.source(in.sources[0], 8);
  builder.emit(is_in_window, builder.predicate(in.destinations[0]), a).immediate =
      window_of(in.space);
  return true;
}

bool lower_mov(Builder& builder, const ptx::Instruction& in) {
  const ptx::Operand& to = in.destinations[0];
  const ptx::Operand& from = in.sources[0];
  if (in.type == Type::kPred) {
    const RowOffset a = builder.predicate(from);
    builder.emit(move_predicate, builder.predicate(to), a).detail = from.negated ? 1 : 0;
    return true;
  }
  const unsigned bytes = std::max(ptx::bytes_of(in.type), 2u);
  if (from.kind == OperandKind::kVector) return lower_pack(builder, in, ptx::bytes_of(in.type));
  if (to.kind == OperandKind::kVector) return lower_unpack(builder, in, bytes);
  if (from.kind == OperandKind::kSpecial && (bytes == 4 || bytes == 8)) {
    Op& op = builder.emit(special_handler(from.special, bytes), builder.destination(to, bytes), 0);
    op.detail = static_cast<std::uint32_t>(from.special);
    op.immediate = from.bits;
    return true;
  }
  const Handler handler = bytes == 16 ? Handler{unary<Uint128, Uint128, Same>}
                                      : with_bits(bytes, [](auto t) -> Handler {
                                          return unary<decltype(t), decltype(t), Same>;
                                        });
  const RowOffset a = builder.source(from, bytes);
  builder.emit(handler, builder.destination(to, bytes), a);
  return true;
}

}  // namespace

const Handler kLocalAddress = local_address;

template <typename S>
Handler resize_from(unsigned to) {
  return with_bits(to, [](auto t) -> Handler { return resize<decltype(t), S>; });
}

Handler resize_handler(unsigned from, unsigned to) {
  if (to == 16)
    return from == 2   ? resize<Uint128, std::uint16_t>
           : from == 4 ? resize<Uint128, std::uint32_t>
                       : resize<Uint128, std::uint64_t>;
  switch (from) {
    case 2:
      return resize_from<std::uint16_t>(to);
    case 4:
      return resize_from<std::uint32_t>(to);
    case 8:
      return resize_from<std::uint64_t>(to);
    default:
      return resize_from<Uint128>(to);
  }
}

bool lower_move(Builder& builder, const ptx::Instruction& in) {
  switch (in.opcode) {
    case Opcode::kMov:
      return lower_mov(builder, in);
    case Opcode::kCvta:
      return lower_cvta(builder, in);
    case Opcode::kIsspacep:
      return lower_isspacep(builder, in);
    default:
      return false;
  }
}

void blend_bytes(std::byte* to, const std::byte* from, std::uint32_t mask, unsigned element_bytes) {
  switch (element_bytes) {
    case 2:
      return blend(reinterpret_cast<std::uint16_t*>(to),
                   reinterpret_cast<const std::uint16_t*>(from), mask);
    case 4:
      return blend(reinterpret_cast<std::uint32_t*>(to),
                   reinterpret_cast<const std::uint32_t*>(from), mask);
    case 8:
      return blend(reinterpret_cast<std::uint64_t*>(to),
                   reinterpret_cast<const std::uint64_t*>(from), mask);
    default:
      for (unsigned i = 0; i < kLanes; ++i)
        if (((mask >> i) & 1) != 0)
          std::memcpy(to + i * element_bytes, from + i * element_bytes, element_bytes);
  }
}

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
// selp and slct.

#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::Type;

template <typename T>
const Op* select(const Op* op, WarpContext& warp) {
  const T* a = warp.source<T>(op->a);
  const T* b = warp.source<T>(op->b);
  const std::uint32_t chosen = *warp.source<std::uint32_t>(op->c) ^ (op->detail != 0 ? ~0u : 0u);
  store_lanes<T>(warp, op, [=](unsigned i) { return ((chosen >> i) & 1) != 0 ? a[i] : b[i]; });
  return op + 1;
}

// slct: a where c >= 0, else b. NaN is not >= 0; -0 is.
template <typename T, typename C>
const Op* select_by_sign(const Op* op, WarpContext& warp) {
  const T* a = warp.source<T>(op->a);
  const T* b = warp.source<T>(op->b);
  const C* c = warp.source<C>(op->c);
  store_lanes<T>(warp, op, [=](unsigned i) { return c[i] >= C{0} ? a[i] : b[i]; });
  return op + 1;
}

}  // namespace

bool lower_select(Builder& builder, const ptx::Instruction& in) {
  if (in.opcode != Opcode::kSelp && in.opcode != Opcode::kSlct) return false;
  const unsigned bytes = ptx::bytes_of(in.type);
  const bool selp = in.opcode == Opcode::kSelp;
  const bool by_float = in.source_type == Type::kF32;
  const Handler handler = with_bits(bytes, [&](auto t) -> Handler {
    using T = decltype(t);
    if (selp) return select<T>;
    return by_float ? select_by_sign<T, float> : select_by_sign<T, std::int32_t>;
  });
  if (handler == nullptr) return false;
  const RowOffset a = builder.source(in.sources[0], bytes);
  const RowOffset b = builder.source(in.sources[1], bytes);
  const RowOffset c = selp ? builder.predicate(in.sources[2]) : builder.source(in.sources[2], 4);
  const RowOffset dst = builder.destination(in.destinations[0], bytes);
  builder.emit(handler, dst, a, b, c).detail = selp && in.sources[2].negated ? 1 : 0;
  return true;
}

}  // namespace drgpum::emulator::exec

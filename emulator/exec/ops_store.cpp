// SPDX-License-Identifier: Apache-2.0
// st.

#include <algorithm>
#include <cstring>

#include "emulator/exec/fast_memory.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::OperandKind;
using ptx::Type;
template <typename M, typename R>
void write(std::byte* to, R value) {
  const M narrow = static_cast<M>(value);
  std::memcpy(to, &narrow, sizeof narrow);
}

template <typename M, typename R, unsigned count>
[[gnu::noinline]] void store_scattered(WarpContext& warp, const MemoryAccess& access) {
  for (unsigned k = 0; k < (count == 0 ? access.count : count); ++k) {
    const R* row = warp.source<R>(access.rows[k]);
    for_lanes(warp.mask,
              [&](unsigned i) { write<M, R>(warp.pointers[i] + k * sizeof(M), row[i]); });
  }
}

template <typename M, typename R, unsigned count>
void store_contiguous(WarpContext& warp, const MemoryAccess& access, std::byte* to) {
  for (unsigned k = 0; k < count; ++k) {
    const R* row = warp.source<R>(access.rows[k]);
    if constexpr (sizeof(M) == sizeof(R) && count == 1) {
      std::memcpy(to, row, sizeof(R) * kLanes);
    } else {
      M* values = reinterpret_cast<M*>(to);
      for (unsigned i = 0; i < kLanes; ++i)
        values[i * count + k] = static_cast<M>(row[i]);
    }
  }
}

// count 0: as many elements as the access says, lane by lane.
template <Where where, typename M, typename R, unsigned count>
const Op* store(const Op* op, WarpContext& warp) {
  const MemoryAccess& access = access_of(op);
  constexpr unsigned kBytes = sizeof(M) * count;
  const Reach found = count == 0 ? reach<Where::kLocal, 1, true>(op, warp, access)
                                 : reach<where, std::max(kBytes, 1u), true>(op, warp, access);
  if constexpr (count > 0) {
    if (found.pattern == Pattern::kContiguous) {
      store_contiguous<M, R, count>(warp, access, found.host);
      return op + 1;
    }
    if (found.pattern == Pattern::kUniform) {  // the last lane's value stays
      for (unsigned k = 0; k < count; ++k)
        write<M, R>(found.host + k * sizeof(M), warp.source<R>(access.rows[k])[kLanes - 1]);
      return op + 1;
    }
  }
  if (found.pattern == Pattern::kHalves) {  // in lane order: the last one's value stays
    const R* row = warp.source<R>(access.rows[0]);
    for (unsigned i = 0; i < kLanes; ++i)
      write<M, R>((i < kLanes / 2 ? found.host : found.other) + i % (kLanes / 2) * found.step,
                  row[i]);
    return op + 1;
  }
  if (found.pattern == Pattern::kFault) return nullptr;
  store_scattered<M, R, count>(warp, access);
  return op + 1;
}

template <typename M, typename R>
const Op* store_parameter(const Op* op, WarpContext& warp) {
  const MemoryAccess& access = access_of(op);
  std::byte* base = warp.rows + access.base + access.offset;
  for (unsigned k = 0; k < access.count; ++k) {
    const R* row = warp.source<R>(access.rows[k]);
    std::byte* to = base + k * sizeof(M);
    if (sizeof(M) == sizeof(R) && access.stride == sizeof(M) && warp.mask == kFullMask) {
      std::memcpy(to, row, sizeof(R) * kLanes);
    } else {
      for_lanes(warp.mask,
                [&](unsigned i) { write<M, R>(to + i * std::size_t{access.stride}, row[i]); });
    }
  }
  return op + 1;
}

template <typename M, typename R>
Handler store_handler(Where where, unsigned count) {
  if (where == Where::kLaneParameter) return store_parameter<M, R>;
  if (count == 1) {
    if (where == Where::kGeneric) return store<Where::kGeneric, M, R, 1>;
    if (where == Where::kShared) return store<Where::kShared, M, R, 1>;
  }
  if constexpr (sizeof(M) >= 4 && sizeof(M) == sizeof(R)) {
    if (count == 2 && where == Where::kGeneric) return store<Where::kGeneric, M, R, 2>;
    if (count == 4 && where == Where::kGeneric) return store<Where::kGeneric, M, R, 4>;
    if (count == 2 && where == Where::kShared) return store<Where::kShared, M, R, 2>;
    if (count == 4 && where == Where::kShared) return store<Where::kShared, M, R, 4>;
  }
  return store<Where::kLocal, M, R, 0>;
}

template <typename M>
Handler store_from(unsigned register_bytes, Where where, unsigned count) {
  if constexpr (sizeof(M) <= 2)
    if (register_bytes == 2) return store_handler<M, std::uint16_t>(where, count);
  if constexpr (sizeof(M) <= 4)
    if (register_bytes == 4) return store_handler<M, std::uint32_t>(where, count);
  return register_bytes == 8 ? store_handler<M, std::uint64_t>(where, count) : nullptr;
}

Handler handler_of(unsigned memory_bytes, unsigned register_bytes, Where where, unsigned count) {
  switch (memory_bytes) {
    case 1:
      return store_from<std::uint8_t>(register_bytes, where, count);
    case 2:
      return store_from<std::uint16_t>(register_bytes, where, count);
    case 4:
      return store_from<std::uint32_t>(register_bytes, where, count);
    case 8:
      return store_from<std::uint64_t>(register_bytes, where, count);
    case 16:
      return register_bytes == 16 ? store<Where::kLocal, Uint128, Uint128, 0> : nullptr;
    default:
      return nullptr;
  }
}

}  // namespace

bool lower_store(Builder& builder, const ptx::Instruction& in) {
  if (in.opcode != ptx::Opcode::kSt) return false;
  const auto addresses = addresses_of(in);
  const auto values = values_of(in);
  if (addresses.empty() || values.empty()) return false;
  const ptx::Operand& value = *values[0];
  const bool vector = value.kind == OperandKind::kVector;
  MemoryAccess& access = lower_address(builder, in, *addresses[0], in.space);
  const unsigned memory_bytes = ptx::bytes_of(in.type);
  access.element_bytes = static_cast<std::uint8_t>(memory_bytes);
  access.count = vector ? value.count : 1;
  access.flags = kWrite;
  // Elements may be registers and immediates of different widths: the widest serves all.
  unsigned bytes = std::max(memory_bytes, 2u);
  for (unsigned k = 0; k < access.count; ++k) {
    const ptx::Operand& element = vector ? builder.element(value, k) : value;
    if (element.kind == OperandKind::kRegister)
      bytes = std::max(bytes, builder.register_bytes(element.index));
  }
  for (unsigned k = 0; k < access.count; ++k)
    access.rows[k] = builder.source(vector ? builder.element(value, k) : value, bytes);
  const Handler handler = handler_of(memory_bytes, bytes, access.where, access.count);
  if (handler == nullptr) return false;
  builder.emit(handler).extra = &access;
  return true;
}

}  // namespace drgpum::emulator::exec

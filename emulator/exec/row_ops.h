// SPDX-License-Identifier: Apache-2.0
#pragma once
// How handlers work on rows: all 32 lanes are computed, and only active ones are stored.

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#ifdef __AVX2__
#include <immintrin.h>
#endif

#include "emulator/exec/block.h"
#include "emulator/exec/builder.h"
#include "emulator/exec/warp.h"

namespace drgpum::emulator::exec {

// Copies the lanes of `mask` from `from` to `to`.
template <typename T>
inline void blend(T* to, const T* from, std::uint32_t mask) {
#pragma GCC ivdep
  for (unsigned i = 0; i < kLanes; ++i)
    to[i] = ((mask >> i) & 1) != 0 ? from[i] : to[i];
}

void blend_bytes(std::byte* to, const std::byte* from, std::uint32_t mask, unsigned element_bytes);

template <typename T, typename F>
[[gnu::noinline]] void store_some_lanes(T* row, std::uint32_t mask, F compute) {
#pragma GCC ivdep
  for (unsigned i = 0; i < kLanes; ++i)
    row[i] = ((mask >> i) & 1) != 0 ? compute(i) : row[i];
}

// dst[lane] = compute(lane) for active lanes, or for all where `others` has them: rows that no
// other split can need. `compute` must be harmless for inactive lanes.
template <typename T, typename F>
[[gnu::always_inline]] inline void store_lanes(WarpContext& warp, RowOffset dst, F&& compute,
                                               std::uint32_t others = 0) {
  T* row = warp.target<T>(dst);
  if ((warp.mask | others) != kFullMask) [[unlikely]] {
    store_some_lanes<T>(row, warp.mask, compute);
    return;
  }
#pragma GCC ivdep
  for (unsigned i = 0; i < kLanes; ++i)
    row[i] = compute(i);
}
template <typename T, typename F>
[[gnu::always_inline]] inline void store_lanes(WarpContext& warp, const Op* op, F&& compute) {
  store_lanes<T>(warp, op->dst, compute, op->write_all);
}

// The lanes where `test(lane)` holds, of all 32. T: what it compares, for the best vector width.
template <typename T = std::uint32_t, typename F>
[[gnu::always_inline]] inline std::uint32_t lanes_where(F&& test) {
  std::uint32_t lanes = 0;
#ifdef __AVX2__
  if constexpr (sizeof(T) == 8) {
#pragma GCC unroll 8
    for (unsigned base = 0; base < kLanes; base += 4) {
      alignas(32) std::int64_t held[4];
      for (unsigned i = 0; i < 4; ++i)
        held[i] = test(base + i) ? -1 : 0;
      const __m256i vector = _mm256_load_si256(reinterpret_cast<const __m256i*>(held));
      const int bits = _mm256_movemask_pd(_mm256_castsi256_pd(vector));
      lanes |= static_cast<std::uint32_t>(bits) << base;
    }
  } else {
#pragma GCC unroll 4
    for (unsigned base = 0; base < kLanes; base += 8) {
      alignas(32) std::int32_t held[8];
      for (unsigned i = 0; i < 8; ++i)
        held[i] = test(base + i) ? -1 : 0;
      const __m256i vector = _mm256_load_si256(reinterpret_cast<const __m256i*>(held));
      const int bits = _mm256_movemask_ps(_mm256_castsi256_ps(vector));
      lanes |= static_cast<std::uint32_t>(bits) << base;
    }
  }
#else
  for (unsigned i = 0; i < kLanes; ++i)
    lanes |= static_cast<std::uint32_t>(test(i)) << i;
#endif
  return lanes;
}

// Calls visit(lane) for the lanes of `mask`, lowest first.
template <typename F>
[[gnu::always_inline]] inline void for_lanes(std::uint32_t mask, F&& visit) {
  for (; mask != 0; mask &= mask - 1)
    visit(static_cast<unsigned>(std::countr_zero(mask)));
}

// Handlers of one, two and three operands. Operation::apply takes and gives register values.
template <typename D, typename S, typename Operation>
const Op* unary(const Op* op, WarpContext& warp) {
  const S* a = warp.source<S>(op->a);
  store_lanes<D>(warp, op, [=](unsigned i) { return Operation::apply(a[i]); });
  return op + 1;
}

template <typename D, typename S, typename Operation>
const Op* binary(const Op* op, WarpContext& warp) {
  const S* a = warp.source<S>(op->a);
  const S* b = warp.source<S>(op->b);
  store_lanes<D>(warp, op, [=](unsigned i) { return Operation::apply(a[i], b[i]); });
  return op + 1;
}

template <typename D, typename S, typename C, typename Operation>
const Op* ternary(const Op* op, WarpContext& warp) {
  const S* a = warp.source<S>(op->a);
  const S* b = warp.source<S>(op->b);
  const C* c = warp.source<C>(op->c);
  store_lanes<D>(warp, op, [=](unsigned i) { return Operation::apply(a[i], b[i], c[i]); });
  return op + 1;
}

// dst and sources of `bytes` each.
inline bool emit_unary(Builder& builder, const ptx::Instruction& in, Handler handler,
                       unsigned dst_bytes, unsigned source_bytes) {
  const RowOffset a = builder.source(in.sources[0], source_bytes);
  const RowOffset dst = builder.destination(in.destinations[0], dst_bytes);
  builder.emit(handler, dst, a);
  return true;
}

inline bool emit_binary(Builder& builder, const ptx::Instruction& in, Handler handler,
                        unsigned dst_bytes, unsigned source_bytes) {
  const RowOffset a = builder.source(in.sources[0], source_bytes);
  const RowOffset b = builder.source(in.sources[1], source_bytes);
  const RowOffset dst = builder.destination(in.destinations[0], dst_bytes);
  builder.emit(handler, dst, a, b);
  return true;
}

inline bool emit_ternary(Builder& builder, const ptx::Instruction& in, Handler handler,
                         unsigned dst_bytes, unsigned source_bytes, unsigned third_bytes) {
  const RowOffset a = builder.source(in.sources[0], source_bytes);
  const RowOffset b = builder.source(in.sources[1], source_bytes);
  const RowOffset c = builder.source(in.sources[2], third_bytes);
  const RowOffset dst = builder.destination(in.destinations[0], dst_bytes);
  builder.emit(handler, dst, a, b, c);
  return true;
}

// Type words to C++ types: calls visit(T{}) and returns its result, or an empty Handler.
template <typename F>
Handler with_integer(ptx::Type type, F&& visit) {
  using ptx::Type;
  switch (type) {
    case Type::kB16:
    case Type::kU16:
      return visit(std::uint16_t{});
    case Type::kS16:
      return visit(std::int16_t{});
    case Type::kB32:
    case Type::kU32:
      return visit(std::uint32_t{});
    case Type::kS32:
      return visit(std::int32_t{});
    case Type::kB64:
    case Type::kU64:
      return visit(std::uint64_t{});
    case Type::kS64:
      return visit(std::int64_t{});
    default:
      return nullptr;
  }
}

// The same without signs: for operations whose bits do not depend on it.
template <typename F>
Handler with_bits(unsigned bytes, F&& visit) {
  switch (bytes) {
    case 2:
      return visit(std::uint16_t{});
    case 4:
      return visit(std::uint32_t{});
    case 8:
      return visit(std::uint64_t{});
    default:
      return nullptr;
  }
}

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
// ld, ldu and prefetch.

#include <algorithm>
#include <cstring>

#include "emulator/exec/fast_memory.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::OperandKind;
using ptx::Space;
using ptx::Type;
// M is the type in memory, R the register's; signed M extend their sign.
template <typename M, typename R>
R read(const std::byte* from) {
  M value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<R>(value);
}

template <typename M, typename R, unsigned count>
[[gnu::noinline]] void load_scattered(WarpContext& warp, const MemoryAccess& access) {
  for (unsigned k = 0; k < (count == 0 ? access.count : count); ++k) {
    R* row = warp.target<R>(access.rows[k]);
    if (warp.mask == kFullMask) {
      for (unsigned i = 0; i < kLanes; ++i)
        row[i] = read<M, R>(warp.pointers[i] + k * sizeof(M));
    } else {
      for_lanes(warp.mask,
                [&](unsigned i) { row[i] = read<M, R>(warp.pointers[i] + k * sizeof(M)); });
    }
  }
}

template <typename M, typename R, unsigned count>
void load_contiguous(WarpContext& warp, const MemoryAccess& access, const std::byte* from) {
  for (unsigned k = 0; k < count; ++k) {
    R* row = warp.target<R>(access.rows[k]);
    if constexpr (sizeof(M) == sizeof(R) && count == 1) {
      std::memcpy(row, from, sizeof(R) * kLanes);
    } else {
      const M* values = reinterpret_cast<const M*>(from);
      for (unsigned i = 0; i < kLanes; ++i)
        row[i] = static_cast<R>(values[i * count + k]);
    }
  }
}

template <typename M, typename R>
[[gnu::noinline]] void load_halves(R* row, const Reach& found) {
  for (unsigned half = 0; half < 2; ++half, row += kLanes / 2) {
    const std::byte* from = half == 0 ? found.host : found.other;
    if (found.step == 0) {
      const R value = read<M, R>(from);
      for (unsigned i = 0; i < kLanes / 2; ++i)
        row[i] = value;
    } else {
      for (unsigned i = 0; i < kLanes / 2; ++i)
        row[i] = read<M, R>(from + i * sizeof(M));
    }
  }
}

// count 0: as many elements as the access says, lane by lane.
template <Where where, typename M, typename R, unsigned count>
const Op* load(const Op* op, WarpContext& warp) {
  const MemoryAccess& access = access_of(op);
  constexpr unsigned kBytes = sizeof(M) * count;
  const Reach found = count == 0 ? reach<Where::kLocal, 1, false>(op, warp, access)
                                 : reach<where, std::max(kBytes, 1u), false>(op, warp, access);
  if constexpr (count > 0) {
    if (found.pattern == Pattern::kContiguous) {
      load_contiguous<M, R, count>(warp, access, found.host);
      return op + 1;
    }
    if (found.pattern == Pattern::kUniform) {
      for (unsigned k = 0; k < count; ++k) {
        const R value = read<M, R>(found.host + k * sizeof(M));
        store_lanes<R>(warp, access.rows[k], [=](unsigned) { return value; });
      }
      return op + 1;
    }
  }
  if (found.pattern == Pattern::kHalves) {
    load_halves<M, R>(warp.target<R>(access.rows[0]), found);
    return op + 1;
  }
  if (found.pattern == Pattern::kFault) return nullptr;
  load_scattered<M, R, count>(warp, access);
  return op + 1;
}

// Parameters of device functions and call results: a constant distance between lanes.
template <typename M, typename R>
const Op* load_parameter(const Op* op, WarpContext& warp) {
  const MemoryAccess& access = access_of(op);
  const std::byte* base = warp.rows + access.base + access.offset;
  const std::size_t stride = access.stride;
  for (unsigned k = 0; k < access.count; ++k) {
    const std::byte* from = base + k * sizeof(M);
    if (sizeof(M) == sizeof(R) && stride == sizeof(M)) {
      const R* row = reinterpret_cast<const R*>(from);
      store_lanes<R>(warp, access.rows[k], [=](unsigned i) { return row[i]; });
    } else {
      store_lanes<R>(warp, access.rows[k],
                     [=](unsigned i) { return read<M, R>(from + i * stride); });
    }
  }
  return op + 1;
}

// Kernel parameters at a constant offset: one value for all lanes.
template <typename M, typename R>
const Op* load_entry_parameter(const Op* op, WarpContext& warp) {
  const MemoryAccess& access = access_of(op);
  const std::byte* from = warp.worker->launch->parameters.data() + op->immediate;
  for (unsigned k = 0; k < access.count; ++k) {
    const R value = read<M, R>(from + k * sizeof(M));
    store_lanes<R>(warp, access.rows[k], [=](unsigned) { return value; });
  }
  return op + 1;
}

struct Shape {
  Where where;
  bool constant_address;
  unsigned count;
};

template <typename M, typename R>
Handler load_handler(const Shape& shape) {
  if (shape.where == Where::kLaneParameter) return load_parameter<M, R>;
  if (shape.where == Where::kEntryParameter && shape.constant_address)
    return load_entry_parameter<M, R>;
  if (shape.count == 1) {
    if (shape.where == Where::kGeneric) return load<Where::kGeneric, M, R, 1>;
    if (shape.where == Where::kShared) return load<Where::kShared, M, R, 1>;
  }
  if constexpr (sizeof(M) >= 4 && sizeof(M) == sizeof(R)) {
    if (shape.count == 2 && shape.where == Where::kGeneric) return load<Where::kGeneric, M, R, 2>;
    if (shape.count == 4 && shape.where == Where::kGeneric) return load<Where::kGeneric, M, R, 4>;
    if (shape.count == 2 && shape.where == Where::kShared) return load<Where::kShared, M, R, 2>;
    if (shape.count == 4 && shape.where == Where::kShared) return load<Where::kShared, M, R, 4>;
  }
  return load<Where::kLocal, M, R, 0>;
}

template <typename M>
Handler load_to(unsigned register_bytes, const Shape& shape) {
  if constexpr (sizeof(M) <= 2)
    if (register_bytes == 2) return load_handler<M, std::uint16_t>(shape);
  if constexpr (sizeof(M) <= 4)
    if (register_bytes == 4) return load_handler<M, std::uint32_t>(shape);
  return register_bytes == 8 ? load_handler<M, std::uint64_t>(shape) : nullptr;
}

Handler handler_of(Type type, unsigned register_bytes, const Shape& shape) {
  switch (type) {
    case Type::kB8:
    case Type::kU8:
      return load_to<std::uint8_t>(register_bytes, shape);
    case Type::kS8:
      return load_to<std::int8_t>(register_bytes, shape);
    case Type::kB16:
    case Type::kU16:
    case Type::kF16:
    case Type::kBf16:
      return load_to<std::uint16_t>(register_bytes, shape);
    case Type::kS16:
      return load_to<std::int16_t>(register_bytes, shape);
    case Type::kB32:
    case Type::kU32:
    case Type::kF32:
    case Type::kF16x2:
    case Type::kBf16x2:
      return load_to<std::uint32_t>(register_bytes, shape);
    case Type::kS32:
      return load_to<std::int32_t>(register_bytes, shape);
    case Type::kB64:
    case Type::kU64:
    case Type::kS64:
    case Type::kF64:
      return load_to<std::uint64_t>(register_bytes, shape);
    case Type::kB128:
      return register_bytes == 16 ? load<Where::kLocal, Uint128, Uint128, 0> : nullptr;
    default:
      return nullptr;
  }
}

// Register bytes of the first element that is no sink; the type's own width without one.
unsigned target_bytes(Builder& builder, const ptx::Operand& target, unsigned memory_bytes) {
  const auto width = [&](const ptx::Operand& operand) {
    return operand.kind == OperandKind::kRegister ? builder.register_bytes(operand.index) : 0;
  };
  unsigned bytes = 0;
  if (target.kind == OperandKind::kVector) {
    for (unsigned k = 0; k < target.count; ++k)
      bytes = std::max(bytes, width(builder.element(target, k)));
  } else {
    bytes = width(target);
  }
  return bytes == 0 ? std::max(memory_bytes, 2u) : bytes;
}

const Op* prefetch(const Op* op, WarpContext& warp) {
  const MemoryAccess& access = access_of(op);
  if (warp.hooked_spaces == 0) return op + 1;
  fill_addresses(warp, access, warp.addresses.data());
  notify_hook(warp, op, access, warp.addresses.data());
  return op + 1;
}

bool lower_prefetch(Builder& builder, const ptx::Instruction& in) {
  const auto addresses = addresses_of(in);
  if (addresses.empty()) return false;
  MemoryAccess& access = lower_address(builder, in, *addresses[0], in.space);
  access.element_bytes = 128;  // a cache line
  access.flags = kPrefetch;
  builder.emit(prefetch).extra = &access;
  return true;
}

bool lower_ld(Builder& builder, const ptx::Instruction& in) {
  const auto addresses = addresses_of(in);
  if (addresses.empty() || in.destinations.empty()) return false;
  const ptx::Operand& target = in.destinations[0];
  MemoryAccess& access = lower_address(builder, in, *addresses[0], in.space);
  const unsigned memory_bytes = ptx::bytes_of(in.type);
  const unsigned bytes = target_bytes(builder, target, memory_bytes);
  access.element_bytes = static_cast<std::uint8_t>(memory_bytes);
  access.count = target.kind == OperandKind::kVector ? target.count : 1;
  access.flags = kRead;
  for (unsigned k = 0; k < access.count; ++k)
    access.rows[k] = builder.destination(
        target.kind == OperandKind::kVector ? builder.element(target, k) : target, bytes);
  const bool constant = addresses[0]->address_base != ptx::AddressBase::kRegister;
  const Handler handler = access.synchronising && access.where != Where::kLaneParameter
                              ? handler_of(in.type, bytes, {Where::kLocal, false, 0})
                              : handler_of(in.type, bytes, {access.where, constant, access.count});
  if (handler == nullptr) return false;
  Op& op = builder.emit(handler);
  op.extra = &access;
  if (constant && access.where == Where::kEntryParameter) {
    const ptx::Symbol& symbol = builder.function().symbols[addresses[0]->index];
    op.immediate = builder.symbol_address(symbol).value_or(0) +
                   static_cast<std::uint64_t>(addresses[0]->offset);
  }
  return true;
}

}  // namespace

bool lower_load(Builder& builder, const ptx::Instruction& in) {
  switch (in.opcode) {
    case Opcode::kLd:
    case Opcode::kLdu:
      return lower_ld(builder, in);
    case Opcode::kPrefetch:
    case Opcode::kPrefetchu:
      return lower_prefetch(builder, in);
    default:
      return false;
  }
}

}  // namespace drgpum::emulator::exec

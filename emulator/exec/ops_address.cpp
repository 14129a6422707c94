// SPDX-License-Identifier: Apache-2.0
// Lowers address operands: which space, which row, which constant offset.

#include "emulator/exec/row_ops.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::AddressBase;
using ptx::Space;

void set_symbol_address(Builder& builder, const ptx::Operand& address, MemoryAccess& access) {
  const ptx::Symbol& symbol = builder.function().symbols[address.index];
  const bool lane_parameter = access.where == Where::kEntryParameter &&
                              !(builder.is_entry() && symbol.kind == ptx::SymbolKind::kParameter);
  if (lane_parameter) {
    const ParameterStorage storage = builder.parameter_storage(symbol);
    access.where = Where::kLaneParameter;
    access.base = storage.offset;
    access.stride = storage.stride;
    access.offset = address.offset;
    return;
  }
  ptx::Operand operand = address;
  operand.kind = ptx::OperandKind::kSymbol;
  access.base = builder.source(operand, 8);  // the offset is in there
  access.offset = 0;
}

Where where_of(Space space) {
  switch (space) {
    case Space::kShared:
      return Where::kShared;
    case Space::kLocal:
      return Where::kLocal;
    case Space::kParam:
      return Where::kEntryParameter;
    default:
      return Where::kGeneric;
  }
}

}  // namespace

MemoryAccess& lower_address(Builder& builder, const ptx::Instruction& in,
                            const ptx::Operand& address, Space space) {
  MemoryAccess& access = builder.out().accesses.emplace_back();
  access.space = space;
  access.where = where_of(space);
  access.synchronising = in.is_volatile;
  for (const std::string& word : in.modifiers)
    if (word == "relaxed" || word == "acquire" || word == "release" || word == "acq_rel" ||
        word == "volatile" || word == "mmio")
      access.synchronising = true;
  switch (address.address_base) {
    case AddressBase::kRegister: {
      ptx::Operand base = address;
      base.kind = ptx::OperandKind::kRegister;
      access.base_is_wide = builder.register_bytes(address.index) == 8;
      access.base = builder.source(base, access.base_is_wide ? 8 : 4);
      access.offset = address.offset;
      // A pointer into the parameters of a device function points to their copy in local memory.
      if (access.where == Where::kEntryParameter && !builder.is_entry())
        access.where = Where::kLocal;
      break;
    }
    case AddressBase::kSymbol:
      set_symbol_address(builder, address, access);
      break;
    case AddressBase::kAbsolute:
      access.base = builder.constant(0, 8);
      access.offset = address.offset;
      break;
  }
  return access;
}

}  // namespace drgpum::emulator::exec

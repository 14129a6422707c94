// SPDX-License-Identifier: Apache-2.0
// Where registers, constants, parameters and local variables lie in a frame.

#include <algorithm>

#include "emulator/exec/block.h"
#include "emulator/exec/builder.h"
#include "emulator/exec/row_needs.h"
#include "emulator/ptx/control_flow.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {

using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;

bool transfers_control(const ptx::Instruction& instruction) {
  switch (instruction.opcode) {
    case Opcode::kBar:
    case Opcode::kBarrier:
    case Opcode::kCall:
    case Opcode::kBrx:
    case Opcode::kRet:
    case Opcode::kExit:
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kRedux:
    case Opcode::kElect:
    case Opcode::kNanosleep:
    case Opcode::kMbarrier:
    case Opcode::kWmma:
    case Opcode::kMma:
    case Opcode::kLdmatrix:
    case Opcode::kStmatrix:
    case Opcode::kMovmatrix:
      return true;
    default:
      return false;
  }
}

unsigned row_bytes(ptx::Type type) {
  if (type == ptx::Type::kPred) return 0;
  const unsigned bytes = ptx::bytes_of(type);
  return bytes == 1 ? 2 : bytes;
}

RowOffset Builder::allocate(std::uint32_t bytes, std::uint32_t alignment) {
  out_.frame_bytes = (out_.frame_bytes + alignment - 1) / alignment * alignment;
  const auto offset = static_cast<RowOffset>(out_.frame_bytes);
  out_.frame_bytes += bytes;
  return offset;
}

// Other splits may execute an instruction at which this one waits: its temporaries are its own.
RowOffset Builder::temporary(unsigned bytes) {
  const bool waits = current_ < function_.instructions.size() &&
                     transfers_control(function_.instructions[current_]);
  if (waits) return allocate(bytes * kLanes);
  const RowOffset row = take_row(bytes);
  temporaries_.emplace_back(row, bytes);
  return row;
}

RowOffset Builder::take_row(unsigned bytes) {
  auto& rows = free_rows_[bytes];
  if (rows.empty()) {
    const RowOffset row = allocate(bytes * kLanes);
    passing_.insert(row);
    return row;
  }
  const RowOffset row = rows.back();
  rows.pop_back();
  return row;
}

void Builder::give_row(RowOffset row, unsigned bytes) {
  free_rows_[bytes].push_back(row);
}

void Builder::release_temporaries() {
  for (const auto& [row, bytes] : temporaries_)
    give_row(row, bytes);
  temporaries_.clear();
}

RowOffset Builder::carry_row() {
  if (carry_row_ < 0) carry_row_ = allocate(4, 4);
  return carry_row_;
}

// Registers that pass within one block, from a write to the last read, with no instruction between
// at which a split may wait, need no row of their own: where other splits stand, nobody reads them.
void Builder::place_passing_registers() {
  constexpr std::uint32_t kNone = 0xffffffffu;
  struct Span {
    std::uint32_t first = kNone, last = 0;
    bool passes = true;
  };
  std::vector<Span> spans(function_.registers.size());
  std::vector<std::uint32_t> waits_before;  // per instruction: waiting instructions up to it
  std::uint32_t waits = 0;
  for (std::uint32_t n = 0; n < function_.instructions.size(); ++n) {
    const ptx::Instruction& instruction = function_.instructions[n];
    waits += transfers_control(instruction) ? 1 : 0;
    waits_before.push_back(waits);
    for (const std::uint32_t r : ptx::registers_read(function_, instruction)) {
      if (spans[r].first == kNone) spans[r].passes = false;
      spans[r].last = n;
    }
    for (const std::uint32_t r : ptx::registers_written(function_, instruction)) {
      const bool is_first = spans[r].first == kNone;
      if (is_first) spans[r].first = n;
      if (is_first && instruction.guard != ptx::kNoRegister) spans[r].passes = false;
      spans[r].last = std::max(spans[r].last, n);
    }
  }
  std::vector<std::vector<std::uint32_t>> starting(function_.instructions.size()),
      ending(function_.instructions.size());
  for (std::uint32_t r = 0; r < spans.size(); ++r) {
    const Span& span = spans[r];
    if (span.first == kNone || !span.passes || row_bytes(function_.registers[r].type) == 0)
      continue;
    const std::uint32_t before = span.first == 0 ? 0 : waits_before[span.first - 1];
    if (block_of(span.first) != block_of(span.last) || waits_before[span.last] != before) continue;
    starting[span.first].push_back(r);
    ending[span.last].push_back(r);
  }
  for (std::uint32_t n = 0; n < function_.instructions.size(); ++n) {
    for (const std::uint32_t r : starting[n])
      registers_[r] = take_row(row_bytes(function_.registers[r].type));
    for (const std::uint32_t r : ending[n])
      give_row(registers_[r], row_bytes(function_.registers[r].type));
  }
}

void Builder::place_registers() {
  constexpr RowOffset kUnplaced = -1;
  registers_.assign(function_.registers.size(), kUnplaced);
  place_passing_registers();
  free_rows_.clear();  // temporaries must not share rows with registers
  for (std::uint32_t r = 0; r < registers_.size(); ++r) {
    if (registers_[r] != kUnplaced) continue;
    const unsigned bytes = row_bytes(function_.registers[r].type);
    registers_[r] = bytes == 0 ? allocate(4, 4) : allocate(bytes * kLanes);
  }
}

void Builder::place_parameters() {
  const auto place = [&](std::uint32_t size) {
    return ParameterStorage{allocate(std::max(size, 1u) * kLanes), std::max(size, 1u)};
  };
  if (!function_.is_entry) {
    for (const ptx::Parameter& p : function_.parameters)
      out_.parameters.push_back(place(p.size));
    for (const ptx::Parameter& p : function_.returns)
      out_.returns.push_back(place(p.size));
  }
  for (const ptx::Variable& variable : function_.variables) {
    variables_.push_back(variable.space == ptx::Space::kParam
                             ? place(static_cast<std::uint32_t>(variable.size))
                             : ParameterStorage{});
  }
}

void Builder::place_locals() {
  std::uint32_t end = 0;
  const auto place = [&](std::uint32_t size, std::uint32_t alignment) {
    end = (end + alignment - 1) / alignment * alignment;
    const std::uint32_t offset = end;
    end += size;
    return offset;
  };
  for (const ptx::Variable& variable : function_.variables) {
    local_offsets_.push_back(
        variable.space == ptx::Space::kLocal
            ? place(static_cast<std::uint32_t>(variable.size), std::max(variable.alignment, 1u))
            : 0);
  }
  // A device function that takes the address of a parameter reads it from local memory.
  if (!function_.is_entry) {
    for (const ptx::Instruction& instruction : function_.instructions) {
      if (instruction.opcode != Opcode::kMov && instruction.opcode != Opcode::kCvta) continue;
      for (const Operand& operand : instruction.sources) {
        if (operand.kind != OperandKind::kSymbol) continue;
        const ptx::Symbol& symbol = function_.symbols[operand.index];
        if (symbol.kind != ptx::SymbolKind::kParameter) continue;
        const std::uint32_t size = function_.parameters[symbol.index].size;
        parameter_copies_.try_emplace(symbol.index, place(size, 16));
      }
    }
  }
  out_.local_bytes = (end + 15) / 16 * 16;
}

unsigned Builder::register_bytes(std::uint32_t index) const {
  return row_bytes(function_.registers[index].type);
}

RowOffset Builder::predicate_register(std::uint32_t index) const {
  return registers_[index];
}

RowOffset Builder::constant(std::uint64_t bits, unsigned bytes, std::uint64_t high) {
  if (bytes < 8) bits &= (std::uint64_t{1} << (8 * bytes)) - 1;
  auto [it, is_new] = constants_.try_emplace({bits, high, bytes}, 0);
  if (is_new) {
    constant_end_ -= static_cast<RowOffset>(std::max(bytes * kLanes, 64u));
    it->second = constant_end_;
  }
  return it->second;
}

RowOffset Builder::predicate(const Operand& operand) {
  if (operand.kind == OperandKind::kRegister) return registers_[operand.index];
  return constant(operand.bits != 0 ? 0xffffffffu : 0, 4);
}

ParameterStorage Builder::parameter_storage(const ptx::Symbol& symbol) const {
  switch (symbol.kind) {
    case ptx::SymbolKind::kParameter:
      return out_.parameters[symbol.index];
    case ptx::SymbolKind::kReturn:
      return out_.returns[symbol.index];
    default:
      return variables_[symbol.index];
  }
}

std::optional<std::uint64_t> Builder::symbol_address(const ptx::Symbol& symbol) const {
  const ptx::Program& program = image_.executable().program();
  switch (symbol.kind) {
    case ptx::SymbolKind::kGlobalVariable: {
      const ptx::Variable& variable = program.variables[symbol.index];
      if (variable.space == ptx::Space::kShared) return image_.shared_offset(variable);
      return image_.executable().variable_address(symbol.index);
    }
    case ptx::SymbolKind::kLocalVariable: {
      const ptx::Variable& variable = function_.variables[symbol.index];
      if (variable.space == ptx::Space::kShared) return image_.shared_offset(variable);
      return std::nullopt;
    }
    case ptx::SymbolKind::kParameter:
      if (function_.is_entry) return function_.parameters[symbol.index].offset;
      return std::nullopt;
    case ptx::SymbolKind::kFunction:
      return image_.executable().pc_base(symbol.index);
    default:
      return std::nullopt;
  }
}

std::pair<RowOffset, unsigned> Builder::stored(const Operand& operand, unsigned immediate_bytes) {
  switch (operand.kind) {
    case OperandKind::kRegister:
      return {registers_[operand.index], register_bytes(operand.index)};
    case OperandKind::kImmediate:
      return {constant(operand.bits, immediate_bytes), immediate_bytes};
    case OperandKind::kSpecial: {
      const bool wide = operand.special == ptx::Special::kClock64 ||
                        operand.special == ptx::Special::kGlobaltimer;
      const unsigned bytes = wide ? 8 : 4;
      const RowOffset row = temporary(bytes);
      Op& op = emit(special_handler(operand.special, bytes), row, 0);
      op.detail = static_cast<std::uint32_t>(operand.special);
      op.immediate = operand.bits;
      return {row, bytes};
    }
    case OperandKind::kSymbol: {
      const ptx::Symbol& symbol = function_.symbols[operand.index];
      if (const auto address = symbol_address(symbol))
        return {constant(*address + static_cast<std::uint64_t>(operand.offset), immediate_bytes),
                immediate_bytes};
      const std::uint32_t base = symbol.kind == ptx::SymbolKind::kParameter
                                     ? parameter_copies_.at(symbol.index)
                                     : local_offsets_[symbol.index];
      const RowOffset row = temporary(immediate_bytes);
      Op& op = emit(kLocalAddress, row, 0);
      op.detail = immediate_bytes;
      op.immediate = base + static_cast<std::uint64_t>(operand.offset);
      return {row, immediate_bytes};
    }
    default:
      return {constant(0, immediate_bytes), immediate_bytes};
  }
}

RowOffset Builder::source(const Operand& operand, unsigned bytes) {
  const auto [row, width] = stored(operand, bytes);
  if (width == bytes) return row;
  const RowOffset resized = temporary(bytes);
  emit(resize_handler(width, bytes), resized, row);
  return resized;
}

RowOffset Builder::destination(const Operand& operand, unsigned bytes) {
  if (operand.kind != OperandKind::kRegister) return temporary(bytes);
  const unsigned width = register_bytes(operand.index);
  if (width == bytes) return registers_[operand.index];
  const RowOffset row = temporary(bytes);
  Op op;
  op.run = resize_handler(bytes, width);
  op.dst = registers_[operand.index];
  op.a = row;
  op.instruction = current_;
  after_.push_back(op);
  return row;
}

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
// Which registers matter where: backward data flow over basic blocks.

#include <algorithm>

#include "emulator/ptx/control_flow.h"

namespace drgpum::emulator::ptx {
namespace {

using Set = std::vector<std::uint64_t>;

void insert(Set& set, std::uint32_t r) {
  set[r / 64] |= std::uint64_t{1} << (r % 64);
}
void remove(Set& set, std::uint32_t r) {
  set[r / 64] &= ~(std::uint64_t{1} << (r % 64));
}

void append_registers(const Function& function, const Operand& operand,
                      std::vector<std::uint32_t>& registers) {
  switch (operand.kind) {
    case OperandKind::kRegister:
      registers.push_back(operand.index);
      return;
    case OperandKind::kAddress:
      if (operand.address_base == AddressBase::kRegister) registers.push_back(operand.index);
      return;
    case OperandKind::kVector:
      for (std::uint32_t i = 0; i < operand.count; ++i) {
        append_registers(function, function.vector_elements[operand.index + i], registers);
      }
      return;
    default:
      return;
  }
}

// Turns what is live after the block into what is live before it.
void go_back_through(const Function& function, const BasicBlock& block, Set& live) {
  for (std::uint32_t i = block.end; i-- > block.begin;) {
    const Instruction& instruction = function.instructions[i];
    if (instruction.guard == kNoRegister) {
      for (const std::uint32_t r : registers_written(function, instruction))
        remove(live, r);
    }
    for (const std::uint32_t r : registers_read(function, instruction))
      insert(live, r);
  }
}

}  // namespace

std::vector<std::uint32_t> registers_read(const Function& function,
                                          const Instruction& instruction) {
  std::vector<std::uint32_t> registers;
  if (instruction.guard != kNoRegister) registers.push_back(instruction.guard);
  for (const Operand& operand : instruction.destinations) {
    if (operand.kind == OperandKind::kAddress) append_registers(function, operand, registers);
  }
  for (const Operand& operand : instruction.sources) {
    append_registers(function, operand, registers);
  }
  return registers;
}

std::vector<std::uint32_t> registers_written(const Function& function,
                                             const Instruction& instruction) {
  std::vector<std::uint32_t> registers;
  for (const Operand& operand : instruction.destinations) {
    if (operand.kind != OperandKind::kAddress) append_registers(function, operand, registers);
  }
  return registers;
}

Liveness analyze_liveness(const Function& function) {
  const std::size_t words = (function.registers.size() + 63) / 64;
  const std::size_t blocks = function.blocks.size();
  Liveness result{std::vector<Set>(blocks, Set(words)), std::vector<Set>(blocks, Set(words))};
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = blocks; b-- > 0;) {
      Set& out = result.live_out[b];
      for (const std::uint32_t s : function.blocks[b].successors) {
        for (std::size_t w = 0; w < words; ++w)
          out[w] |= result.live_in[s][w];
      }
      Set live = out;
      go_back_through(function, function.blocks[b], live);
      if (live == result.live_in[b]) continue;
      result.live_in[b] = std::move(live);
      changed = true;
    }
  }
  return result;
}

}  // namespace drgpum::emulator::ptx

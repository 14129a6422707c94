// SPDX-License-Identifier: Apache-2.0
// Guards, block ends and targets; the families do the rest.

#include "emulator/exec/builder.h"

#include <algorithm>
#include <cstring>

#include "emulator/exec/block.h"
#include "emulator/exec/row_needs.h"
#include "emulator/ptx/control_flow.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::Operand;
using ptx::OperandKind;

using Family = bool (*)(Builder&, const ptx::Instruction&);

constexpr Family kFamilies[] = {
    lower_integer,     lower_division, lower_carry,   lower_logic,  lower_bitfield, lower_float,
    lower_approximate, lower_half,     lower_compare, lower_select, lower_convert,  lower_move,
    lower_load,        lower_store,    lower_atomic,  lower_async,  lower_shuffle,  lower_vote,
    lower_barrier,     lower_control,  lower_call,    lower_matrix, lower_video,    lower_cluster,
    lower_texture,     lower_surface,  lower_packed};

bool ends_block(Opcode opcode) {
  return opcode == Opcode::kBra || opcode == Opcode::kBrx || opcode == Opcode::kRet ||
         opcode == Opcode::kExit || opcode == Opcode::kTrap || opcode == Opcode::kCall;
}

}  // namespace

Builder::Builder(const KernelImage& image, std::uint32_t function, LoweredFunction& out)
    : image_(image), function_(image.executable().program().functions[function]), out_(out) {
  out_.source = &function_;
  out_.index = function;
  out_.code_base = image.executable().pc_base(function);
}

Op& Builder::emit(Handler handler) {
  Op op;
  op.run = handler;
  op.instruction = current_;
  out_.ops.push_back(op);
  return out_.ops.back();
}

Op& Builder::emit(Handler handler, RowOffset dst, RowOffset a, RowOffset b, RowOffset c) {
  Op& op = emit(handler);
  op.dst = dst;
  op.a = a;
  op.b = b;
  op.c = c;
  return op;
}

BlockCost Builder::take_cost() {
  return std::exchange(cost_, BlockCost{});
}

void Builder::set_target(Op& op, std::uint32_t instruction) {
  fixups_.push_back({static_cast<std::size_t>(&op - out_.ops.data()), instruction});
}

void Builder::set_reconvergence(BranchSite& site, std::uint32_t instruction) {
  site_fixups_.push_back({&site, instruction, false});
}

void Builder::add_table_target(BranchSite& site, std::uint32_t instruction) {
  site_fixups_.push_back({&site, instruction, true});
}

std::uint32_t Builder::block_of(std::uint32_t instruction) const {
  return ptx::block_of(function_, instruction);
}

std::optional<std::uint32_t> Builder::post_dominator(std::uint32_t instruction) const {
  const std::uint32_t block = function_.blocks[block_of(instruction)].post_dominator;
  if (block == 0xffffffffu) return std::nullopt;
  return function_.blocks[block].begin;
}

void Builder::emit_unsupported(const std::string& why) {
  Op& op = emit(kUnsupported);
  op.extra = &out_.texts.emplace_back(why);
}

void Builder::tally(const ptx::Instruction& instruction) {
  ++cost_.instructions;
  ++cost_.lane[0];
  switch (instruction.opcode) {
    case Opcode::kLd:
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed:
    case Opcode::kBra:
    case Opcode::kRet:
    case Opcode::kBar:
      return;
    default:
      break;
  }
  switch (instruction.type) {
    case ptx::Type::kF32:
    case ptx::Type::kF16:
    case ptx::Type::kF16x2:
    case ptx::Type::kBf16:
    case ptx::Type::kBf16x2:
      ++cost_.lane[1];
      break;
    case ptx::Type::kF64:
      ++cost_.lane[2];
      break;
    default:
      ++cost_.lane[3];
      break;
  }
}

void Builder::lower_plain(const ptx::Instruction& instruction) {
  const std::size_t before = out_.ops.size();
  for (const Family family : kFamilies) {
    if (family(*this, instruction)) {
      out_.ops.insert(out_.ops.end(), after_.begin(), after_.end());
      after_.clear();
      return;
    }
    out_.ops.resize(before);
    after_.clear();
  }
  emit_unsupported("is not supported by the emulated device");
}

void Builder::lower_guarded(const ptx::Instruction& instruction) {
  const RowOffset guard = registers_[instruction.guard];
  const std::size_t at = out_.ops.size();
  if (transfers_control(instruction)) {
    // A branch around it, which reconverges right after it.
    BranchSite& site = out_.branches.emplace_back();
    emit(instruction.guard_negated ? kBranchIf : kBranchIfNot, 0, guard).extra = &site;
    lower_plain(instruction);
    const std::size_t end = out_.ops.size();
    emit(kConverge);
    fixups_.push_back({at, ~static_cast<std::uint32_t>(end)});
    site_fixups_.push_back({&site, ~static_cast<std::uint32_t>(end), false});
    return;
  }
  emit(kGuardOne, 0, guard).detail = instruction.guard_negated ? 1 : 0;
  lower_plain(instruction);
  if (out_.ops.size() == at + 2) return;
  out_.ops[at].run = kGuardBegin;
  emit(kGuardEnd);
  fixups_.push_back({at, ~static_cast<std::uint32_t>(out_.ops.size() - 1)});
}

void Builder::begin_block(std::uint32_t number) {
  if (number > 0 && !ends_block(function_.instructions[number - 1].opcode)) {
    BranchSite& site = out_.branches.emplace_back();
    site.cost = take_cost();
    emit(kCount).extra = &site;
  }
  // Ops up to here belong to the block before; jumps come in at the next one.
  out_.first_op[number] = static_cast<std::uint32_t>(out_.ops.size());
  if (converges_[block_of(number)]) emit(kConverge);
}

void Builder::lower_instruction(std::uint32_t number) {
  const ptx::Instruction& instruction = function_.instructions[number];
  tally(instruction);
  const bool guarded = instruction.guard != ptx::kNoRegister;
  if (guarded && instruction.opcode != Opcode::kBra) {
    lower_guarded(instruction);
  } else {
    lower_plain(instruction);
  }
}

void Builder::copy_addressed_parameters() {
  for (const auto& [parameter, offset] : parameter_copies_) {
    const ParameterStorage& storage = out_.parameters[parameter];
    Op& op = emit(kCopyParameter, 0, storage.offset, static_cast<RowOffset>(storage.stride));
    op.immediate = offset;
  }
}

void Builder::lower() {
  place_registers();
  place_parameters();
  place_locals();
  converges_.assign(function_.blocks.size() + 1, false);
  for (const ptx::BasicBlock& block : function_.blocks) {
    if (block.successors.size() > 1 && block.post_dominator < function_.blocks.size())
      converges_[block.post_dominator] = true;
  }
  const auto count = static_cast<std::uint32_t>(function_.instructions.size());
  out_.first_op.assign(count + 1, 0);
  copy_addressed_parameters();
  std::size_t next_block = 0;
  for (std::uint32_t number = 0; number < count; ++number) {
    current_ = number;
    out_.first_op[number] = static_cast<std::uint32_t>(out_.ops.size());
    if (next_block < function_.blocks.size() && function_.blocks[next_block].begin == number) {
      begin_block(number);
      ++next_block;
    }
    lower_instruction(number);
    release_temporaries();
  }
  finish();
}

void Builder::finish() {
  current_ = static_cast<std::uint32_t>(function_.instructions.size());
  out_.first_op.back() = static_cast<std::uint32_t>(out_.ops.size());
  // Falling off the end returns.
  ptx::Instruction ret;
  ret.opcode = Opcode::kRet;
  lower_plain(ret);
  const auto place = [&](std::uint32_t instruction) {
    // Complemented numbers are ops already.
    const bool is_op = (instruction & 0x80000000u) != 0;
    return out_.ops.data() + (is_op ? ~instruction : out_.first_op[instruction]);
  };
  for (Op& op : out_.ops) {
    // A guard's other lanes belong to this split and keep their values.
    const bool guarded = op.instruction < current_ &&
                         function_.instructions[op.instruction].guard != ptx::kNoRegister;
    op.write_all = !guarded && passing_.contains(op.dst) ? kFullMask : 0;
  }
  for (const Fixup& fixup : fixups_)
    out_.ops[fixup.op].target = place(fixup.instruction);
  for (const SiteFixup& fixup : site_fixups_) {
    if (fixup.table) {
      fixup.site->table.push_back(place(fixup.instruction));
    } else {
      fixup.site->reconverge = place(fixup.instruction);
    }
  }
  const auto bytes = static_cast<std::size_t>(-constant_end_);
  out_.constant_storage.assign(bytes + 64, std::byte{0});
  const auto address = reinterpret_cast<std::uintptr_t>(out_.constant_storage.data());
  std::byte* end = out_.constant_storage.data() + (64 - address % 64) % 64 + bytes;
  out_.constants = end;
  for (const auto& [value, offset] : constants_) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      std::byte* element = end + offset + lane * value.bytes;
      std::memcpy(element, &value.bits, std::min(value.bytes, 8u));
      if (value.bytes == 16) std::memcpy(element + 8, &value.high, 8);
    }
  }
}

bool has_word(const ptx::Instruction& instruction, std::string_view word) {
  const auto& words = instruction.modifiers;
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::vector<const Operand*> values_of(const ptx::Instruction& instruction) {
  std::vector<const Operand*> found;
  for (const auto* list : {&instruction.destinations, &instruction.sources})
    for (const Operand& operand : *list)
      if (operand.kind != OperandKind::kAddress) found.push_back(&operand);
  return found;
}

std::vector<const Operand*> addresses_of(const ptx::Instruction& instruction) {
  std::vector<const Operand*> found;
  for (const auto* list : {&instruction.destinations, &instruction.sources})
    for (const Operand& operand : *list)
      if (operand.kind == OperandKind::kAddress) found.push_back(&operand);
  return found;
}

}  // namespace drgpum::emulator::exec

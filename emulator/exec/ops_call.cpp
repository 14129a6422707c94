// SPDX-License-Identifier: Apache-2.0
// call and ret of device functions, direct and through pointers, and the functions that the device
// runtime provides: vprintf, __assertfail, malloc, free.

#include <bit>
#include <cstring>

#include "emulator/exec/builtins.h"
#include "emulator/exec/row_ops.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::OperandKind;

const CallSite& site_of(const Op* op) {
  return *static_cast<const CallSite*>(op->extra);
}

const LoweredFunction& callee_of(const WarpContext& warp, std::uint32_t index) {
  return warp.frame->function->image->function(index);
}

void copy_lanes(std::byte* to, const std::byte* from, std::uint32_t stride, std::uint32_t mask) {
  if (mask == kFullMask) {
    std::memcpy(to, from, std::size_t{stride} * kLanes);
    return;
  }
  blend_bytes(to, from, mask, stride);
}

const Op* run_callee(const Op* op, WarpContext& warp, const CallSite& site,
                     const LoweredFunction& callee) {
  const std::byte* caller_rows = warp.rows;
  const std::byte* caller_constants = warp.constants;
  Frame* frame = enter_function(warp, op, callee);
  if (frame == nullptr) return nullptr;
  frame->site = &site;
  const std::size_t count = std::min(site.arguments.size(), callee.parameters.size());
  for (std::size_t i = 0; i < count; ++i) {
    const ParameterStorage& argument = site.arguments[i];
    const std::byte* from =
        (argument.offset >= 0 ? caller_rows : caller_constants) + argument.offset;
    const std::uint32_t stride = std::min(argument.stride, callee.parameters[i].stride);
    std::byte* to = warp.rows + callee.parameters[i].offset;
    if (argument.stride == callee.parameters[i].stride) {
      copy_lanes(to, from, stride, warp.mask);
    } else {
      for (unsigned lane = 0; lane < kLanes; ++lane)
        std::memcpy(to + lane * callee.parameters[i].stride, from + lane * argument.stride, stride);
    }
  }
  return callee.ops.data();
}

const Op* call_direct(const Op* op, WarpContext& warp) {
  const CallSite& site = site_of(op);
  warp.worker->count(warp, site.cost);
  return run_callee(op, warp, site, callee_of(warp, site.function));
}

// The lanes outside `together` execute `op` again later; all meet at the converge op after it.
void diverge_call(WarpContext& warp, std::uint32_t together, const Op* op) {
  const bool shared = warp.parent != nullptr && warp.parent->reconverge == op + 1 &&
                      warp.parent->frame == warp.frame && warp.parent->callee == nullptr;
  if (!shared) {
    Reconvergence* record = make_record(warp);
    record->reconverge = op + 1;
    record->mask = warp.mask;
    record->parent = warp.parent;
    record->frame = warp.frame;
    warp.parent = record;
  }
  const std::uint32_t all = warp.mask;
  warp.mask = all & ~together;
  park(warp, op, SplitState::kReady);
  warp.mask = together;
}

// Lanes with the same target go together; the others execute the call again.
const Op* call_indirect(const Op* op, WarpContext& warp) {
  const CallSite& site = site_of(op);
  const auto* targets = warp.source<std::uint64_t>(site.callee);
  const auto first = static_cast<unsigned>(std::countr_zero(warp.mask));
  const std::uint64_t target = targets[first];
  const auto index = warp.frame->function->image->executable().function_at(target);
  if (!index)
    return raise(warp, op, FaultKind::kIllegalInstruction, first,
                 "call through a pointer that is no function: " + std::to_string(target));
  std::uint32_t together = 0;
  for_lanes(warp.mask, [&](unsigned lane) {
    if (targets[lane] == target) together |= 1u << lane;
  });
  if (together != warp.mask) diverge_call(warp, together, op);
  warp.worker->count(warp, site.cost);
  return run_callee(op, warp, site, callee_of(warp, *index));
}

const Op* call_builtin_op(const Op* op, WarpContext& warp) {
  const CallSite& site = site_of(op);
  warp.worker->count(warp, site.cost);
  return call_builtin(warp, op, site);
}

// The lanes' results go to the caller at once; the lanes wait there for the rest of the call.
const Op* return_from_function(const Op* op, WarpContext& warp) {
  warp.worker->count(warp, static_cast<const BranchSite*>(op->extra)->cost);
  Frame* frame = warp.frame;
  const auto& returns = frame->function->returns;
  if (frame->site != nullptr) {
    const std::size_t count = std::min(frame->site->results.size(), returns.size());
    for (std::size_t i = 0; i < count; ++i) {
      const ParameterStorage& result = frame->site->results[i];
      if (result.stride != returns[i].stride) continue;
      copy_lanes(frame->caller->rows + result.offset, frame->rows + returns[i].offset,
                 result.stride, warp.mask);
    }
  }
  return arrive(warp, leave_until_call(warp));
}

const Op* copy_parameter(const Op* op, WarpContext& warp) {
  const auto stride = static_cast<std::uint32_t>(op->b);
  const std::byte* from = warp.rows + op->a;
  const std::uint64_t offset = warp.frame->local_base + op->immediate;
  for_lanes(warp.mask, [&](unsigned lane) {
    std::memcpy(warp.local.get() + lane * std::size_t{warp.local_stride} + offset,
                from + std::size_t{lane} * stride, stride);
  });
  return op + 1;
}

// Arguments are .param variables, registers or immediates of the parameter's type.
ParameterStorage argument_of(Builder& builder, const ptx::Operand& operand, unsigned bytes) {
  if (operand.kind == OperandKind::kSymbol) {
    const ptx::Symbol& symbol = builder.function().symbols[operand.index];
    const bool is_param = symbol.kind == ptx::SymbolKind::kParameter ||
                          symbol.kind == ptx::SymbolKind::kReturn ||
                          (symbol.kind == ptx::SymbolKind::kLocalVariable &&
                           builder.function().variables[symbol.index].space == ptx::Space::kParam);
    if (is_param) return builder.parameter_storage(symbol);
  }
  const auto [row, width] = builder.stored(operand, bytes);
  return {row, width};
}

const ptx::Function* callee_function(Builder& builder, const ptx::Operand& callee,
                                     std::uint32_t& index) {
  if (callee.kind != OperandKind::kSymbol) return nullptr;
  const ptx::Symbol& symbol = builder.function().symbols[callee.index];
  if (symbol.kind != ptx::SymbolKind::kFunction) return nullptr;
  index = symbol.index;
  return &builder.image().executable().program().functions[index];
}

std::string name_of(Builder& builder, const ptx::Operand& callee) {
  return callee.kind == OperandKind::kSymbol ? builder.function().symbols[callee.index].name
                                             : std::string("(indirect)");
}

bool lower_call_instruction(Builder& builder, const ptx::Instruction& in) {
  if (in.sources.empty()) return false;
  CallSite& site = builder.out().calls.emplace_back();
  const ptx::Operand& callee = in.sources[0];
  site.name = name_of(builder, callee);
  const ptx::Function* function = callee_function(builder, callee, site.function);
  site.indirect = callee.kind == OperandKind::kRegister;
  for (std::size_t i = 1; i < in.sources.size(); ++i) {
    const bool known = function != nullptr && i - 1 < function->parameters.size();
    const unsigned bytes = known ? function->parameters[i - 1].size : 8;
    site.arguments.push_back(argument_of(builder, in.sources[i], bytes == 1 ? 2 : bytes));
  }
  for (const ptx::Operand& result : in.destinations)
    site.results.push_back(argument_of(builder, result, 4));
  if (site.indirect) {
    site.callee = builder.source(callee, 8);
  } else if (function == nullptr || !function->has_body) {
    site.builtin = builtin_named(site.name);
  }
  site.cost = builder.take_cost();
  const bool builtin = !site.indirect && site.builtin != Builtin::kNone;
  builder.emit(builtin         ? call_builtin_op
               : site.indirect ? call_indirect
                               : call_direct)
      .extra = &site;
  if (site.indirect) builder.emit(kConverge);
  return true;
}

}  // namespace

const Handler kCopyParameter = copy_parameter;

bool lower_call(Builder& builder, const ptx::Instruction& in) {
  if (in.opcode == Opcode::kCall) return lower_call_instruction(builder, in);
  if (in.opcode != Opcode::kRet || builder.is_entry()) return false;
  BranchSite& site = builder.out().branches.emplace_back();
  site.cost = builder.take_cost();
  builder.emit(return_from_function).extra = &site;
  return true;
}

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
// Branches, guards, reconvergence, exit, trap, nanosleep; and the ops that do nothing here.

#include <algorithm>

#include "emulator/exec/row_ops.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;

const BranchSite& site_of(const Op* op) {
  return *static_cast<const BranchSite*>(op->extra);
}

inline const Op* go_to(const Op* next, WarpContext& warp) {
  if (--warp.budget < 0) [[unlikely]]
    return yield(warp, next);
  return next;
}

const Op* branch(const Op* op, WarpContext& warp) {
  warp.worker->count(warp, site_of(op).cost);
  return go_to(op->target, warp);
}

template <bool negated>
const Op* branch_if(const Op* op, WarpContext& warp) {
  const BranchSite& site = site_of(op);
  warp.worker->count(warp, site.cost);
  const std::uint32_t predicate = warp.predicate(op->a);
  const std::uint32_t taken = (negated ? ~predicate : predicate) & warp.mask;
  if (taken == 0) return go_to(op + 1, warp);
  if (taken == warp.mask) return go_to(op->target, warp);
  return go_to(diverge(warp, taken, op->target, op + 1, site.reconverge), warp);
}

// brx.idx: lanes with the same target stay together.
const Op* branch_indexed(const Op* op, WarpContext& warp) {
  const BranchSite& site = site_of(op);
  warp.worker->count(warp, site.cost);
  const auto* index = warp.source<std::uint32_t>(op->a);
  const auto target_of = [&](unsigned lane) -> const Op* {
    return index[lane] < site.table.size() ? site.table[index[lane]] : nullptr;
  };
  const auto first = static_cast<unsigned>(std::countr_zero(warp.mask));
  const Op* target = target_of(first);
  if (target == nullptr)
    return raise(warp, op, FaultKind::kIllegalInstruction, first,
                 "brx.idx with index " + std::to_string(index[first]) + " of a table of " +
                     std::to_string(site.table.size()));
  std::uint32_t together = 0;
  for_lanes(warp.mask, [&](unsigned lane) {
    if (target_of(lane) == target) together |= 1u << lane;
  });
  if (together == warp.mask) return go_to(target, warp);
  // The others execute this op again when their turn comes.
  return go_to(diverge(warp, together, target, op, site.reconverge), warp);
}

const Op* converge(const Op* op, WarpContext& warp) {
  Reconvergence* record = warp.parent;
  if (record == nullptr || record->reconverge != op || record->frame != warp.frame ||
      record->callee != nullptr)
    return op + 1;
  return arrive(warp, record);
}

const Op* count(const Op* op, WarpContext& warp) {
  warp.worker->count(warp, site_of(op).cost);
  return op + 1;
}

std::uint32_t guarded_lanes(const Op* op, const WarpContext& warp) {
  const std::uint32_t predicate = warp.predicate(op->a);
  return warp.mask & (op->detail != 0 ? ~predicate : predicate);
}

const Op* guard_one(const Op* op, WarpContext& warp) {
  const std::uint32_t lanes = guarded_lanes(op, warp);
  if (lanes == 0) return op + 2;
  const std::uint32_t all = warp.mask;
  warp.mask = lanes;
  const Op* next = op[1].run(op + 1, warp);
  if (next == nullptr) return nullptr;
  warp.mask = all;
  return op + 2;
}

const Op* guard_begin(const Op* op, WarpContext& warp) {
  warp.saved_mask = warp.mask;
  const std::uint32_t lanes = guarded_lanes(op, warp);
  if (lanes == 0) return op->target + 1;
  warp.mask = lanes;
  return op + 1;
}

const Op* guard_end(const Op* op, WarpContext& warp) {
  warp.mask = warp.saved_mask;
  return op + 1;
}

const Op* exit_kernel(const Op* op, WarpContext& warp) {
  warp.worker->count(warp, site_of(op).cost);
  AccessHook* hook = warp.worker->launch->config->hook;
  if (hook != nullptr && hook->wants_blocks())
    hook->on_block_exit(warp, pc_of(warp, op), warp.mask);
  return exit_lanes(warp);
}

const Op* trap(const Op* op, WarpContext& warp) {
  const auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  return raise(warp, op, FaultKind::kTrap, lane, "trap instruction");
}

const Op* unsupported(const Op* op, WarpContext& warp) {
  const auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  return raise(warp, op, FaultKind::kUnsupported, lane,
               *static_cast<const std::string*>(op->extra));
}

// The warp's clock goes on; the others get their turn.
const Op* sleep(const Op* op, WarpContext& warp) {
  const auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  warp.slept_ns += std::min(warp.source<std::uint32_t>(op->a)[lane], 1'000'000u);
  warp.spin_seen = true;
  return yield(warp, op + 1);
}

bool lower_branch(Builder& builder, const ptx::Instruction& in) {
  BranchSite& site = builder.out().branches.emplace_back();
  site.cost = builder.take_cost();
  const ptx::Operand& label = in.sources.empty() ? in.destinations[0] : in.sources[0];
  const bool guarded = in.guard != ptx::kNoRegister;
  Op& op = builder.emit(!guarded ? kBranch : in.guard_negated ? kBranchIfNot : kBranchIf);
  op.extra = &site;
  if (guarded) op.a = builder.predicate_register(in.guard);
  builder.set_target(op, label.index);
  if (const auto block = builder.post_dominator(builder.current()))
    builder.set_reconvergence(site, *block);
  return true;
}

bool lower_indexed_branch(Builder& builder, const ptx::Instruction& in) {
  if (in.sources.size() < 2 || in.sources[1].kind != ptx::OperandKind::kLabelTable) return false;
  const RowOffset index = builder.source(in.sources[0], 4);
  BranchSite& site = builder.out().branches.emplace_back();
  site.cost = builder.take_cost();
  for (const std::uint32_t target : builder.function().label_tables[in.sources[1].index])
    builder.add_table_target(site, target);
  builder.emit(branch_indexed, 0, index).extra = &site;
  if (const auto block = builder.post_dominator(builder.current()))
    builder.set_reconvergence(site, *block);
  return true;
}

bool lower_exit(Builder& builder) {
  BranchSite& site = builder.out().branches.emplace_back();
  site.cost = builder.take_cost();
  builder.emit(exit_kernel).extra = &site;
  return true;
}

const Op* nothing(const Op* op, WarpContext&) {
  return op + 1;
}

const Op* fence(const Op* op, WarpContext& warp) {
  if (warp.worker->launch->shared_atomics) std::atomic_thread_fence(std::memory_order_seq_cst);
  return op + 1;
}

}  // namespace

const Handler kGuardOne = guard_one;
const Handler kGuardBegin = guard_begin;
const Handler kGuardEnd = guard_end;
const Handler kConverge = converge;
const Handler kCount = count;
const Handler kUnsupported = unsupported;
const Handler kBranch = branch;
const Handler kBranchIf = branch_if<false>;
const Handler kBranchIfNot = branch_if<true>;

bool lower_control(Builder& builder, const ptx::Instruction& in) {
  switch (in.opcode) {
    case Opcode::kBra:
      return lower_branch(builder, in);
    case Opcode::kBrx:
      return lower_indexed_branch(builder, in);
    case Opcode::kExit:
      return lower_exit(builder);
    case Opcode::kRet:
      return builder.is_entry() && lower_exit(builder);
    case Opcode::kTrap:
    case Opcode::kBrkpt:
      builder.emit(trap);
      return true;
    case Opcode::kNanosleep:
      builder.emit(sleep, 0, builder.source(in.sources[0], 4));
      return true;
    case Opcode::kMembar:
    case Opcode::kFence:
      builder.emit(fence);
      return true;
    // Hints.
    case Opcode::kPmevent:
    case Opcode::kGriddepcontrol:
    case Opcode::kDiscard:
    case Opcode::kApplypriority:
      builder.emit(nothing);
      return true;
    default:
      return false;
  }
}

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
// Barriers of a block: bar and barrier with .sync, .arrive and .red. Arrivals are counted in
// threads; a count given in the program covers whole warps, as on the hardware.

#include <bit>

#include "emulator/exec/row_ops.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::Opcode;
using ptx::WarpMode;

enum class Reduction : std::uint8_t { kNone, kAnd, kOr, kPopc };

// Ops: a: the barrier's number; b: thread count, used if detail has kHasCount; c: predicate;
// immediate: Reduction.
constexpr std::uint32_t kHasCount = 1, kArriveOnly = 2, kNegated = 4;

// Lanes that this split stands for in a count of whole warps: lanes that have exited, or never
// were, come with the first that arrives. A warp's other live lanes arrive on their own.
std::uint32_t arrivals(const WarpContext& warp, bool counted) {
  const auto lanes = static_cast<std::uint32_t>(std::popcount(warp.mask));
  if (!counted) return lanes;
  const bool first = (warp.live & (warp.mask - 1) & ~warp.mask) == 0 &&
                     std::countr_zero(warp.live) == std::countr_zero(warp.mask);
  return lanes + (first ? kLanes - static_cast<std::uint32_t>(std::popcount(warp.live)) : 0);
}

bool is_complete(const Block& block, const Barrier& barrier) {
  if (barrier.arrived == 0) return false;
  return barrier.expected == 0 ? barrier.arrived >= block.live_threads
                               : barrier.arrived >= barrier.expected;
}

void write_reduction(WarpContext& warp, const Split& split, const Op* op, const Barrier& barrier) {
  const auto reduction = static_cast<Reduction>(op->immediate);
  if (reduction == Reduction::kNone) return;
  std::byte* rows = split.frame->rows;
  if (reduction == Reduction::kPopc) {
    auto* dst = reinterpret_cast<std::uint32_t*>(rows + op->dst);
    for_lanes(split.mask, [&](unsigned lane) { dst[lane] = barrier.count; });
    return;
  }
  const bool held =
      reduction == Reduction::kAnd ? barrier.count == barrier.voted : barrier.count != 0;
  auto& dst = *reinterpret_cast<std::uint32_t*>(rows + op->dst);
  dst = (dst & ~split.mask) | (held ? split.mask : 0);
  static_cast<void>(warp);
}

void open(Block& block, std::uint32_t number) {
  Barrier& barrier = block.barriers[number];
  for (auto& warp : block.warps) {
    for (Split& split : warp->parked) {
      if (split.state != SplitState::kAtBarrier || split.barrier != number) continue;
      write_reduction(*warp, split, split.pc, barrier);
      split.state = SplitState::kReady;
      ++split.pc;
    }
  }
  barrier = Barrier{};
}

const Op* barrier(const Op* op, WarpContext& warp) {
  Block& block = *warp.block;
  const auto lane = static_cast<unsigned>(std::countr_zero(warp.mask));
  const std::uint32_t number = warp.source<std::uint32_t>(op->a)[lane];
  if (number >= kBarriers)
    return raise(warp, op, FaultKind::kIllegalInstruction, lane,
                 "barrier " + std::to_string(number) + " of 16");
  Barrier& state = block.barriers[number];
  const bool counted = (op->detail & kHasCount) != 0;
  if (counted) state.expected = warp.source<std::uint32_t>(op->b)[lane];
  state.arrived += arrivals(warp, counted);
  if (static_cast<Reduction>(op->immediate) != Reduction::kNone) {
    const std::uint32_t held =
        *warp.source<std::uint32_t>(op->c) ^ ((op->detail & kNegated) != 0 ? ~0u : 0);
    state.count += static_cast<std::uint32_t>(std::popcount(held & warp.mask));
    state.voted += static_cast<std::uint32_t>(std::popcount(warp.mask));
  }
  const bool arrive_only = (op->detail & kArriveOnly) != 0;
  if (!arrive_only) park(warp, op, SplitState::kAtBarrier, number);
  if (is_complete(block, state)) open(block, number);
  return arrive_only ? op + 1 : next_split(warp);
}

Reduction reduction_of(const ptx::Instruction& in) {
  if (in.warp_mode != WarpMode::kRed) return Reduction::kNone;
  for (const std::string& word : in.modifiers) {
    if (word == "and") return Reduction::kAnd;
    if (word == "or") return Reduction::kOr;
    if (word == "popc") return Reduction::kPopc;
  }
  return Reduction::kNone;
}

}  // namespace

void threads_exited(Block& block, std::uint32_t count) {
  block.live_threads -= count;
  for (std::uint32_t number = 0; number < kBarriers; ++number)
    if (is_complete(block, block.barriers[number])) open(block, number);
}

bool lower_barrier(Builder& builder, const ptx::Instruction& in) {
  if (in.opcode != Opcode::kBar && in.opcode != Opcode::kBarrier) return false;
  const Reduction reduction = reduction_of(in);
  if (has_word(in, "cluster")) return false;
  if (in.sources.empty()) return false;
  // Sources: number, count (if given), predicate (.red).
  const std::size_t without_predicate = in.sources.size() - (reduction == Reduction::kNone ? 0 : 1);
  const bool counted = without_predicate > 1;
  const RowOffset number = builder.source(in.sources[0], 4);
  const RowOffset count = counted ? builder.source(in.sources[1], 4) : number;
  Op& op = builder.emit(barrier, 0, number, count, number);
  op.detail = (counted ? kHasCount : 0) | (in.warp_mode == WarpMode::kArrive ? kArriveOnly : 0);
  op.immediate = static_cast<std::uint64_t>(reduction);
  if (reduction == Reduction::kNone) return true;
  const ptx::Operand& predicate = in.sources.back();
  op.c = builder.predicate(predicate);
  if (predicate.negated) op.detail |= kNegated;
  op.dst = reduction == Reduction::kPopc ? builder.destination(in.destinations[0], 4)
                                         : builder.predicate(in.destinations[0]);
  return true;
}

}  // namespace drgpum::emulator::exec

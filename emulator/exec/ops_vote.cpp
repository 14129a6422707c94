// SPDX-License-Identifier: Apache-2.0
// vote, match, redux, activemask, elect, and bar.warp.sync.

#include <algorithm>
#include <bit>

#include "emulator/exec/members.h"
#include "emulator/ptx/words.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::AtomOp;
using ptx::Opcode;
using ptx::OperandKind;
using ptx::Type;
using ptx::WarpMode;

// b: the member mask's row, for all of these; 0 in `detail` bit 31: no .sync.
constexpr std::uint32_t kHasMembers = 0x80000000u;
constexpr std::uint32_t kNegatedSource = 0x40000000u;

using Body = void (*)(const Op*, WarpContext&);

// Lanes whose member masks differ (tiles of cooperative groups) are groups apart.
template <Body body>
void run_groups(const Op* op, WarpContext& warp, const std::uint32_t* members) {
  const std::uint32_t all = warp.mask;
  for (std::uint32_t left = all; left != 0; left &= ~warp.mask) {
    const std::uint32_t mask = members[std::countr_zero(left)];
    warp.mask = left & lanes_where([=](unsigned i) { return members[i] == mask; });
    body(op, warp);
  }
  warp.mask = all;
}

template <Body body>
const Op* together(const Op* op, WarpContext& warp) {
  if ((op->detail & kHasMembers) == 0) {
    body(op, warp);
    return op + 1;
  }
  const std::uint32_t own = warp.mask;
  const auto* members = warp.source<std::uint32_t>(op->b);
  if (!gather_members(warp, op, members)) return next_split(warp);
  run_groups<body>(op, warp, members);
  end_warp_sync(warp, op, own);
  return op + 1;
}

void synchronise(const Op*, WarpContext&) {}

// What a lane is told of the lanes that it asks; `held` are those of them for which it holds.
bool answer(WarpMode mode, std::uint32_t held, std::uint32_t asked) {
  switch (mode) {
    case WarpMode::kAll:
      return held == asked;
    case WarpMode::kAny:
      return held != 0;
    default:
      return held == 0 || held == asked;
  }
}

// Each lane asks the lanes of its own mask that are here. Where it is not one of them, the outcome
// is not defined, but programs ask the lanes below them in this way, and hardware answers.
const Op* vote(const Op* op, WarpContext& warp) {
  const std::uint32_t own = warp.mask;
  const bool has_members = (op->detail & kHasMembers) != 0;
  const auto* members = has_members ? warp.source<std::uint32_t>(op->b) : nullptr;
  if (has_members && !gather_members(warp, op, members)) return next_split(warp);
  const auto asked = [=](unsigned lane) { return has_members ? members[lane] : ~0u; };
  std::uint32_t held = *warp.source<std::uint32_t>(op->a);
  if ((op->detail & kNegatedSource) != 0) held = ~held;
  held &= warp.mask;
  const auto mode = static_cast<WarpMode>(op->detail & 0xff);
  if (mode == WarpMode::kBallot) {
    store_lanes<std::uint32_t>(warp, op, [=](unsigned lane) { return held & asked(lane); });
  } else {
    const std::uint32_t here = warp.mask;
    warp.write_predicate(op->dst, lanes_where([=](unsigned lane) {
                           return answer(mode, held & asked(lane), here & asked(lane));
                         }));
  }
  if (has_members) end_warp_sync(warp, op, own);
  return op + 1;
}

template <typename T>
void match(const Op* op, WarpContext& warp) {
  const T* a = warp.source<T>(op->a);
  std::uint32_t equal[kLanes] = {};
  bool all = true;
  for_lanes(warp.mask, [&](unsigned lane) {
    for_lanes(warp.mask, [&](unsigned other) {
      equal[lane] |= static_cast<std::uint32_t>(a[lane] == a[other]) << other;
    });
    all = all && equal[lane] == warp.mask;
  });
  if (static_cast<WarpMode>(op->detail & 0xff) == WarpMode::kAll) {
    for (std::uint32_t& lane : equal)
      lane = all ? warp.mask : 0;
    if (op->immediate != 0)
      warp.write_predicate(static_cast<RowOffset>(op->immediate - 1), all ? ~0u : 0);
  }
  store_lanes<std::uint32_t>(warp, op, [&](unsigned i) { return equal[i]; });
}

template <typename T>
T reduce(AtomOp op, T x, T y) {
  switch (op) {
    case AtomOp::kMin:
      return std::min(x, y);
    case AtomOp::kMax:
      return std::max(x, y);
    case AtomOp::kAnd:
      return static_cast<T>(x & y);
    case AtomOp::kOr:
      return static_cast<T>(x | y);
    case AtomOp::kXor:
      return static_cast<T>(x ^ y);
    default:
      return static_cast<T>(static_cast<std::uint32_t>(x) + static_cast<std::uint32_t>(y));
  }
}

template <typename T>
void redux(const Op* op, WarpContext& warp) {
  const T* a = warp.source<T>(op->a);
  const auto kind = static_cast<AtomOp>(op->detail & 0xff);
  const auto first = static_cast<unsigned>(std::countr_zero(warp.mask));
  T result = a[first];
  for_lanes(warp.mask & ~(1u << first),
            [&](unsigned lane) { result = reduce(kind, result, a[lane]); });
  store_lanes<T>(warp, op, [=](unsigned) { return result; });
}

void elect(const Op* op, WarpContext& warp) {
  const std::uint32_t leader = warp.mask & (~warp.mask + 1);
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(warp.mask));
  store_lanes<std::uint32_t>(warp, op, [=](unsigned) { return lane; });
  if (op->immediate != 0) warp.write_predicate(static_cast<RowOffset>(op->immediate - 1), leader);
}

const Op* activemask(const Op* op, WarpContext& warp) {
  const std::uint32_t mask = warp.mask;
  store_lanes<std::uint32_t>(warp, op, [=](unsigned) { return mask; });
  return op + 1;
}

// The member mask is the last source, where there is one.
RowOffset members(Builder& builder, const ptx::Instruction& in, std::size_t position,
                  std::uint32_t& detail) {
  if (in.sources.size() <= position) return 0;
  detail |= kHasMembers;
  return builder.source(in.sources[position], 4);
}

void set_second_predicate(Builder& builder, const ptx::Instruction& in, Op& op) {
  if (in.destinations.size() > 1 && in.destinations[1].kind == OperandKind::kRegister)
    op.immediate = static_cast<std::uint64_t>(builder.predicate(in.destinations[1])) + 1;
}

bool lower_vote_instruction(Builder& builder, const ptx::Instruction& in) {
  std::uint32_t detail = static_cast<std::uint32_t>(in.warp_mode);
  if (in.sources[0].negated) detail |= kNegatedSource;
  const RowOffset a = builder.predicate(in.sources[0]);
  const RowOffset mask = members(builder, in, 1, detail);
  const RowOffset dst = in.warp_mode == WarpMode::kBallot
                            ? builder.destination(in.destinations[0], 4)
                            : builder.predicate(in.destinations[0]);
  builder.emit(vote, dst, a, mask).detail = detail;
  return true;
}

bool lower_match(Builder& builder, const ptx::Instruction& in) {
  const unsigned bytes = ptx::bytes_of(in.type);
  std::uint32_t detail = static_cast<std::uint32_t>(in.warp_mode);
  const RowOffset a = builder.source(in.sources[0], bytes);
  const RowOffset mask = members(builder, in, 1, detail);
  Op& op =
      builder.emit(bytes == 8 ? together<match<std::uint64_t>> : together<match<std::uint32_t>>,
                   builder.destination(in.destinations[0], 4), a, mask);
  op.detail = detail;
  set_second_predicate(builder, in, op);
  return true;
}

bool lower_redux(Builder& builder, const ptx::Instruction& in) {
  if (in.type == Type::kF32) return false;
  std::uint32_t detail = static_cast<std::uint32_t>(in.atom_op);
  const RowOffset a = builder.source(in.sources[0], 4);
  const RowOffset mask = members(builder, in, 1, detail);
  builder
      .emit(in.type == Type::kS32 ? together<redux<std::int32_t>> : together<redux<std::uint32_t>>,
            builder.destination(in.destinations[0], 4), a, mask)
      .detail = detail;
  return true;
}

bool lower_elect(Builder& builder, const ptx::Instruction& in) {
  std::uint32_t detail = 0;
  const RowOffset mask = members(builder, in, 0, detail);
  Op& op = builder.emit(together<elect>, builder.destination(in.destinations[0], 4), 0, mask);
  op.detail = detail;
  set_second_predicate(builder, in, op);
  return true;
}

}  // namespace

const Handler kWarpBarrier = together<synchronise>;

bool lower_vote(Builder& builder, const ptx::Instruction& in) {
  switch (in.opcode) {
    case Opcode::kVote:
      return lower_vote_instruction(builder, in);
    case Opcode::kMatch:
      return lower_match(builder, in);
    case Opcode::kRedux:
      return lower_redux(builder, in);
    case Opcode::kElect:
      return lower_elect(builder, in);
    case Opcode::kActivemask:
      builder.emit(activemask, builder.destination(in.destinations[0], 4), 0);
      return true;
    case Opcode::kBar: {
      // bar.warp.sync mask
      if (std::find(in.modifiers.begin(), in.modifiers.end(), "warp") == in.modifiers.end())
        return false;
      builder.emit(kWarpBarrier, 0, 0, builder.source(in.sources[0], 4)).detail = kHasMembers;
      return true;
    }
    default:
      return false;
  }
}

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
// shfl, with and without .sync. Source: PTX ISA 9.0, shfl.sync.

#include <cstring>

#include "emulator/exec/members.h"

namespace drgpum::emulator::exec {
namespace {

using ptx::OperandKind;
using ptx::WarpMode;

// Rows: a value, b lane or distance, c clamp and segment mask; detail: WarpMode; immediate: the
// predicate's row + 1; extra: the member mask's row + 1.
void shuffle_lanes(const Op* op, WarpContext& warp) {
  std::uint32_t values[kLanes];  // the target may be the source
  std::memcpy(values, warp.source<std::uint32_t>(op->a), sizeof values);
  const auto* b = warp.source<std::uint32_t>(op->b);
  const auto* c = warp.source<std::uint32_t>(op->c);
  auto* dst = warp.target<std::uint32_t>(op->dst);
  const auto mode = static_cast<WarpMode>(op->detail);
  std::uint32_t in_range = 0;
  for_lanes(warp.mask, [&](unsigned lane) {
    const auto by = static_cast<int>(b[lane] & 31);
    const auto segment = static_cast<int>((c[lane] >> 8) & 31);
    const auto clamp = static_cast<int>(c[lane] & 31);
    const auto self = static_cast<int>(lane);
    const int most = (self & segment) | (clamp & ~segment);
    const int least = self & segment;
    int from = self;
    bool good = false;
    switch (mode) {
      case WarpMode::kUp:
        from = self - by;
        good = from >= most;
        break;
      case WarpMode::kDown:
        from = self + by;
        good = from <= most;
        break;
      case WarpMode::kBfly:
        from = self ^ by;
        good = from <= most;
        break;
      default:
        from = least | (by & ~segment);
        good = from <= most;
        break;
    }
    if (!good) from = self;
    dst[lane] = values[from & 31];
    in_range |= static_cast<std::uint32_t>(good) << lane;
  });
  if (op->immediate != 0) warp.write_predicate(static_cast<RowOffset>(op->immediate - 1), in_range);
}

const Op* shuffle(const Op* op, WarpContext& warp) {
  shuffle_lanes(op, warp);
  return op + 1;
}

const Op* shuffle_sync(const Op* op, WarpContext& warp) {
  const auto* members = warp.source<std::uint32_t>(static_cast<const CallSite*>(op->extra)->callee);
  const std::uint32_t own = warp.mask;
  if (!gather_members(warp, op, members)) return next_split(warp);
  shuffle_lanes(op, warp);
  end_warp_sync(warp, op, own);
  return op + 1;
}

}  // namespace

bool lower_shuffle(Builder& builder, const ptx::Instruction& in) {
  if (in.opcode != ptx::Opcode::kShfl || in.sources.size() < 3) return false;
  const RowOffset a = builder.source(in.sources[0], 4);
  const RowOffset b = builder.source(in.sources[1], 4);
  const RowOffset c = builder.source(in.sources[2], 4);
  const bool sync = in.sources.size() > 3;
  CallSite* members = nullptr;
  if (sync) {
    members = &builder.out().calls.emplace_back();
    members->callee = builder.source(in.sources[3], 4);
  }
  Op& op = builder.emit(sync ? shuffle_sync : shuffle, builder.destination(in.destinations[0], 4),
                        a, b, c);
  op.detail = static_cast<std::uint32_t>(in.warp_mode);
  op.extra = members;
  if (in.destinations.size() > 1 && in.destinations[1].kind == OperandKind::kRegister)
    op.immediate = static_cast<std::uint64_t>(builder.predicate(in.destinations[1])) + 1;
  return true;
}

}  // namespace drgpum::emulator::exec

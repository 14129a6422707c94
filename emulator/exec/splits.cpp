// SPDX-License-Identifier: Apache-2.0
// Divergence and reconvergence: a table of splits, immediate post-dominators, and release of lanes
// that wait while others spin, so that locks taken within a warp make progress.

#include <algorithm>
#include <bit>

#include "emulator/exec/cluster.h"
#include "emulator/exec/warp.h"

namespace drgpum::emulator::exec {
namespace {

void free_record(WarpContext& warp, Reconvergence* record) {
  if (record->callee != nullptr) warp.frames.end(record->callee);
  record->live = false;
}

void park_released(WarpContext& warp, Reconvergence* record, std::uint32_t lanes) {
  warp.parked.push_back(
      {record->reconverge, lanes, SplitState::kReady, 0, record->parent, record->frame});
}

// Takes lanes out of a record that they will never reach; those that wait go on if they were the
// last ones missing. Returns the record's parent.
Reconvergence* remove_lanes(WarpContext& warp, Reconvergence* record, std::uint32_t lanes) {
  Reconvergence* parent = record->parent;
  record->mask &= ~lanes;
  if (record->mask == record->arrived) {
    if (record->mask != 0) park_released(warp, record, record->mask);
    free_record(warp, record);
  }
  return parent;
}

const Op* load_split(WarpContext& warp, std::size_t position) {
  const Split split = warp.parked[position];
  warp.parked.erase(warp.parked.begin() + static_cast<std::ptrdiff_t>(position));
  warp.mask = split.mask;
  warp.parent = split.parent;
  if (warp.frame != split.frame) warp.set_frame(split.frame);
  return split.pc;
}

// Ready splits that stand at the same op with the same future become one.
void merge_ready(WarpContext& warp) {
  auto& parked = warp.parked;
  for (std::size_t i = 0; i < parked.size(); ++i) {
    for (std::size_t j = parked.size(); j-- > i + 1;) {
      if (parked[i].state != SplitState::kReady || parked[j].state != SplitState::kReady) continue;
      if (parked[i].pc != parked[j].pc || parked[i].parent != parked[j].parent ||
          parked[i].frame != parked[j].frame)
        continue;
      parked[i].mask |= parked[j].mask;
      parked.erase(parked.begin() + static_cast<std::ptrdiff_t>(j));
    }
  }
}

// Lets the lanes that wait at the most recent reconvergence go on without the others.
bool release_waiting(WarpContext& warp) {
  for (std::size_t i = warp.records.size(); i-- > 0;) {
    Reconvergence* record = warp.records[i].get();
    // Lanes that wait for a call to end share the callee's frame with those still in it.
    if (!record->live || record->arrived == 0) continue;
    park_released(warp, record, record->arrived);
    record->mask &= ~record->arrived;
    record->arrived = 0;
    return true;
  }
  return false;
}

}  // namespace

Reconvergence* make_record(WarpContext& warp) {
  for (auto& record : warp.records) {
    if (record->live) continue;
    *record = Reconvergence{};
    record->live = true;
    return record.get();
  }
  warp.records.push_back(std::make_unique<Reconvergence>());
  warp.records.back()->live = true;
  return warp.records.back().get();
}

void park(WarpContext& warp, const Op* pc, SplitState state, std::uint32_t barrier) {
  warp.parked.push_back({pc, warp.mask, state, barrier, warp.parent, warp.frame});
}

const Op* next_split(WarpContext& warp, bool rotate) {
  auto& parked = warp.parked;
  if (parked.size() > 1) merge_ready(warp);
  std::size_t best = parked.size();
  for (std::size_t i = 0; i < parked.size(); ++i) {
    if (parked[i].state != SplitState::kReady) continue;
    if (best == parked.size() || parked[i].pc < parked[best].pc) best = i;
    if (rotate) break;
  }
  if (best < parked.size()) return load_split(warp, best);
  if (warp.live == 0) return warp.halt(Stop::kDone);
  const bool at_barrier = std::any_of(parked.begin(), parked.end(), [](const Split& split) {
    return split.state == SplitState::kAtBarrier;
  });
  if (!at_barrier && unstick(warp)) return next_split(warp);
  return warp.halt(Stop::kBlocked);
}

const Op* diverge(WarpContext& warp, std::uint32_t taken, const Op* target, const Op* next,
                  const Op* reconverge) {
  const std::uint32_t rest = warp.mask & ~taken;
  Reconvergence* record = warp.parent;
  const bool shared =
      reconverge == nullptr || (record != nullptr && record->frame == warp.frame &&
                                record->callee == nullptr && record->reconverge == reconverge);
  if (!shared) {
    record = make_record(warp);
    record->reconverge = reconverge;
    record->mask = warp.mask;
    record->parent = warp.parent;
    record->frame = warp.frame;
    warp.parent = record;
  }
  if (reconverge != nullptr && (target == reconverge || next == reconverge)) {
    const std::uint32_t there = target == reconverge ? taken : rest;
    record->arrived |= there;
    warp.mask &= ~there;
    return target == reconverge ? next : target;
  }
  const bool target_first = target < next;
  warp.parked.push_back({target_first ? next : target, target_first ? rest : taken,
                         SplitState::kReady, 0, warp.parent, warp.frame});
  warp.mask = target_first ? taken : rest;
  return target_first ? target : next;
}

const Op* arrive(WarpContext& warp, Reconvergence* record) {
  record->arrived |= warp.mask;
  if (record->arrived != record->mask) return next_split(warp);
  warp.mask = record->mask;
  warp.parent = record->parent;
  if (warp.frame != record->frame) warp.set_frame(record->frame);
  free_record(warp, record);
  return record->reconverge;
}

Reconvergence* leave_until_call(WarpContext& warp) {
  Reconvergence* record = warp.parent;
  while (record != nullptr && record->callee != warp.frame)
    record = remove_lanes(warp, record, warp.mask);
  return record;
}

const Op* exit_lanes(WarpContext& warp) {
  for (Reconvergence* record = warp.parent; record != nullptr;)
    record = remove_lanes(warp, record, warp.mask);
  warp.live &= ~warp.mask;
  threads_exited(*warp.block, static_cast<std::uint32_t>(std::popcount(warp.mask)));
  threads_left_cluster(*warp.block->cluster, warp, warp.mask);
  return next_split(warp);
}

const Op* yield(WarpContext& warp, const Op* pc) {
  warp.budget = kTimeSlice;
  park(warp, pc, SplitState::kReady);
  if (warp.spin_seen) {
    const auto ready = std::count_if(warp.parked.begin(), warp.parked.end(),
                                     [](const Split& s) { return s.state == SplitState::kReady; });
    if (ready == 1) release_waiting(warp);
  }
  return warp.halt(Stop::kYield);
}

bool unstick(WarpContext& warp) {
  if (warp.live == 0) return false;
  if (release_waiting(warp)) return true;
  for (Split& split : warp.parked) {
    if (split.state != SplitState::kAtWarpSync) continue;
    split.state = SplitState::kReady;
    warp.force_sync = true;
    return true;
  }
  return false;
}

bool begin_warp_sync(WarpContext& warp, const Op* op, std::uint32_t members) {
  const std::uint32_t needed = members & warp.live;
  if ((warp.mask & needed) == needed) return true;
  std::uint32_t together = warp.mask;
  for (const Split& split : warp.parked) {
    if (split.state == SplitState::kAtWarpSync && split.pc == op && split.frame == warp.frame)
      together |= split.mask;
  }
  if ((together & needed) == needed || warp.force_sync) {
    warp.mask = together;
    return true;
  }
  park(warp, op, SplitState::kAtWarpSync);
  return false;
}

void end_warp_sync(WarpContext& warp, const Op* op, std::uint32_t own_mask) {
  if (warp.mask == own_mask) {
    warp.force_sync = false;
    return;
  }
  for (Split& split : warp.parked) {
    if (split.state != SplitState::kAtWarpSync || split.pc != op || split.frame != warp.frame)
      continue;
    split.state = SplitState::kReady;
    split.pc = op + 1;
  }
  warp.force_sync = false;
  warp.mask = own_mask;
}

void run_warp(WarpContext& warp) {
  const bool rotate = warp.stop == Stop::kYield;
  warp.stop = Stop::kNone;
  warp.spin_seen = false;
  const Op* op = next_split(warp, rotate);
  while (op != nullptr)
    op = op->run(op, warp);
}

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
#pragma once
// The explicit state of one warp: its current split, its parked splits, and where they reconverge.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "emulator/exec/access_hook.h"
#include "emulator/exec/frames.h"
#include "emulator/exec/lowered.h"

namespace drgpum::emulator::exec {

struct Block;
struct Worker;

// Why a warp's handlers returned no next op.
enum class Stop : std::uint8_t {
  kNone,
  kBlocked,  // every split waits at a barrier or for other lanes
  kYield,    // its time slice is over
  kDone,     // all lanes have exited
  kFault,
};

// Lanes that parted and meet again at `reconverge`: an immediate post-dominator, or the op after a
// call. `mask` are the lanes that have to come, `arrived` those that wait there.
struct Reconvergence {
  const Op* reconverge = nullptr;
  std::uint32_t mask = 0;
  std::uint32_t arrived = 0;
  Reconvergence* parent = nullptr;
  Frame* frame = nullptr;   // of the lanes once they have met
  Frame* callee = nullptr;  // calls: the frame that ends here
  bool live = false;
};

enum class SplitState : std::uint8_t { kReady, kAtBarrier, kAtWarpSync };

// Lanes of a warp that share a program counter.
struct Split {
  const Op* pc = nullptr;
  std::uint32_t mask = 0;
  SplitState state = SplitState::kReady;
  std::uint32_t barrier = 0;
  Reconvergence* parent = nullptr;
  Frame* frame = nullptr;
};

// Branches that a warp may take before others get their turn. Ops that a spin loop would use
// (atomics, volatile loads) take kSpinCharge of it.
inline constexpr std::int32_t kTimeSlice = 16384;
inline constexpr std::int32_t kSpinCharge = 128;

class WarpContext {
 public:
  // What handlers touch at every op.
  std::byte* rows = nullptr;             // of the current frame
  const std::byte* constants = nullptr;  // of the current function
  std::uint32_t mask = 0;                // lanes that execute
  std::int32_t budget = kTimeSlice;
  std::uint64_t hooked_spaces = 0;  // 1 << Space that the hook wants; 0 inside patches
  Worker* worker = nullptr;
  Block* block = nullptr;

  Reconvergence* parent = nullptr;
  Frame* frame = nullptr;
  std::uint32_t live = 0;        // lanes that have not exited
  std::uint32_t saved_mask = 0;  // across guarded ops
  std::uint32_t index = 0;       // within the block
  Stop stop = Stop::kNone;
  bool spin_seen = false;                // since the last time slice
  bool entered = false;                  // the hook has been told
  std::uint32_t at_cluster_barrier = 0;  // lanes that have arrived there
  bool force_sync = false;     // run a warp-level synchronisation with the lanes that are there
  std::uint64_t issued = 0;    // warp instructions: the warp's clock
  std::uint64_t slept_ns = 0;  // by nanosleep
  std::vector<Split> parked;
  std::vector<std::unique_ptr<Reconvergence>> records;
  // Empty but for their capacity, for the splits of patch functions (nested.cpp).
  std::vector<Split> spare_parked;
  std::vector<std::unique_ptr<Reconvergence>> spare_records;
  FrameStack frames;
  std::unique_ptr<std::byte[]> local;  // lane-major: lane l has [l * local_stride, ...)
  std::uint32_t local_stride = 0;

  alignas(64) std::array<std::uint64_t, kLanes> addresses{};  // scratch of memory ops
  std::array<std::byte*, kLanes> pointers{};

  template <typename T>
  [[nodiscard]] const T* source(RowOffset offset) const {
    const std::byte* base = offset >= 0 ? rows : constants;
    return reinterpret_cast<const T*>(base + offset);
  }
  template <typename T>
  [[nodiscard]] T* target(RowOffset offset) const {
    return reinterpret_cast<T*>(rows + offset);
  }
  [[nodiscard]] std::uint32_t& predicate(RowOffset offset) const {
    return *reinterpret_cast<std::uint32_t*>(rows + offset);
  }
  void write_predicate(RowOffset offset, std::uint32_t value) const {
    std::uint32_t& stored = predicate(offset);
    stored = (stored & ~mask) | (value & mask);
  }
  void set_frame(Frame* next) {
    frame = next;
    rows = next->rows;
    constants = next->function->constants;
  }
  const Op* halt(Stop why) {
    stop = why;
    return nullptr;
  }
};

// Splits ------------------------------------------------------------------------------------------

// The lanes `taken` of the current split go to `target`, the rest to `next`; all meet at
// `reconverge` (nullptr: where the function ends). Returns the op to go on with.
const Op* diverge(WarpContext& warp, std::uint32_t taken, const Op* target, const Op* next,
                  const Op* reconverge);
// The current split has come to the place where `record` reconverges.
const Op* arrive(WarpContext& warp, Reconvergence* record);
// The current split's lanes exit the kernel.
const Op* exit_lanes(WarpContext& warp);
// The current split's lanes leave all records below the one whose call made the current frame.
Reconvergence* leave_until_call(WarpContext& warp);
Reconvergence* make_record(WarpContext& warp);
// Puts the current split aside, to go on at `pc`.
void park(WarpContext& warp, const Op* pc, SplitState state, std::uint32_t barrier = 0);
// Chooses the next split to run: the lowest op first; `rotate`: the one parked longest.
const Op* next_split(WarpContext& warp, bool rotate = false);
// Ends the time slice: the current split goes on at `pc` when its turn comes again.
const Op* yield(WarpContext& warp, const Op* pc);
// Lets lanes that wait for others in vain go on: true if any could.
bool unstick(WarpContext& warp);
// Whether the lanes of `members` are all here. If not, the split is parked at `op`. If so,
// warp.mask is widened to all of them until end_warp_sync.
bool begin_warp_sync(WarpContext& warp, const Op* op, std::uint32_t members);
void end_warp_sync(WarpContext& warp, const Op* op, std::uint32_t own_mask);
// Runs the warp until it stops.
void run_warp(WarpContext& warp);

}  // namespace drgpum::emulator::exec

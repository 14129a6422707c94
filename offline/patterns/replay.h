// SPDX-License-Identifier: Apache-2.0
#pragma once
// Replays the live bytes of one device with some findings fixed.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "offline/order/memory_timeline.h"
#include "offline/patterns/finding.h"
#include "offline/patterns/live_tree.h"

namespace drgpum {

// What a fix does to the lives of memory:
//   early allocation    the object begins at its first essential access
//   late deallocation, leak   it ends where all its accesses are over for every stream that runs
//                       (HappensBefore::released_after)
//   idleness            its bytes are away from there in each gap to the gap's end
//   unused              it never lives
//   redundant           host and guest are one block of the host's size, from the host's begin to
//                       the guest's end; further guests lengthen the chain
//   overallocation, structured access   its size less what is wasted
//   dead write, uneven counts           nothing
// A fix that shortens nothing leaves the curve as it is.
class Replay {
 public:
  // `findings` must outlive the replay and keep their places.
  Replay(const Evidence& evidence, MemoryLevel level, std::uint16_t device,
         std::span<const Finding> findings);

  // What the finding would take off the peak, applied as the only one more.
  std::uint64_t saving_of(std::uint32_t finding);
  // What the peak would gain without the finding, which is applied.
  std::uint64_t loss_without(std::uint32_t finding);
  std::uint64_t peak() const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(tree_.peak(), 0));
  }
  bool is_applied(std::uint32_t finding) const { return applied_[finding]; }
  void apply(std::uint32_t finding) { set(finding, true); }
  void remove(std::uint32_t finding) { set(finding, false); }
  // False when the fix cannot change any curve, whatever else is fixed.
  static bool changes_curve(const Finding& finding);

 private:
  struct Life {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint64_t size = 0;
    const std::vector<Gap>* gaps = nullptr;  // when swapped out in between
    std::uint32_t host = kNone;
    std::uint32_t guest = kNone;
    bool dropped = false;
  };

  static std::vector<std::uint32_t> places(const Evidence& evidence, MemoryLevel level,
                                           std::uint16_t device, std::span<const Finding> findings);
  bool is_simple(const Finding& finding) const;
  void set(std::uint32_t finding, bool on);
  void change(const Finding& finding, bool on);
  std::uint32_t head_of(std::uint32_t object) const;
  void add_block(std::uint32_t head, bool present);

  const Evidence& evidence_;
  std::span<const Finding> findings_;
  LiveTree tree_;
  std::vector<Life> lives_;  // by object; size 0 when it is not of this device
  std::vector<bool> applied_;
};

}  // namespace drgpum

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
  // Applies and removes many at once: after it, those stand that `stands` says.
  void set_all(const std::vector<bool>& stands);
  // One by one, or all at once where they are many.
  void set_some(std::span<const std::uint32_t> findings, bool on);
  static constexpr std::size_t kVisited = 128;  // nodes of the curve, to change one finding alone
  // To be called before questions that are asked of many findings while the curve stays as it is
  // between them: they are then answered quickly where the peak is out of reach.
  void take_bounds() { tree_.take_bounds(); }
  // Where the finding's fix lowers the curve, nothing else applied or removed on top of what is
  // now, the curve is at most this; INT64_MIN: it lowers nothing.
  std::int64_t bound_where_it_saves(std::uint32_t finding) const;
  // A call at which the curve is at its peak, and whether the fix touches the curve there.
  std::uint32_t place_of_peak() const { return tree_.place_of_peak(); }
  bool touches(std::uint32_t finding, std::uint32_t call) const;
  // The most that the fix changes the curve by anywhere.
  std::uint64_t size_of(std::uint32_t finding) const;
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
  template <typename Visit>
  void for_each_span(const Finding& finding, Visit visit) const;
  std::uint32_t tail_of(std::uint32_t object) const;
  std::uint32_t head_of(std::uint32_t object) const;
  void add_block(std::uint32_t head, bool present);

  const Evidence& evidence_;
  std::span<const Finding> findings_;
  LiveTree tree_;
  std::vector<Life> lives_;  // by object; size 0 when it is not of this device
  std::vector<bool> applied_;
};

}  // namespace drgpum

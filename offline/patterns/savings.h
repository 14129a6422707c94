// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each finding saves, which fixes exclude each other, and the order to fix them in.

#include <cstdint>
#include <vector>

#include "offline/order/memory_timeline.h"
#include "offline/patterns/finding.h"

namespace drgpum {

struct DeviceSavings {
  std::uint16_t device = 0;
  std::uint32_t peak_api = 0;  // the first call at the peak
  std::uint64_t peak_bytes = 0;
  std::uint64_t peak_after_all_fixes_bytes = 0;
};

struct Savings {
  std::uint64_t peak_bytes = 0;                  // of the device with the highest peak
  std::uint64_t peak_after_all_fixes_bytes = 0;  // of that device
  std::vector<DeviceSavings> devices;            // all that hold memory, by number
  const DeviceSavings* of(std::uint16_t device) const;
};

// Two fixes contradict each other when one undoes what the other needs: an unused object is dropped
// and needs nothing else; a guest is not allocated any more, so not later; a host's memory goes on,
// so is neither freed earlier nor made smaller; an object is either compacted or kept in parts.
bool contradict(const Finding& a, const Finding& b);

// Fills the savings of all findings, ranks them and sets `superseded_by`.
//
//   peak_saving_bytes    peak - peak with this fix alone
//   joint_saving_bytes   peak with all fixes but this - peak with all. "All" are the fixes that
//                        stand when they are taken in rank order and those that contradict an
//                        earlier one are left out; for a fix that does not stand, those that stand
//                        and do not contradict it, and in rank order those that then contradict
//                        none. No more than for the fix that supersedes it.
//   idle_at_peak_bytes   the object's bytes when it is live at the peak and nothing uses it there
// Ranked by joint, then alone, then idle bytes, then pattern, then object. Each device has its own
// peak. O(F·log n) for F findings, where chains of reuses are short.
Savings rank_by_savings(const Evidence& evidence, MemoryLevel level,
                        std::vector<Finding>& findings);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// What findings save that are fixed together, as those of one source line are.

#include <cstdint>
#include <span>
#include <vector>

#include "offline/order/memory_timeline.h"
#include "offline/patterns/finding.h"

namespace drgpum {

// Bytes; where devices differ, of the one that gains most. Of the findings only those that stand
// (no `superseded_by`) are fixed.
struct FixGroup {
  std::vector<std::uint32_t> findings;  // places in the ranked list, rising
  bool measured = false;                // too many findings in all groups: the later ones are not
  std::uint64_t peak_saving_bytes = 0;   // with these fixes alone
  std::uint64_t joint_saving_bytes = 0;  // peak with all that stand but these, less that with all
};

// O(F·log n) for F findings in the groups.
void measure_groups(const Evidence& evidence, MemoryLevel level, std::span<const Finding> findings,
                    std::span<FixGroup> groups);

}  // namespace drgpum

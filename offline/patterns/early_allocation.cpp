// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "offline/patterns/patterns.h"

namespace drgpum {
namespace {

// Uploads and sets that come before the interval's last launch have to move behind it.
std::vector<std::uint32_t> uploads_before(std::span<const Use> uses, const Essentials& essentials,
                                          std::uint32_t last_launch) {
  std::vector<std::uint32_t> calls;
  for (std::uint32_t i = 0; i < essentials.first && uses[i].api < last_launch; ++i)
    calls.push_back(uses[i].api);
  return calls;
}

}  // namespace

// Early allocation: launches run between an object's allocation and its first essential access.
// Source: DrGPUM (ASPLOS '23). Unit and threshold: launches issued strictly between, at least 1.
// Wasted: the whole object. Fix: allocate just before the access, uploads and sets with it.
// Proven: one such launch happens before the access and nothing has to move.
// What would make it wrong: a launch in between that uses the object unseen. The interval ends at
// the first launch whose accesses were not recorded.
std::vector<Finding> early_allocation(const PatternInput& in) {
  std::vector<Finding> findings;
  for (std::uint32_t o = 0; o < in.evidence.objects.size(); ++o) {
    const Essentials& essentials = in.essentials[o];
    if (essentials.first == kNone || !has_own_life(in, o)) continue;
    const auto uses = in.evidence.uses_of(o);
    const std::uint32_t alloc = in.evidence.objects[o].alloc;
    const std::uint32_t access = uses[essentials.first].api;
    const std::uint32_t unseen = in.evidence.first_unseen(alloc + 1, access);
    const std::uint32_t to = std::min(unseen, access);
    const std::uint32_t launches = in.evidence.launches_within(alloc + 1, to);
    if (launches == 0 || launches < in.thresholds.early_launches) continue;

    Finding f;
    f.pattern = Pattern::kEarlyAllocation;
    f.object = o;
    f.from = alloc;
    f.to = to;
    f.cut = unseen != kNone;
    f.distance = launches;
    f.apis_between = to - alloc - 1;
    f.wasted_bytes = in.evidence.objects[o].size;
    f.gaps = {{alloc, to}};
    f.missing = missing_for(in, o);
    if (f.cut) f.missing |= kMissingLaunches;
    const std::uint32_t last_launch =
        *(std::lower_bound(in.evidence.launches.begin(), in.evidence.launches.end(), to) - 1);
    f.must_move = uploads_before(uses, essentials, last_launch);
    if (in.order.last_launch_before(to, alloc + 1) == kNone) f.missing |= kMissingOrder;
    settle(f);
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace drgpum

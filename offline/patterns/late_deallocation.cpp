// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "offline/patterns/patterns.h"

namespace drgpum {
namespace {

// Downloads that come after the interval's first launch have to move before it.
std::vector<std::uint32_t> downloads_after(std::span<const Use> uses, const Essentials& essentials,
                                           std::uint32_t first_launch) {
  std::vector<std::uint32_t> calls;
  for (std::uint32_t i = essentials.last + 1; i < uses.size(); ++i)
    if (uses[i].api > first_launch) calls.push_back(uses[i].api);
  return calls;
}

}  // namespace

// Late deallocation: launches run between an object's last essential access and its free.
// Source: DrGPUM (ASPLOS '23). Unit and threshold: launches issued strictly between, at least 1.
// Wasted: the whole object. Fix: free just after the access, downloads with it.
// Proven: every access happens before one such launch and nothing has to move.
// What would make it wrong: a launch in between that uses the object unseen. The interval begins
// at the last launch whose accesses were not recorded. Objects that are never freed leak instead.
std::vector<Finding> late_deallocation(const PatternInput& in) {
  std::vector<Finding> findings;
  for (std::uint32_t o = 0; o < in.evidence.objects.size(); ++o) {
    const Object& object = in.evidence.objects[o];
    const Essentials& essentials = in.essentials[o];
    if (essentials.last == kNone || object.free == kNone || !has_own_life(in, o)) continue;
    const auto uses = in.evidence.uses_of(o);
    const std::uint32_t access = uses[essentials.last].api;
    const std::uint32_t unseen = in.evidence.last_unseen(access + 1, object.free);
    const std::uint32_t from = unseen == kNone ? access : unseen;
    const std::uint32_t launches = in.evidence.launches_within(from + 1, object.free);
    if (launches == 0 || launches < in.thresholds.late_launches) continue;

    Finding f;
    f.pattern = Pattern::kLateDeallocation;
    f.object = o;
    f.from = from;
    f.to = object.free;
    f.cut = unseen != kNone;
    f.distance = launches;
    f.apis_between = object.free - from - 1;
    f.wasted_bytes = object.size;
    f.missing = missing_for(in, o);
    if (f.cut) f.missing |= kMissingLaunches;
    std::vector<std::uint32_t> over = last_per_chain(in, uses.first(essentials.last + 1));
    add_unseen(in, object.alloc, from + 1, over);
    const std::uint32_t released = in.order.released_after(over, object.free);
    if (released != kNone) f.gaps = {{released, object.free}};
    const std::uint32_t first_launch =
        *std::upper_bound(in.evidence.launches.begin(), in.evidence.launches.end(), from);
    f.must_move = downloads_after(uses, essentials, first_launch);
    if (in.order.first_after(over, object.free, true) == kNone) f.missing |= kMissingOrder;
    settle(f);
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace drgpum

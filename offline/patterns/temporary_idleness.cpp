// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "offline/patterns/patterns.h"

namespace drgpum {
namespace {

struct IdleGap {
  std::uint32_t before = 0;  // places in the object's uses
  std::uint32_t after = 0;
  std::uint32_t launches = 0;
};

std::vector<IdleGap> gaps_of(const PatternInput& in, std::uint32_t object) {
  std::vector<IdleGap> gaps;
  const auto uses = in.evidence.uses_of(object);
  const Essentials& essentials = in.essentials[object];
  std::uint32_t before = essentials.first;
  for (std::uint32_t i = before + 1; i <= essentials.last; ++i) {
    if (!essentials.is_essential(uses, i)) continue;
    const std::uint32_t begin = uses[before].api + 1;
    const std::uint32_t launches =
        uses[i].api > begin ? in.evidence.launches_within(begin, uses[i].api) : 0;
    if (launches > 0 && launches >= in.thresholds.idle_launches &&
        in.evidence.first_unseen(begin, uses[i].api) == kNone)
      gaps.push_back({before, i, launches});
    before = i;
  }
  return gaps;
}

// From the release after all accesses before a gap, to the access after it.
std::vector<Gap> released_gaps(const PatternInput& in, std::uint32_t object,
                               const std::vector<IdleGap>& gaps) {
  std::vector<Gap> released;
  const auto uses = in.evidence.uses_of(object);
  Frontier over(in.order);
  std::uint32_t next = 0;
  for (const IdleGap& gap : gaps) {
    for (; next <= gap.before; ++next)
      over.add(uses[next].api);
    const std::uint32_t end = uses[gap.after].api;
    std::vector<std::uint32_t> calls(over.calls().begin(), over.calls().end());
    add_unseen(in, in.evidence.objects[object].alloc, end, calls);
    const std::uint32_t begin = in.order.released_after(calls, end);
    if (begin != kNone) released.push_back({begin, end});
  }
  return released;
}

}  // namespace

// Temporary idleness: launches run between two consecutive essential accesses of an object. One
// finding per object: its longest gap and the number of its gaps.
// Source: DrGPUM (ASPLOS '23). Unit and threshold: launches issued strictly between, at least 1.
// Wasted: the whole object. Fix: swap it out, or free and recompute it.
// Proven: of the longest gap, one launch is ordered after all accesses before the gap and before
// all accesses after it, and no copy or set within it has to move.
// What would make it wrong: a launch in the gap that uses the object unseen; such gaps are dropped.
std::vector<Finding> temporary_idleness(const PatternInput& in) {
  std::vector<Finding> findings;
  for (std::uint32_t o = 0; o < in.evidence.objects.size(); ++o) {
    if (in.essentials[o].first == kNone || !is_judged(in, o)) continue;
    const std::vector<IdleGap> gaps = gaps_of(in, o);
    if (gaps.empty()) continue;
    const IdleGap& longest = *std::max_element(
        gaps.begin(), gaps.end(),
        [](const IdleGap& a, const IdleGap& b) { return a.launches < b.launches; });
    const auto uses = in.evidence.uses_of(o);
    Finding f;
    f.pattern = Pattern::kTemporaryIdleness;
    f.object = o;
    f.from = uses[longest.before].api;
    f.to = uses[longest.after].api;
    f.distance = longest.launches;
    f.apis_between = f.to - f.from - 1;
    f.count = static_cast<std::uint32_t>(gaps.size());
    f.wasted_bytes = in.evidence.objects[o].size;
    f.missing = missing_for(in, o);
    for (std::uint32_t i = longest.before + 1; i < longest.after; ++i)
      f.must_move.push_back(uses[i].api);
    std::vector<std::uint32_t> over = last_per_chain(in, uses.first(longest.before + 1));
    add_unseen(in, in.evidence.objects[o].alloc, f.to, over);
    const std::uint32_t launch = in.order.first_after(over, f.to, true);
    const auto next = first_per_chain(in, uses.subspan(longest.after));
    if (launch == kNone || !all_before(in.order, std::span(&launch, 1), next))
      f.missing |= kMissingOrder;
    f.gaps = released_gaps(in, o, gaps);
    settle(f);
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace drgpum

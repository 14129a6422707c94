// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <tuple>

#include "offline/patterns/patterns.h"
#include "offline/patterns/reuse_matching.h"

namespace drgpum {
namespace {

// Objects can share memory only within one context and one way of allocating.
std::uint32_t memory_class(const Object& object) {
  switch (object.kind) {
    case trace::ObjectKind::kDevice:
    case trace::ObjectKind::kPitched:
    case trace::ObjectKind::kAsync:
    case trace::ObjectKind::kVirtual:
      return 0;
    case trace::ObjectKind::kManaged:
      return 1;
    case trace::ObjectKind::kSubObject:
      return 2;
    default:
      return kNone;
  }
}

// Launches whose accesses are not known may be accesses: they stretch the span.
ReuseCandidate candidate_for(const PatternInput& in, std::uint32_t o) {
  const Object& object = in.evidence.objects[o];
  const auto uses = in.evidence.uses_of(o);
  ReuseCandidate c;
  c.object = o;
  c.size = object.size;
  c.alloc = object.alloc;
  c.end = object.end;
  c.first = uses[in.essentials[o].first].api;
  c.last = uses[in.essentials[o].last].api;
  const std::uint32_t first_unseen = in.evidence.first_unseen(object.alloc, object.end);
  if (first_unseen == kNone) return c;
  c.first = std::min(c.first, first_unseen);
  c.last = std::max(c.last, in.evidence.last_unseen(object.alloc, object.end));
  return c;
}

// The guest's uploads before the host's last access, and the host's downloads after the guest's
// first, have to move.
std::vector<std::uint32_t> moves(std::span<const Use> host, std::span<const Use> guest,
                                 const ReuseCandidate& a, const ReuseCandidate& b) {
  std::vector<std::uint32_t> calls;
  for (const Use& use : guest)
    if (use.api < a.last) calls.push_back(use.api);
  for (const Use& use : host)
    if (use.api > b.first) calls.push_back(use.api);
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  return calls;
}

bool is_ordered(const PatternInput& in, std::span<const Use> host, std::span<const Use> guest,
                const ReuseCandidate& a, const ReuseCandidate& b) {
  const auto by_api = [](const Use& use, std::uint32_t api) { return use.api < api; };
  const auto host_end = std::lower_bound(host.begin(), host.end(), b.first, by_api);
  const auto guest_begin = std::lower_bound(guest.begin(), guest.end(), a.last, by_api);
  const auto over =
      last_per_chain(in, host.first(static_cast<std::size_t>(host_end - host.begin())));
  const auto next =
      first_per_chain(in, guest.subspan(static_cast<std::size_t>(guest_begin - guest.begin())));
  return all_before(in.order, over, next);
}

Finding finding_for(const PatternInput& in, const ReuseCandidate& a, const ReuseCandidate& b) {
  const auto host = in.evidence.uses_of(a.object);
  const auto guest = in.evidence.uses_of(b.object);
  Finding f;
  f.pattern = Pattern::kRedundantAllocation;
  f.object = b.object;
  f.host = a.object;
  f.from = a.last;
  f.to = b.first;
  f.distance = in.evidence.launches_within(a.last + 1, b.first);
  f.apis_between = b.first - a.last - 1;
  f.wasted_bytes = b.size;
  f.missing = missing_for(in, a.object) | missing_for(in, b.object);
  for (const std::uint32_t o : {a.object, b.object}) {
    const Object& object = in.evidence.objects[o];
    if (in.evidence.first_unseen(object.alloc, object.end) != kNone) f.missing |= kMissingLaunches;
  }
  f.must_move = moves(host, guest, a, b);
  if (!is_ordered(in, host, guest, a, b)) f.missing |= kMissingOrder;
  settle(f);
  return f;
}

}  // namespace

// Redundant allocation: object B could use the memory of object A, which still holds it when B is
// allocated: A's last essential access is issued before B's first, and B fills at least 90 % of A.
// Each object has at most one predecessor and one successor; reuse_matching.h says which.
// Source: DrGPUM (ASPLOS '23), whose code pairs objects of one size without regard to ties.
// Wasted: B. Distance: launches issued strictly between the two accesses; may be 0.
// Proven: every access of A happens before every access of B and nothing has to move.
// What would make it wrong: accesses that no order separates, or that were not recorded.
std::vector<Finding> redundant_allocation(const PatternInput& in) {
  std::map<std::tuple<std::uint32_t, std::uint32_t>, std::vector<ReuseCandidate>> groups;
  for (std::uint32_t o = 0; o < in.evidence.objects.size(); ++o) {
    const Object& object = in.evidence.objects[o];
    const std::uint32_t kind = memory_class(object);
    if (kind == kNone || in.essentials[o].first == kNone || !has_own_life(in, o)) continue;
    groups[{object.context, kind}].push_back(candidate_for(in, o));
  }
  std::vector<Finding> findings;
  for (const auto& [group, candidates] : groups) {
    for (const ReusePair& pair : match_reuses(candidates, in.thresholds.reuse_fit))
      findings.push_back(finding_for(in, candidates[pair.host], candidates[pair.guest]));
  }
  std::sort(findings.begin(), findings.end(),
            [](const Finding& a, const Finding& b) { return a.object < b.object; });
  return findings;
}

}  // namespace drgpum

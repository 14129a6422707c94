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
  c.can_host = object.ended || !in.evidence.has_end;
  c.first = uses[in.essentials[o].first].api;
  c.last = uses[in.essentials[o].last].api;
  const std::uint32_t first_unseen = in.evidence.first_unseen(object.alloc, object.end);
  if (first_unseen == kNone) return c;
  c.first = std::min(c.first, first_unseen);
  c.last = std::max(c.last, in.evidence.last_unseen(object.alloc, object.end));
  return c;
}

// The last essential access in each chain, and the first; with launches whose accesses are not
// known where these bound the span.
struct Bounds {
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> last;
};

Bounds bounds_of(const PatternInput& in, const ReuseCandidate& c) {
  const auto uses = in.evidence.uses_of(c.object);
  std::vector<Use> essential;
  for (std::uint32_t i = 0; i < uses.size(); ++i)
    if (in.essentials[c.object].is_essential(uses, i)) essential.push_back(uses[i]);
  Bounds bounds{first_per_chain(in, essential), last_per_chain(in, essential)};
  const Object& object = in.evidence.objects[c.object];
  const auto unseen = in.order.first_unseen_per_chain(object.alloc, object.end);
  bounds.first.insert(bounds.first.end(), unseen.begin(), unseen.end());
  add_unseen(in, object.alloc, object.end, bounds.last);
  return bounds;
}

// Movable copies and sets of the guest that do not wait for the host's accesses, and of the host
// that the guest's accesses do not wait for.
std::vector<std::uint32_t> moves(const PatternInput& in, std::uint32_t host, std::uint32_t guest,
                                 const Bounds& of_host, const Bounds& of_guest) {
  std::vector<std::uint32_t> calls;
  const auto guest_uses = in.evidence.uses_of(guest);
  for (std::uint32_t i = 0; i < guest_uses.size(); ++i) {
    const std::uint32_t api = guest_uses[i].api;
    if (!in.essentials[guest].is_essential(guest_uses, i) &&
        !all_before(in.order, of_host.last, std::span(&api, 1)))
      calls.push_back(api);
  }
  const auto host_uses = in.evidence.uses_of(host);
  for (std::uint32_t i = 0; i < host_uses.size(); ++i) {
    const std::uint32_t api = host_uses[i].api;
    if (!in.essentials[host].is_essential(host_uses, i) &&
        !all_before(in.order, std::span(&api, 1), of_guest.first))
      calls.push_back(api);
  }
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  return calls;
}

Finding finding_for(const PatternInput& in, const ReuseCandidate& a, const ReuseCandidate& b,
                    const Bounds& of_host, const Bounds& of_guest) {
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
  f.must_move = moves(in, a.object, b.object, of_host, of_guest);
  if (!all_before(in.order, of_host.last, of_guest.first)) f.missing |= kMissingOrder;
  settle(f);
  return f;
}

void match_group(const PatternInput& in, const std::vector<ReuseCandidate>& candidates,
                 std::vector<Finding>& findings) {
  std::vector<Bounds> bounds;
  for (const ReuseCandidate& c : candidates)
    bounds.push_back(bounds_of(in, c));
  const auto is_ordered = [&](std::uint32_t host, std::uint32_t guest) {
    return all_before(in.order, bounds[host].last, bounds[guest].first);
  };
  for (const ReusePair& pair : match_reuses(candidates, in.thresholds.reuse_fit, is_ordered))
    findings.push_back(finding_for(in, candidates[pair.host], candidates[pair.guest],
                                   bounds[pair.host], bounds[pair.guest]));
}

}  // namespace

// Redundant allocation: object B could use the memory of object A, which still holds it when B is
// allocated: A's last essential access is issued before B's first, and B fills at least 90 % of A.
// Each object has at most one predecessor and one successor; reuse_matching.h says which. An object
// that leaks is nobody's host: once it is freed, the allocator hands its memory on by itself.
// Source: DrGPUM (ASPLOS '23), whose code pairs objects of one size without regard to ties.
// Wasted: B. Distance: launches issued strictly between the two accesses; may be 0.
// Proven: every access of A happens before every access of B and nothing has to move. A pair that
// no order separates saves nothing in a replay: both need their memory at once.
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
  for (const auto& [group, candidates] : groups)
    match_group(in, candidates, findings);
  std::sort(findings.begin(), findings.end(),
            [](const Finding& a, const Finding& b) { return a.object < b.object; });
  return findings;
}

}  // namespace drgpum

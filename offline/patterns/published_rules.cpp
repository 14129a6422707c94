// SPDX-License-Identifier: Apache-2.0
// The seven automated patterns as the published tool's code has them (rules `drgpum`), so that its
// published table can be reproduced count for count. Judged are device allocations; the order is
// issue order; only launches are accesses, but for dead writes. Findings prove nothing.
// Source: DrGPUM artifact (ASPLOS '23), show_liveness_pattern.py.

#include <algorithm>
#include <map>

#include "offline/patterns/patterns.h"

namespace drgpum {
namespace {

bool is_seen_by_published_tool(const Object& object, MemoryLevel level) {
  switch (object.kind) {
    case trace::ObjectKind::kDevice:
    case trace::ObjectKind::kPitched:
    case trace::ObjectKind::kAsync:
    case trace::ObjectKind::kSubObject:
      return holds_memory(object, level);
    default:
      return false;
  }
}

std::vector<std::uint32_t> launches_using(const Evidence& evidence, std::uint32_t object) {
  std::vector<std::uint32_t> launches;
  for (const Use& use : evidence.uses_of(object))
    if (use.by_kernel()) launches.push_back(use.api);
  return launches;
}

// The gap in which the object is not needed after launch `from`.
std::vector<Gap> gap_after(const PatternInput& in, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t released = in.order.released_after(std::span(&from, 1), to);
  return released == kNone ? std::vector<Gap>{} : std::vector<Gap>{{released, to}};
}

Finding make(const Evidence& evidence, Pattern pattern, std::uint32_t object, std::uint32_t from,
             std::uint32_t to) {
  Finding f;
  f.pattern = pattern;
  f.object = object;
  f.from = from;
  f.to = to;
  f.wasted_bytes = evidence.objects[object].size;
  if (from == kNone || to == kNone || to <= from) return f;
  f.distance = evidence.launches_within(from + 1, to);
  f.apis_between = to - from - 1;
  return f;
}

void judge_lifetime(const PatternInput& in, std::uint32_t o,
                    const std::vector<std::uint32_t>& launches, std::vector<Finding>& findings) {
  const Evidence& evidence = in.evidence;
  const Object& object = evidence.objects[o];
  if (launches.empty()) {
    Finding unused = make(evidence, Pattern::kUnusedAllocation, o, object.alloc, object.free);
    unused.distance.reset();
    unused.gaps = {{object.alloc, object.end}};
    findings.push_back(unused);
  } else {
    Finding early = make(evidence, Pattern::kEarlyAllocation, o, object.alloc, launches.front());
    early.gaps = {{object.alloc, launches.front()}};
    if (early.distance && *early.distance > 0 && *early.distance >= in.thresholds.early_launches)
      findings.push_back(early);
    Finding late = make(evidence, Pattern::kLateDeallocation, o, launches.back(), object.free);
    if (late.distance && *late.distance > 0 && *late.distance >= in.thresholds.late_launches) {
      late.gaps = gap_after(in, launches.back(), object.free);
      findings.push_back(late);
    }
  }
  if (!object.ended) {
    Finding leak = make(evidence, Pattern::kMemoryLeak, o, object.alloc, kNone);
    leak.gaps = launches.empty() ? std::vector<Gap>{{object.alloc + 1, object.end}}
                                 : gap_after(in, launches.back(), object.end);
    findings.push_back(leak);
  }
}

void judge_idleness(const PatternInput& in, std::uint32_t o,
                    const std::vector<std::uint32_t>& launches, std::vector<Finding>& findings) {
  Finding longest;
  std::vector<Gap> gaps;
  std::uint32_t count = 0;
  for (std::size_t i = 1; i < launches.size(); ++i) {
    Finding gap = make(in.evidence, Pattern::kTemporaryIdleness, o, launches[i - 1], launches[i]);
    const std::uint64_t distance = gap.distance.value_or(0);
    if (distance == 0 || distance < in.thresholds.idle_launches) continue;
    for (const Gap& g : gap_after(in, launches[i - 1], launches[i]))
      gaps.push_back(g);
    ++count;
    if (!longest.distance || distance > *longest.distance) longest = std::move(gap);
  }
  if (count == 0) return;
  longest.count = count;
  longest.gaps = std::move(gaps);
  findings.push_back(std::move(longest));
}

// Two copies or sets in a row, whether they read or write and wherever they touch.
void judge_writes(const PatternInput& in, std::uint32_t o, std::vector<Finding>& findings) {
  const auto uses = in.evidence.uses_of(o);
  for (std::size_t i = 1; i < uses.size(); ++i) {
    if (uses[i - 1].by_kernel() || uses[i].by_kernel()) continue;
    Finding f = make(in.evidence, Pattern::kDeadWrite, o, uses[i - 1].api, uses[i].api);
    f.distance.reset();
    f.calls = {uses[i - 1].api};
    f.count = 1;
    findings.push_back(std::move(f));
    return;
  }
}

struct End {
  std::uint32_t launch = 0;
  std::uint32_t object = 0;
};

// Objects of one size: the ends of their access intervals in order of launch, then of object, are
// taken from the back; an object whose two ends are gone while another still has both is flagged.
void judge_reuse(const Evidence& evidence, std::vector<End>& ends, std::vector<Finding>& findings) {
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
    return a.launch != b.launch ? a.launch < b.launch : a.object < b.object;
  });
  std::map<std::uint32_t, int> taken;
  for (const End& end : ends)
    taken[end.object] = 0;
  std::size_t untouched = taken.size();
  std::size_t front = 0;  // the first object that still has both ends: the host in the report
  for (auto end = ends.rbegin(); end != ends.rend(); ++end) {
    int& count = taken[end->object];
    if (++count == 1) --untouched;
    if (count < 2 || untouched == 0) continue;
    while (taken[ends[front].object] != 0)
      ++front;
    Finding f = make(evidence, Pattern::kRedundantAllocation, end->object, kNone, kNone);
    f.host = ends[front].object;
    findings.push_back(std::move(f));
  }
}

}  // namespace

std::vector<Finding> published_findings(const PatternInput& in) {
  std::vector<Finding> findings;
  if (!in.evidence.records_accesses()) return findings;
  std::map<std::uint64_t, std::vector<End>> ends_by_size;
  for (std::uint32_t o = 0; o < in.evidence.objects.size(); ++o) {
    if (!is_seen_by_published_tool(in.evidence.objects[o], in.level)) continue;
    const std::vector<std::uint32_t> launches = launches_using(in.evidence, o);
    judge_lifetime(in, o, launches, findings);
    judge_idleness(in, o, launches, findings);
    judge_writes(in, o, findings);
    if (launches.empty()) continue;
    std::vector<End>& ends = ends_by_size[in.evidence.objects[o].size];
    ends.push_back({launches.front(), o});
    ends.push_back({launches.back(), o});
  }
  for (auto& [size, ends] : ends_by_size)
    judge_reuse(in.evidence, ends, findings);
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return a.pattern != b.pattern ? a.pattern < b.pattern : a.object < b.object;
  });
  return findings;
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/replay.h"

#include <algorithm>

namespace drgpum {

bool Replay::changes_curve(const Finding& f) {
  switch (f.pattern) {
    case Pattern::kDeadWrite:
    case Pattern::kNonUniformAccessFrequency:
      return false;
    case Pattern::kRedundantAllocation:
      // Without order both may be in use at once; the published rules do not look.
      return f.from != kNone && !(f.missing & kMissingOrder);
    default:
      return !f.gaps.empty();
  }
}

std::vector<std::uint32_t> Replay::places(const Evidence& evidence, MemoryLevel level,
                                          std::uint16_t device, std::span<const Finding> findings) {
  std::vector<std::uint32_t> places;
  const auto is_here = [&](std::uint32_t o) {
    return evidence.objects[o].device == device && holds_memory(evidence.objects[o], level);
  };
  for (std::uint32_t o = 0; o < evidence.objects.size(); ++o) {
    if (!is_here(o)) continue;
    places.push_back(evidence.objects[o].alloc);
    places.push_back(evidence.objects[o].end);
  }
  for (const Finding& f : findings) {
    if (!is_here(f.object)) continue;
    for (const Gap& gap : f.gaps) {
      places.push_back(gap.begin);
      places.push_back(gap.end);
    }
  }
  return places;
}

Replay::Replay(const Evidence& evidence, MemoryLevel level, std::uint16_t device,
               std::span<const Finding> findings)
    : evidence_(evidence),
      findings_(findings),
      tree_(places(evidence, level, device, findings)),
      lives_(evidence.objects.size()),
      applied_(findings.size(), false) {
  tree_.begin_batch();
  for (std::uint32_t o = 0; o < lives_.size(); ++o) {
    const Object& object = evidence.objects[o];
    if (object.device != device || !holds_memory(object, level)) continue;
    lives_[o].begin = object.alloc;
    lives_[o].end = object.end;
    lives_[o].size = object.size;
    add_block(o, true);
  }
  tree_.end_batch();
}

void Replay::set_all(const std::vector<bool>& stands) {
  tree_.begin_batch();
  for (std::uint32_t i = 0; i < stands.size(); ++i)
    if (applied_[i] && !stands[i]) set(i, false);
  for (std::uint32_t i = 0; i < stands.size(); ++i)
    if (stands[i]) set(i, true);
  tree_.end_batch();
}

void Replay::set_some(std::span<const std::uint32_t> findings, bool on) {
  const bool many = findings.size() > evidence_.api_count() / kVisited;
  if (many) tree_.begin_batch();
  for (const std::uint32_t i : findings)
    set(i, on);
  if (many) tree_.end_batch();
}

// Where the fix may lower the curve when it is applied, or raise it when it is removed: its gaps,
// or the life of its object with all that its memory holds after it.
template <typename Visit>
void Replay::for_each_span(const Finding& f, Visit visit) const {
  if (is_simple(f)) {
    for (const Gap& gap : f.gaps)
      visit(gap.begin, gap.end);
    return;
  }
  const Object& object = evidence_.objects[f.object];
  const std::uint32_t begin = std::min(object.alloc, lives_[head_of(f.object)].begin);
  std::uint32_t end = std::max(object.end, lives_[tail_of(f.object)].end);
  if (f.host != kNone) end = std::max(end, evidence_.objects[f.host].end);
  visit(begin, end);
}

std::int64_t Replay::bound_where_it_saves(std::uint32_t finding) const {
  std::int64_t bound = INT64_MIN;
  for_each_span(findings_[finding], [&](std::uint32_t begin, std::uint32_t end) {
    if (begin < end) bound = std::max(bound, tree_.bound_within(begin, end));
  });
  return bound;
}

std::uint64_t Replay::size_of(std::uint32_t finding) const {
  const Finding& f = findings_[finding];
  std::uint64_t size = std::max(evidence_.objects[f.object].size, lives_[head_of(f.object)].size);
  if (f.host != kNone) size = std::max(size, lives_[head_of(f.host)].size);
  return size;
}

bool Replay::touches(std::uint32_t finding, std::uint32_t call) const {
  bool found = false;
  for_each_span(findings_[finding], [&](std::uint32_t begin, std::uint32_t end) {
    found = found || (begin <= call && call < end);
  });
  return found;
}

std::uint32_t Replay::tail_of(std::uint32_t object) const {
  while (lives_[object].guest != kNone)
    object = lives_[object].guest;
  return object;
}

// Fixes of one object alone, which take bytes out of gaps that nothing else covers.
bool Replay::is_simple(const Finding& f) const {
  const Life& life = lives_[f.object];
  const bool alone = life.host == kNone && life.guest == kNone && !life.dropped;
  switch (f.pattern) {
    case Pattern::kEarlyAllocation:
    case Pattern::kLateDeallocation:
    case Pattern::kMemoryLeak:
    case Pattern::kTemporaryIdleness:
      return alone && life.size == evidence_.objects[f.object].size;
    default:
      return false;
  }
}

std::uint64_t Replay::saving_of(std::uint32_t finding) {
  const Finding& f = findings_[finding];
  if (!changes_curve(f) || lives_[f.object].size == 0) return 0;
  if (!touches(finding, tree_.place_of_peak())) return 0;
  const std::uint64_t before = peak();
  apply(finding);
  const std::uint64_t after = peak();
  remove(finding);
  return before > after ? before - after : 0;
}

std::uint64_t Replay::loss_without(std::uint32_t finding) {
  const Finding& f = findings_[finding];
  if (!changes_curve(f) || lives_[f.object].size == 0) return 0;
  const std::uint64_t before = peak();
  const auto bytes = static_cast<std::int64_t>(size_of(finding));
  const std::int64_t bound = bound_where_it_saves(finding);
  if (bound == INT64_MIN || bound + bytes <= tree_.peak()) return 0;
  std::int64_t without = tree_.peak();
  if (is_simple(f)) {
    for (const Gap& gap : f.gaps)
      if (gap.begin < gap.end)
        without = std::max(without, tree_.peak_within(gap.begin, gap.end) + bytes);
  } else {
    remove(finding);
    without = tree_.peak();
    apply(finding);
  }
  const auto after = static_cast<std::uint64_t>(std::max<std::int64_t>(without, 0));
  return after > before ? after - before : 0;
}

std::uint32_t Replay::head_of(std::uint32_t object) const {
  while (lives_[object].host != kNone)
    object = lives_[object].host;
  return object;
}

// The block that begins with `head` and goes on through its guests.
void Replay::add_block(std::uint32_t head, bool present) {
  const Life& first = lives_[head];
  if (first.dropped || first.size == 0) return;
  const auto bytes = static_cast<std::int64_t>(first.size);
  std::uint32_t end = first.end;
  for (std::uint32_t o = head; o != kNone; o = lives_[o].guest) {
    end = lives_[o].end;
    if (lives_[o].gaps == nullptr) continue;
    for (const Gap& gap : *lives_[o].gaps)
      tree_.add(gap.begin, gap.end, present ? -bytes : bytes);
  }
  tree_.add(first.begin, end, present ? bytes : -bytes);
}

void Replay::change(const Finding& f, bool on) {
  Life& life = lives_[f.object];
  const Object& object = evidence_.objects[f.object];
  switch (f.pattern) {
    case Pattern::kEarlyAllocation:
      life.begin = on ? f.gaps.front().end : object.alloc;
      break;
    case Pattern::kLateDeallocation:
    case Pattern::kMemoryLeak:
      life.end = on ? f.gaps.front().begin : object.end;
      break;
    case Pattern::kUnusedAllocation:
      life.dropped = on;
      break;
    case Pattern::kTemporaryIdleness:
      life.gaps = on ? &f.gaps : nullptr;
      break;
    case Pattern::kOverallocation:
    case Pattern::kStructuredAccess:
      life.size = on ? object.size - f.wasted_bytes : object.size;
      break;
    case Pattern::kRedundantAllocation:
      life.host = on ? f.host : kNone;
      lives_[f.host].guest = on ? f.object : kNone;
      break;
    case Pattern::kDeadWrite:
    case Pattern::kNonUniformAccessFrequency:
      break;
  }
}

void Replay::set(std::uint32_t finding, bool on) {
  const Finding& f = findings_[finding];
  if (applied_[finding] == on) return;
  applied_[finding] = on;
  if (!changes_curve(f) || lives_[f.object].size == 0) return;
  const bool reuse = f.pattern == Pattern::kRedundantAllocation;
  add_block(head_of(f.object), false);
  if (reuse && on) add_block(head_of(f.host), false);
  change(f, on);
  add_block(head_of(f.object), true);
  if (reuse && !on) add_block(head_of(f.host), true);
}

}  // namespace drgpum

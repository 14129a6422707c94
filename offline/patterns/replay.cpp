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

std::vector<std::uint32_t> Replay::places(const PatternInput& in, std::uint16_t device,
                                          std::span<const Finding> findings) {
  std::vector<std::uint32_t> places;
  const auto is_here = [&](std::uint32_t o) {
    return in.evidence.objects[o].device == device &&
           holds_memory(in.evidence.objects[o], in.level);
  };
  for (std::uint32_t o = 0; o < in.evidence.objects.size(); ++o) {
    if (!is_here(o)) continue;
    places.push_back(in.evidence.objects[o].alloc);
    places.push_back(in.evidence.objects[o].end);
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

Replay::Replay(const PatternInput& in, std::uint16_t device, std::span<const Finding> findings)
    : evidence_(in.evidence),
      findings_(findings),
      tree_(places(in, device, findings)),
      lives_(in.evidence.objects.size()),
      applied_(findings.size(), false) {
  for (std::uint32_t o = 0; o < lives_.size(); ++o) {
    const Object& object = in.evidence.objects[o];
    if (object.device != device || !holds_memory(object, in.level)) continue;
    lives_[o].begin = object.alloc;
    lives_[o].end = object.end;
    lives_[o].size = object.size;
    add_block(o, true);
  }
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

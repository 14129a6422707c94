// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a set of fixes does to the peak, call by call and byte by byte, from the definitions alone:
// of a finding it takes the pattern and the objects, and nothing that the finding claims.

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "offline/order/memory_timeline.h"
#include "offline/patterns/finding.h"
#include "tests/support/slow_order.h"

namespace drgpum {

class SlowReplay {
 public:
  SlowReplay(const Evidence& evidence, const SlowOrder& order, MemoryLevel level,
             std::uint16_t device)
      : e_(evidence), order_(order), level_(level), device_(device) {}

  std::uint64_t peak_with(const std::vector<const Finding*>& fixed) const {
    const std::vector<Life> lives = lives_with(fixed);
    std::uint64_t peak = 0;
    for (std::uint32_t call = 0; call <= e_.api_count(); ++call) {
      std::uint64_t live = 0;
      for (std::uint32_t o = 0; o < lives.size(); ++o)
        live += bytes_at(lives, o, call);
      peak = std::max(peak, live);
    }
    return peak;
  }

  // The object's bytes when it is live at the first of the highest calls and nothing uses it until
  // the live bytes change.
  std::uint64_t idle_at_peak(std::uint32_t object) const {
    std::vector<std::uint64_t> live(e_.api_count() + 1, 0);
    const std::vector<Life> lives = lives_with({});
    for (std::uint32_t call = 0; call < live.size(); ++call)
      for (std::uint32_t o = 0; o < lives.size(); ++o)
        live[call] += bytes_at(lives, o, call);
    const auto top = static_cast<std::uint32_t>(std::max_element(live.begin(), live.end()) -
                                                live.begin());
    if (live[top] == 0 || bytes_at(lives, object, top) == 0) return 0;
    std::uint32_t until = top;
    while (until < e_.api_count() && live[until] == live[top])
      ++until;
    for (const Use& use : e_.uses_of(object))
      if (use.api >= top && use.api < until) return 0;
    return e_.objects[object].size;
  }

 private:
  struct Life {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint64_t size = 0;
    std::vector<Gap> away;
    std::uint32_t host = kNone;
    std::uint32_t guest = kNone;
  };

  static std::uint64_t bytes_at(const std::vector<Life>& lives, std::uint32_t o,
                                std::uint32_t call) {
    if (lives[o].host != kNone || call < lives[o].begin) return 0;
    std::uint32_t end = lives[o].end;
    for (std::uint32_t member = o; member != kNone; member = lives[member].guest) {
      end = lives[member].end;
      for (const Gap& gap : lives[member].away)
        if (gap.begin <= call && call < gap.end) return 0;
    }
    return call < end ? lives[o].size : 0;
  }

  std::vector<Life> lives_with(const std::vector<const Finding*>& fixed) const {
    std::vector<Life> lives(e_.objects.size());
    for (std::uint32_t o = 0; o < lives.size(); ++o) {
      const Object& object = e_.objects[o];
      if (object.device == device_ && holds_memory(object, level_))
        lives[o] = {object.alloc, object.end, object.size, {}, kNone, kNone};
    }
    for (const Finding* f : fixed)
      if (lives[f->object].size > 0) apply(*f, lives);
    return lives;
  }

  void apply(const Finding& f, std::vector<Life>& lives) const {
    Life& life = lives[f.object];
    switch (f.pattern) {
      case Pattern::kEarlyAllocation:
        life.begin = needed_from(f.object);
        break;
      case Pattern::kLateDeallocation:
        life.end = std::min(life.end, over_after(needed_until(f.object), f.object, true));
        break;
      case Pattern::kMemoryLeak:
        life.end = std::min(life.end, over_after(e_.api_count(), f.object, false));
        break;
      case Pattern::kUnusedAllocation:
        life.size = 0;
        break;
      case Pattern::kTemporaryIdleness:
        life.away = idle_gaps(f.object);
        break;
      case Pattern::kRedundantAllocation:
        if (!all_ordered(f.host, f.object)) break;
        life.host = f.host;
        lives[f.host].guest = f.object;
        break;
      case Pattern::kOverallocation:
        life.size = e_.objects[f.object].size - untouched_bytes(f.object);
        break;
      case Pattern::kStructuredAccess:
        life.size = largest_part(f.object);
        break;
      case Pattern::kDeadWrite:
      case Pattern::kNonUniformAccessFrequency:
        break;
    }
  }

  // Calls that the object's patterns judge, in issue order.
  std::vector<std::uint32_t> essential(std::uint32_t object) const {
    std::uint32_t first = kNone;
    std::uint32_t last = 0;
    for (const Use& use : e_.uses_of(object)) {
      if (!use.by_kernel()) continue;
      if (first == kNone) first = use.api;
      last = use.api;
    }
    std::vector<std::uint32_t> calls;
    for (const Use& use : e_.uses_of(object)) {
      const bool fills = !use.reads() && (use.flags() & kUseFromHost);
      const bool drains = !use.writes() && (use.flags() & kUseToHost);
      const bool movable = (fills && use.api < first) || (drains && use.api > last);
      if (first == kNone ? use.reads() : !movable) calls.push_back(use.api);
    }
    return calls;
  }
  // Launches in the object's life whose accesses were not recorded may be accesses.
  std::vector<std::uint32_t> hidden(std::uint32_t object) const {
    std::vector<std::uint32_t> calls;
    for (const std::uint32_t call : e_.unseen_launches)
      if (call >= e_.objects[object].alloc && call < e_.objects[object].end) calls.push_back(call);
    return calls;
  }
  std::vector<std::uint32_t> with_hidden(std::vector<std::uint32_t> calls,
                                         std::uint32_t object) const {
    const auto more = hidden(object);
    calls.insert(calls.end(), more.begin(), more.end());
    std::sort(calls.begin(), calls.end());
    return calls;
  }
  std::uint32_t needed_from(std::uint32_t object) const {
    return with_hidden(essential(object), object).front();
  }
  std::uint32_t needed_until(std::uint32_t object) const {
    return with_hidden(essential(object), object).back();
  }

  // From which call on nothing that is issued may still run beside the object's uses up to `last`.
  std::uint32_t over_after(std::uint32_t last, std::uint32_t object, bool only_to_free) const {
    const std::uint32_t limit = only_to_free ? e_.objects[object].free : e_.objects[object].end;
    std::vector<std::uint32_t> from;
    for (const Use& use : e_.uses_of(object))
      if (use.api <= last) from.push_back(use.api);
    for (const std::uint32_t call : hidden(object))
      if (call <= last) from.push_back(call);
    if (from.empty()) return e_.objects[object].alloc + 1;
    return released(from, limit);
  }
  std::uint32_t released(const std::vector<std::uint32_t>& from, std::uint32_t limit) const {
    const auto is_over = [&](std::uint32_t call) {
      return std::all_of(from.begin(), from.end(),
                         [&](std::uint32_t f) { return order_.before(f, call); });
    };
    for (std::uint32_t p = *std::max_element(from.begin(), from.end()) + 1; p < limit; ++p) {
      bool free = true;
      for (std::uint32_t q = p; q < limit; ++q)
        free = free && (!order_.on_stream(q) || is_over(q));
      if (free) return p;
    }
    return limit;
  }

  std::vector<Gap> idle_gaps(std::uint32_t object) const {
    std::vector<Gap> gaps;
    const std::vector<std::uint32_t> calls = essential(object);
    for (std::size_t i = 1; i < calls.size(); ++i) {
      std::uint32_t launches = 0;
      bool seen = true;
      for (std::uint32_t call = calls[i - 1] + 1; call < calls[i]; ++call) {
        launches += e_.apis[call].kind == trace::ApiKind::kLaunch ? 1 : 0;
        seen = seen && !std::binary_search(e_.unseen_launches.begin(), e_.unseen_launches.end(),
                                           call);
      }
      if (launches == 0 || !seen) continue;
      std::vector<std::uint32_t> from;
      for (const Use& use : e_.uses_of(object))
        if (use.api <= calls[i - 1]) from.push_back(use.api);
      for (const std::uint32_t call : hidden(object))
        if (call < calls[i]) from.push_back(call);
      const std::uint32_t begin = released(from, calls[i]);
      if (begin < calls[i]) gaps.push_back({begin, calls[i]});
    }
    return gaps;
  }

  bool all_ordered(std::uint32_t host, std::uint32_t guest) const {
    for (const std::uint32_t a : with_hidden(essential(host), host))
      for (const std::uint32_t b : with_hidden(essential(guest), guest))
        if (!order_.before(a, b)) return false;
    return true;
  }

  std::set<std::uint64_t> bytes_of(std::uint32_t object, const Use& use) const {
    std::set<std::uint64_t> bytes;
    const trace::AccessMapRecord& map = e_.maps[e_.details[use.detail()].map];
    const std::uint64_t element = std::max(e_.objects[object].min_access_bytes, 1u);
    for (const auto* ranges : {&map.read_ranges, &map.written_ranges})
      for (const trace::ByteRange& range : *ranges)
        for (std::uint64_t byte = range.begin / element * element;
             byte < (range.end + element - 1) / element * element; ++byte)
          if (byte < e_.objects[object].size) bytes.insert(byte);
    return bytes;
  }
  std::uint64_t untouched_bytes(std::uint32_t object) const {
    std::set<std::uint64_t> all;
    for (const Use& use : e_.uses_of(object))
      if (use.by_kernel()) all.merge(bytes_of(object, use));
    return e_.objects[object].size - all.size();
  }
  std::uint64_t largest_part(std::uint32_t object) const {
    std::size_t largest = 0;
    for (const Use& use : e_.uses_of(object))
      if (use.by_kernel()) largest = std::max(largest, bytes_of(object, use).size());
    return largest;
  }

  const Evidence& e_;
  const SlowOrder& order_;
  MemoryLevel level_;
  std::uint16_t device_;
};

}  // namespace drgpum

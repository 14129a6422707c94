// SPDX-License-Identifier: Apache-2.0
#include "profiler/pending_frees.h"

#include <algorithm>

namespace drgpum::profiler {

void RecentEvents::add(sanitizer::Event event, std::uint64_t call, std::uint64_t from) {
  if (until(call).empty() || count == kMost) count = 0;
  events[count++] = event;
  last_call = call;
  recorder = from;
}

std::span<const sanitizer::Event> RecentEvents::until(std::uint64_t call) const {
  const bool is_recent = count != 0 && call - last_call <= kCallsBetween;
  return {events, is_recent ? count : 0};
}

void PendingFrees::add(const LiveObject& block, std::span<const sanitizer::Event> events) {
  if (!blocks_.try_emplace(block.id.value, Block{block, events.size()}).second) return;
  for (const sanitizer::Event event : events)
    waiting_[event].push_back(block.id.value);
}

std::vector<LiveObject> PendingFrees::come(sanitizer::Event event) {
  const auto waiting = waiting_.find(event);
  if (waiting == waiting_.end()) return {};
  std::vector<LiveObject> over;
  for (const std::uint32_t id : waiting->second) {
    const auto block = blocks_.find(id);
    if (block == blocks_.end() || --block->second.events != 0) continue;
    over.push_back(block->second.object);
    blocks_.erase(block);
  }
  waiting_.erase(waiting);
  return over;
}

std::vector<LiveObject> PendingFrees::take_all() {
  std::vector<LiveObject> all;
  for (const auto& [id, block] : blocks_)
    all.push_back(block.object);
  blocks_.clear();
  waiting_.clear();
  std::sort(all.begin(), all.end(),
            [](const LiveObject& a, const LiveObject& b) { return a.id < b.id; });
  return all;
}

}  // namespace drgpum::profiler

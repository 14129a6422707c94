// SPDX-License-Identifier: Apache-2.0
#pragma once
// Blocks that a caching allocator has taken back but will not hand out again before events have
// come, because other streams may still use them (record_stream in PyTorch).

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "profiler/live_object.h"
#include "proto/sanitizer/callback_data.h"

namespace drgpum::profiler {

// The events that a thread recorded one right after the other. Plain: part of ThreadState.
struct RecentEvents {
  static constexpr std::size_t kMost = 16;
  sanitizer::Event events[kMost];
  std::size_t count = 0;
  std::uint64_t last_call = 0;  // the thread's calls up to the last record
  std::uint64_t recorder = 0;   // return address in the code that recorded them

  // Between two records, and after the last one, an allocator asks for an event and for devices.
  static constexpr std::uint64_t kCallsBetween = 6;
  void add(sanitizer::Event event, std::uint64_t call, std::uint64_t from);
  [[nodiscard]] std::span<const sanitizer::Event> until(std::uint64_t call) const;
};

class PendingFrees {
 public:
  void add(const LiveObject& block, std::span<const sanitizer::Event> events);
  // The event has come: blocks that waited for it and wait for no other.
  std::vector<LiveObject> come(sanitizer::Event event);
  void forget(ObjectId block) { blocks_.erase(block.value); }
  [[nodiscard]] bool waits(ObjectId block) const { return blocks_.contains(block.value); }
  [[nodiscard]] bool empty() const { return blocks_.empty(); }
  std::vector<LiveObject> take_all();

 private:
  struct Block {
    LiveObject object;
    std::size_t events = 0;
  };
  std::unordered_map<std::uint32_t, Block> blocks_;
  std::unordered_map<sanitizer::Event, std::vector<std::uint32_t>> waiting_;
};

}  // namespace drgpum::profiler

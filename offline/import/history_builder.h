// SPDX-License-Identifier: Apache-2.0
#pragma once
// Texts, frames, stacks and streams of a history, each once, for readers that meet them in any
// order. Snapshots of PyTorch have a builder of their own, SnapshotValues.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "offline/import/allocator_history.h"
#include "proto/base/result.h"

namespace drgpum {

class HistoryBuilder {
 public:
  explicit HistoryBuilder(std::string format);

  std::uint32_t text(std::string_view text) { return history.texts.number_of(text); }
  std::uint32_t frame(std::string_view function, std::string_view file, std::uint32_t line);
  // Innermost first; 0 without frames.
  std::uint32_t stack(std::span<const std::uint32_t> frames);
  // What is said of an event: a text, the function called; either may be 0.
  std::uint32_t note(std::uint32_t text, std::uint32_t call);
  std::uint16_t stream(std::uint64_t handle);
  void fault(FaultKind kind, const std::string& text, std::uint64_t count = 1);
  void property(std::string_view key, std::string_view value);

  // A part for `events`, earliest first; those at one time stay in their order.
  void add_part(std::uint32_t device, bool host, std::vector<AllocatorEvent> events);
  AllocatorHistory finish() &&;

  AllocatorHistory history;

 private:
  std::map<std::array<std::uint32_t, 3>, std::uint32_t> frame_of_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> stack_of_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> note_of_;
  std::unordered_map<std::uint64_t, std::uint16_t> stream_of_;
  std::map<std::pair<FaultKind, std::string>, std::size_t> fault_of_;
};

// "row 3: 'bytes' is -5: sizes are not negative", as kCorrupt.
Error bad_value(const std::string& where, const std::string& what, const std::string& value,
                const std::string& why);

}  // namespace drgpum

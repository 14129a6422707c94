// SPDX-License-Identifier: Apache-2.0
#pragma once
// The values of a snapshot while it is read, whether from a pickle or from JSON: numbers, texts,
// dictionaries, lists. There is no tree of them: the moment that a dictionary is put into another
// value it is complete, and one that is an event, a frame, a block, a segment or an annotation turns
// into a row of the history there and then; only its number stays, for others that name it. What is
// left are a few dictionaries at the top.
//
// Putting a value into another closes it: a dictionary or list that changes afterwards, or that
// holds itself, is refused. No writer of plain data does that.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "offline/import/allocator_history.h"
#include "proto/base/result.h"

namespace drgpum {

// A number of 61 bits, a text's number, a place of a dictionary or list, or a place in a table of
// wider numbers, with three bits that tell which.
struct SnapshotValue {
  enum Kind : std::uint64_t { kInt, kSpecial, kText, kDict, kList, kWide };
  enum Special : std::uint64_t { kNothing, kTrue, kFalse };
  std::uint64_t bits = kSpecial;

  static SnapshotValue of(Kind kind, std::uint64_t value) { return {value << 3 | kind}; }
  Kind kind() const { return static_cast<Kind>(bits & 7); }
  std::uint64_t place() const { return bits >> 3; }
  std::int64_t number() const { return static_cast<std::int64_t>(bits) >> 3; }
  bool is(Kind what) const { return kind() == what; }
};

class SnapshotValues {
 public:
  SnapshotValues();

  SnapshotValue none() const { return SnapshotValue::of(SnapshotValue::kSpecial, SnapshotValue::kNothing); }
  SnapshotValue boolean(bool value) const {
    return SnapshotValue::of(SnapshotValue::kSpecial,
                             value ? SnapshotValue::kTrue : SnapshotValue::kFalse);
  }
  SnapshotValue integer(std::int64_t value) {
    constexpr std::int64_t kMost = std::int64_t{1} << 59;
    if (value < kMost && value >= -kMost)
      return {static_cast<std::uint64_t>(value) << 3 | SnapshotValue::kInt};
    return wide({static_cast<std::uint64_t>(value), value < 0 ? Wide::kSigned : Wide::kUnsigned});
  }
  SnapshotValue unsigned_integer(std::uint64_t value) {
    if (value <= INT64_MAX) return integer(static_cast<std::int64_t>(value));
    return wide({value, Wide::kUnsigned});
  }
  SnapshotValue huge() { return wide({0, Wide::kHuge}); }  // beyond 64 bits
  SnapshotValue real(double value);
  SnapshotValue text(std::string_view text) {
    return SnapshotValue::of(SnapshotValue::kText, history_.texts.number_of(text));
  }
  SnapshotValue new_dict() { return SnapshotValue::of(SnapshotValue::kDict, new_slot(kOpenDict)); }
  SnapshotValue new_list() { return SnapshotValue::of(SnapshotValue::kList, new_slot(kOpenList)); }

  // Null, or what is wrong. `pairs` are keys and values in turn.
  const char* set_items(SnapshotValue dict, const SnapshotValue* pairs, std::size_t count);
  const char* append(SnapshotValue list, const SnapshotValue* values, std::size_t count);

  // The history, once `root` is whole: the snapshot's outermost value. The values are gone then.
  Result<AllocatorHistory> finish(SnapshotValue root) &&;

 private:
  enum State : std::uint8_t {
    kOpenDict,    // `at`: storage, kNoStorage while empty
    kOpenList,
    kDict,        // closed; as it is
    kList,
    kEvent,       // `at`: row of the history
    kFrame,
    kBlock,
    kSegment,
    kAnnotation,
    kStack,
    kPool,
    kRendered,    // `at`: its text
    kDropped,
  };
  // Keys that tell which generation of snapshots it is.
  enum Generation : unsigned {
    kHasBlockFrames = 1,
    kHasTimes = 2,
    kHasSettings = 4,
    kHasAnnotations = 8,
    kHasContexts = 16,
    kHasMetadata = 32,
    kHasPoolIds = 64,
    kHasHost = 128,
  };
  static constexpr std::uint32_t kNoStorage = 0xffffffff;
  static constexpr std::uint8_t kMaxDepth = 60;
  struct Slot {
    std::uint32_t at;
    State state;
    std::uint8_t depth;
  };
  struct Wide {
    enum Kind : std::uint64_t { kSigned, kUnsigned, kReal, kHuge };
    std::uint64_t bits;
    Kind kind;
  };
  using Values = PodArray<SnapshotValue>;  // of a dictionary: keys and values in turn

  SnapshotValue wide(Wide value) {
    wides_.push_back(value);
    return SnapshotValue::of(SnapshotValue::kWide, wides_.size() - 1);
  }
  std::uint32_t new_slot(State state) {
    slots_.push_back({kNoStorage, state, 0});
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }
  Values& storage_of(Slot& slot);
  void give_back(Slot& slot, State state, std::uint32_t at);
  const char* close(SnapshotValue value, Slot& into);
  void close_dict(Slot& slot);
  void close_list(Slot& slot);

  // Closed values.
  static bool is_container(SnapshotValue value) {
    return value.is(SnapshotValue::kDict) || value.is(SnapshotValue::kList);
  }
  const Slot* slot_in(SnapshotValue value, State state) const;
  SnapshotValue find(const Values& dict, std::uint32_t key) const;
  SnapshotValue find(SnapshotValue dict, std::uint32_t key) const;
  bool take_unsigned(SnapshotValue value, std::uint64_t& out) const;
  bool take_signed(SnapshotValue value, std::int64_t& out) const;
  std::int64_t time_of(SnapshotValue value);
  std::uint64_t bytes_of(SnapshotValue value, const char* what);
  std::uint32_t text_of(SnapshotValue value) const;
  std::uint32_t stack_of(SnapshotValue value) const;
  std::uint16_t stream_of(SnapshotValue value);
  std::uint16_t pool_of(SnapshotValue value);
  std::uint32_t note_of(std::uint32_t text, std::uint32_t context);
  std::uint32_t rendered(SnapshotValue value);
  void render(SnapshotValue value, std::string& out) const;
  void drop(SnapshotValue value);
  void fault(const std::string& what);

  struct EventWords;
  void take_field(std::uint64_t key, SnapshotValue value, AllocatorEvent& event, EventWords& words);
  void take_word(std::uint64_t key, SnapshotValue value, AllocatorEvent& event, EventWords& words);
  bool take_action(AllocatorEvent& event, EventWords& words);
  std::uint32_t to_event(const Values& dict);
  std::uint32_t to_frame(const Values& dict);
  std::uint32_t to_block(const Values& dict);
  std::uint32_t to_segment(const Values& dict);
  std::uint32_t to_annotation(const Values& dict);
  std::uint32_t to_stack();
  bool gather_frames(const Values& list);

  void take_segments(SnapshotValue list, bool host);
  void take_traces(SnapshotValue list, bool host);
  void take_trace(SnapshotValue list, std::uint32_t device, bool host);
  void take_annotations(SnapshotValue list);
  void take_settings(SnapshotValue settings);
  void tell_generation(SnapshotValue root);

  AllocatorHistory history_;
  PodArray<Slot> slots_;
  PodArray<Wide> wides_;
  std::vector<Values> storage_;
  std::vector<std::uint32_t> free_storage_;
  std::unordered_map<std::uint64_t, std::uint32_t> frame_of_;  // by hash; chained by next_frame_
  std::vector<std::uint32_t> next_frame_;
  std::unordered_map<std::uint64_t, std::uint32_t> stack_of_;  // likewise
  std::vector<std::uint32_t> next_stack_;
  std::unordered_map<std::uint64_t, std::uint32_t> note_of_;
  std::unordered_map<std::uint64_t, std::uint16_t> stream_of_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::uint16_t> pool_of_;
  std::unordered_map<std::string, std::size_t> fault_of_;
  std::vector<HistorySegment> segment_rows_;
  unsigned keys_seen_ = 0;  // bits that tell the generation
  std::vector<std::uint32_t> scratch_;
};

}  // namespace drgpum

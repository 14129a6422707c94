// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an allocator or a tool wrote down about memory, whatever file it came in: events in the order
// of each device, the memory that was held when it was written, work of the device that was seen,
// and the frames they name. Readers of formats fill one; replay_history.h makes sense of it;
// trace_records.h makes a trace of it. Times are in ticks of any clock, of tick_ns nanoseconds.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "offline/import/pod_array.h"
#include "offline/import/text_table.h"

namespace drgpum {

enum class AllocatorAction : std::uint8_t {
  kAlloc,
  kFreeRequested,  // the program gave it back; streams may still use it
  kFreeCompleted,  // it can be given to others
  kSegmentAlloc,   // the allocator took memory from the device
  kSegmentFree,
  kSegmentMap,  // expandable segments: pages that came and went
  kSegmentUnmap,
  kSnapshot,
  kOutOfMemory,  // `address` is what the device had left, in bytes
  kRangeBegin,   // `note` names it
  kRangeEnd,
  kInstant,
};

inline constexpr std::int64_t kNoTick = INT64_MIN;
inline constexpr std::uint64_t kUnknownBytes = UINT64_MAX;

// What a block is: a piece of an allocator's segment, or memory that the program had from the driver.
enum class BlockMemory : std::uint8_t { kPiece, kDevice, kManaged, kPool, kArray, kGlobal };

struct AllocatorEvent {
  std::uint64_t address = 0;
  std::uint64_t size = 0;           // as the allocator rounded it
  std::int64_t tick = kNoTick;
  std::uint32_t stack = 0;          // in `stacks`; 0: none
  std::uint32_t note = 0;           // in `notes`; 0: none
  std::uint16_t stream = 0;         // in `streams`
  std::uint16_t pool = 0;           // in `pools`; 0: not told
  AllocatorAction action = AllocatorAction::kAlloc;
  BlockMemory memory = BlockMemory::kPiece;
};
static_assert(sizeof(AllocatorEvent) == 40);

struct HistoryFrame {
  std::uint32_t function = 0;  // in `texts`
  std::uint32_t file = 0;
  std::uint32_t line = 0;
};

struct HistoryNote {
  std::uint32_t text = 0;     // in `texts`: what the user or a range is called
  std::uint32_t context = 0;  // in `texts`: of the compiler
  std::uint32_t call = 0;     // in `texts`: the function that was called; 0: the action says it
};

enum class BlockState : std::uint8_t { kActive, kPendingFree, kInactive };

// Part of a segment as it was in the end.
struct HistoryBlock {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t requested = 0;
  std::uint32_t stack = 0;
  BlockState state = BlockState::kInactive;
};

struct HistorySegment {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint32_t device = 0;
  std::uint32_t stack = 0;
  std::uint32_t first_block = 0;  // in `blocks`
  std::uint32_t block_count = 0;
  std::uint16_t stream = 0;
  std::uint16_t pool = 0;
  bool small = false;
  bool expandable = false;
  bool host = false;
};

struct HistoryAnnotation {
  std::int64_t tick = kNoTick;
  std::uint32_t name = 0;  // in `texts`
  std::uint32_t device = 0;
  AllocatorAction action = AllocatorAction::kInstant;  // a range's begin or end, or an instant
};

// The events of one device, or of pinned host memory, are [first, first + count) of `events`.
struct HistoryPart {
  std::uint32_t device = 0;
  bool host = false;
  std::size_t first = 0;
  std::size_t count = 0;
};

// Memory that was there before the first event and after the last, of which no event tells and no
// address is known.
struct HistoryResident {
  std::uint64_t bytes = 0;
  std::uint32_t name = 0;   // in `texts`
  std::uint32_t stack = 0;  // where it was allocated
  std::uint32_t device = 0;
};

enum class WorkKind : std::uint8_t { kLaunch, kCopyToDevice, kCopyToHost, kCopyOnDevice, kSet };

// A kernel, a copy or a set. What memory it touched is not known.
struct HistoryWork {
  std::int64_t tick = kNoTick;   // when the host asked for it
  std::int64_t begin = kNoTick;  // on the device
  std::int64_t end = kNoTick;
  std::uint64_t bytes = 0;  // of copies and sets
  std::uint32_t name = 0;   // in `texts`: of the kernel
  std::uint32_t call = 0;   // in `texts`: the function that was called; 0: not known
  std::uint32_t stack = 0;
  std::uint32_t device = 0;
  std::array<std::uint32_t, 3> grid{1, 1, 1};
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::uint16_t stream = 0;  // in `streams`
  WorkKind kind = WorkKind::kLaunch;
};

struct HistoryDevice {
  std::uint32_t device = 0;
  std::string name;
  std::uint64_t memory_bytes = 0;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
};

enum class FaultKind : std::uint8_t { kBadField, kHistoryCut, kMissingSegments };

// What could not be taken as it was, or is not told, once for each kind.
struct HistoryFault {
  std::string text;
  std::uint64_t count = 0;
  FaultKind kind = FaultKind::kBadField;
};

struct AllocatorHistory {
  std::string format;      // for a person: "PyTorch memory snapshot"
  std::string properties;  // key=value lines: generation, allocator settings
  bool overflowed = false;  // the writer says that its ring buffer lost events
  bool tells_segments = true;  // false: blocks outside all segments are as they should be
  std::int64_t tick_ns = 1000;
  std::optional<std::int64_t> epoch_ns = 0;  // Unix time of tick 0; none: not known
  TextTable texts;          // [0] is empty
  std::vector<HistoryFrame> frames;
  PodArray<std::uint32_t> stack_frames;  // of all stacks, innermost first
  PodArray<std::uint32_t> stack_begin;   // stack s: [stack_begin[s], stack_begin[s + 1]); 0 empty
  std::vector<HistoryNote> notes;        // [0] is empty
  std::vector<std::uint64_t> streams;    // handles; [0] is the default stream
  std::vector<std::pair<std::int64_t, std::int64_t>> pools;  // [0] is not told
  PodArray<AllocatorEvent> events;
  std::vector<HistoryPart> parts;
  PodArray<HistoryBlock> blocks;
  std::vector<HistorySegment> segments;
  std::vector<HistoryAnnotation> annotations;
  std::vector<HistoryResident> residents;
  std::vector<HistoryWork> works;  // by tick
  std::vector<HistoryDevice> devices;  // those of which more is known than their number
  std::vector<HistoryFault> faults;
};

}  // namespace drgpum

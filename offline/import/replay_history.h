// SPDX-License-Identifier: Apache-2.0
#pragma once
// The lives behind a history: which event began and ended each block of memory.
//
// A history may begin late (a ring buffer keeps the last events), lack kinds of events, or end in a
// state that its events do not lead to. For each device the events are taken in their order, then
// compared with the segments as they were in the end:
//   - An allocation ends whatever still lives in its bytes: that end was not recorded. So does the
//     end of a segment for what lives in it.
//   - A free of what does not live there (an unmatched free) tells of a block that was allocated
//     before the history, or where it has a hole. It lives from the last end of a block that began
//     in the history and held its address, or of another unmatched block at its address, if there
//     was one, else from before the first event. Where a block lives in its bytes already, the free
//     is only counted.
//   - A block that is active in the end but not by the events (an unmatched block) lives likewise,
//     and on; what lives in its bytes by the events ends behind the last one. Blocks of no bytes are
//     not there.
//   - A block that lives by the events but not in the end state lives on: nothing says when it ended.
//   - Segments: the same, with the unmatched ones alive from before the first event. Pages that are
//     unmapped may be parts of what was mapped at once, so mapped ranges are kept in the pieces that
//     later unmappings cut.
// So no sum is ever negative, and no peak smaller than it was.

#include <cstdint>
#include <vector>

#include "offline/import/allocator_history.h"

namespace drgpum {

inline constexpr std::uint32_t kNoEvent = 0xffffffff;
inline constexpr std::uint32_t kNoLife = 0xffffffff;

enum class LifeKind : std::uint8_t { kBlock, kSegment, kMapped };

// Events are places in the device's part.
struct Life {
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint32_t begin = kNoEvent;    // kNoEvent: before the first event
  std::uint32_t end = kNoEvent;      // kNoEvent: it lives on
  std::uint32_t request = kNoEvent;  // where the program gave it back
  std::uint32_t parent = kNoLife;    // the segment that it begins in
  std::uint32_t stack = 0;           // of blocks and segments that no event began
  std::uint16_t stream = 0;          // likewise
  LifeKind kind = LifeKind::kBlock;
  bool recorded = true;  // an allocation or mapping began it
  bool freed = true;     // a free ended it; false with an end: it was replaced
};

// Something that happens at an event besides what the event says: before it.
struct LifeChange {
  std::uint32_t event = 0;
  std::uint32_t life = 0;
};

struct DeviceLives {
  std::vector<Life> lives;
  PodArray<std::uint32_t> subject;  // by event: the life that it begins, requests or ends; kNoLife
  std::vector<LifeChange> begins;   // unrecorded, and further pieces of a mapping; by event
  std::vector<LifeChange> ends;     // unrecorded, and further pieces of an unmapping; by event
  std::uint64_t unmatched_frees = 0;
  std::uint64_t unmatched_blocks = 0;    // alive in the end, never allocated
  std::uint64_t unmatched_segments = 0;  // segments that were there from the start
  std::uint64_t unrecorded_ends = 0;     // blocks that were replaced
  std::uint64_t unseen_ends = 0;         // that live on by the events, but not in the end state
  std::uint64_t outside = 0;             // blocks outside every segment
};

// Of one part. Segments of the history are those of the part's device and kind of memory.
DeviceLives replay_part(const AllocatorHistory& history, const HistoryPart& part);

}  // namespace drgpum

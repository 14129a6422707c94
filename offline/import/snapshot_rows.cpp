// SPDX-License-Identifier: Apache-2.0
// Dictionaries as rows of the history.
#include <algorithm>
#include <array>
#include <utility>

#include "offline/import/snapshot_keys.h"
#include "offline/import/snapshot_values.h"

namespace drgpum {

using namespace snapshot;

namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ hash >> 29;
}

bool needs_address(AllocatorAction action) {
  return action <= AllocatorAction::kSegmentUnmap;
}

}  // namespace

// What an event's keys give besides its numbers.
struct SnapshotValues::EventWords {
  std::uint32_t action = 0;  // texts
  std::uint32_t text = 0;
  std::uint32_t context = 0;
  std::uint32_t stage = 0;
  std::uint32_t name = 0;
  bool bad = false;  // an address or size that cannot be
};

void SnapshotValues::take_field(std::uint64_t key, SnapshotValue value, AllocatorEvent& event,
                                EventWords& words) {
  switch (key) {
    case kAction:
      words.action = text_of(value);
      return;
    case kAddr:
    case kDeviceFree:
      event.address = bytes_of(value, "events left out: their address cannot be");
      words.bad |= event.address == kUnknownBytes;
      return;
    case kSize:
      event.size = bytes_of(value, "events left out: their size cannot be");
      words.bad |= event.size == kUnknownBytes;
      return;
    case kStream:
      event.stream = stream_of(value);
      return;
    case kFrames:
      event.stack = stack_of(value);
      return drop(value);
    case kTimeUs:
      event.tick = time_of(value);
      keys_seen_ |= kHasTimes;
      return;
    default:
      take_word(key, value, event, words);
  }
}

void SnapshotValues::take_word(std::uint64_t key, SnapshotValue value, AllocatorEvent& event,
                               EventWords& words) {
  switch (key) {
    case kCompileContext:
      words.context = rendered(value);
      keys_seen_ |= kHasContexts;
      return;
    case kUserMetadata:
      words.text = rendered(value);
      keys_seen_ |= kHasMetadata;
      return;
    case kInternalMetadata:
      keys_seen_ |= kHasHost;
      return drop(value);
    case kPoolId:
      event.pool = pool_of(value);
      keys_seen_ |= kHasPoolIds;
      return;
    case kStage:
      words.stage = text_of(value);
      return;
    case kName:
      words.name = rendered(value);
      return;
    default:
      return drop(value);
  }
}

// False: the action is not known.
bool SnapshotValues::take_action(AllocatorEvent& event, EventWords& words) {
  static constexpr std::array<std::pair<Key, AllocatorAction>, 10> kActions{
      {{kAlloc, AllocatorAction::kAlloc},
       {kFree, AllocatorAction::kFreeCompleted},
       {kFreeCompleted, AllocatorAction::kFreeCompleted},
       {kFreeRequested, AllocatorAction::kFreeRequested},
       {kSegmentAlloc, AllocatorAction::kSegmentAlloc},
       {kSegmentFree, AllocatorAction::kSegmentFree},
       {kSegmentMap, AllocatorAction::kSegmentMap},
       {kSegmentUnmap, AllocatorAction::kSegmentUnmap},
       {kSnapshot, AllocatorAction::kSnapshot},
       {kOom, AllocatorAction::kOutOfMemory}}};
  for (const auto& [word, action] : kActions) {
    if (word != words.action) continue;
    event.action = action;
    return true;
  }
  if (words.action != kAnnotate && words.action != kUserDefined) return false;
  keys_seen_ |= words.action == kAnnotate ? kHasHost : kHasAnnotations;
  event.action = words.stage == kStart ? AllocatorAction::kRangeBegin
                 : words.stage == kEnd ? AllocatorAction::kRangeEnd
                                       : AllocatorAction::kInstant;
  if (words.name != 0) words.text = words.name;
  return true;
}

std::uint32_t SnapshotValues::to_event(const Values& dict) {
  AllocatorEvent event;
  event.address = event.size = kUnknownBytes;
  EventWords words;
  for (std::size_t i = 0; i + 1 < dict.size(); i += 2)
    take_field(dict[i].is(SnapshotValue::kText) ? dict[i].place() : 0, dict[i + 1], event, words);
  if (!take_action(event, words)) {
    fault("events left out: their action is not known");
    return kNoStorage;
  }
  if (needs_address(event.action)) {
    if (words.bad) return kNoStorage;
    if (event.address == kUnknownBytes || event.size == kUnknownBytes) {
      fault("events left out: they have no address or no size");
      return kNoStorage;
    }
    if (event.size > UINT64_MAX - event.address) {
      fault("events left out: they reach beyond 64 bits of address");
      return kNoStorage;
    }
  }
  if (event.size == kUnknownBytes) event.size = 0;
  event.note = note_of(words.text, words.context);
  history_.events.push_back(event);
  return static_cast<std::uint32_t>(history_.events.size() - 1);
}

std::uint32_t SnapshotValues::to_frame(const Values& dict) {
  HistoryFrame frame;
  for (std::size_t i = 0; i + 1 < dict.size(); i += 2) {
    const SnapshotValue value = dict[i + 1];
    switch (dict[i].is(SnapshotValue::kText) ? dict[i].place() : 0) {
      case kFilename:
        frame.file = text_of(value);
        break;
      case kName:
        frame.function = text_of(value);
        break;
      case kLine: {
        std::uint64_t line = 0;
        if (take_unsigned(value, line) && line <= UINT32_MAX)
          frame.line = static_cast<std::uint32_t>(line);
        else
          fault("frames whose line cannot be");
        break;
      }
      default:
        drop(value);
        break;
    }
  }
  const std::uint64_t hash = mixed(mixed(frame.function, frame.file), frame.line);
  const auto number = static_cast<std::uint32_t>(history_.frames.size());
  const auto [at, fresh] = frame_of_.try_emplace(hash, number);
  for (std::uint32_t known = fresh ? kNoStorage : at->second; known != kNoStorage;
       known = next_frame_[known]) {
    const HistoryFrame& other = history_.frames[known];
    if (other.function == frame.function && other.file == frame.file && other.line == frame.line)
      return known;
  }
  next_frame_.push_back(fresh ? kNoStorage : at->second);
  at->second = number;
  history_.frames.push_back(frame);
  return number;
}

std::uint32_t SnapshotValues::to_stack() {
  std::uint64_t hash = scratch_.size();
  for (const std::uint32_t frame : scratch_)
    hash = mixed(hash, frame);
  const auto frames_of = [&](std::uint32_t stack) {
    return history_.stack_frames.view().subspan(
        history_.stack_begin[stack], history_.stack_begin[stack + 1] - history_.stack_begin[stack]);
  };
  const auto number = static_cast<std::uint32_t>(history_.stack_begin.size() - 1);
  const auto [at, fresh] = stack_of_.try_emplace(hash, number);
  for (std::uint32_t known = fresh ? kNoStorage : at->second; known != kNoStorage;
       known = next_stack_[known])
    if (std::ranges::equal(frames_of(known), scratch_)) return known;
  next_stack_.resize(number, kNoStorage);
  next_stack_.push_back(fresh ? kNoStorage : at->second);
  at->second = number;
  history_.stack_frames.append(scratch_.data(), scratch_.size());
  history_.stack_begin.push_back(static_cast<std::uint32_t>(history_.stack_frames.size()));
  return number;
}

std::uint32_t SnapshotValues::to_block(const Values& dict) {
  HistoryBlock block;
  block.address = block.requested = kUnknownBytes;
  bool bad = true;
  SnapshotValue frames = none();
  for (std::size_t i = 0; i + 1 < dict.size(); i += 2) {
    const SnapshotValue value = dict[i + 1];
    switch (dict[i].is(SnapshotValue::kText) ? dict[i].place() : 0) {
      case kAddress:
        block.address = bytes_of(value, "blocks whose address cannot be");
        break;
      case kSize:
        block.size = bytes_of(value, "blocks left out: their size cannot be");
        bad = block.size == kUnknownBytes;
        break;
      case kRequestedSize:
        take_unsigned(value, block.requested);
        keys_seen_ |= kHasBlockFrames;
        break;
      case kState:
        block.state = text_of(value) == kActiveAllocated ? BlockState::kActive
                      : text_of(value) == kInactive      ? BlockState::kInactive
                                                         : BlockState::kPendingFree;
        break;
      case kFrames:
        frames = value;
        break;
      case kHistory: {  // of version 2.0: the latest allocation first
        const Slot* list = slot_in(value, kList);
        if (list == nullptr || list->at == kNoStorage || storage_[list->at].empty()) break;
        const SnapshotValue latest = storage_[list->at][0];
        frames = find(latest, kFrames);
        take_unsigned(find(latest, kRealSize), block.requested);
        break;
      }
      default:
        break;
    }
  }
  block.stack = stack_of(frames);
  for (std::size_t i = 1; i < dict.size(); i += 2)
    drop(dict[i]);
  if (bad) return kNoStorage;
  if (block.requested == kUnknownBytes) block.requested = block.size;
  history_.blocks.push_back(block);
  return static_cast<std::uint32_t>(history_.blocks.size() - 1);
}

std::uint32_t SnapshotValues::to_segment(const Values& dict) {
  HistorySegment segment;
  segment.address = segment.size = kUnknownBytes;
  SnapshotValue blocks = none();
  for (std::size_t i = 0; i + 1 < dict.size(); i += 2) {
    const SnapshotValue value = dict[i + 1];
    switch (dict[i].is(SnapshotValue::kText) ? dict[i].place() : 0) {
      case kAddress:
        segment.address = bytes_of(value, "segments left out: their address cannot be");
        break;
      case kTotalSize:
        segment.size = bytes_of(value, "segments left out: their size cannot be");
        break;
      case kDevice: {
        std::uint64_t device = 0;
        if (take_unsigned(value, device) && device < 0xffff)
          segment.device = static_cast<std::uint32_t>(device);
        else
          fault("segments whose device cannot be, taken for device 0");
        break;
      }
      case kStream:
        segment.stream = stream_of(value);
        break;
      case kSegmentType:
        segment.small = text_of(value) == kSmall;
        break;
      case kSegmentPoolId:
        segment.pool = pool_of(value);
        keys_seen_ |= kHasBlockFrames;
        break;
      case kIsExpandable:
        segment.expandable = value.bits == boolean(true).bits;
        break;
      case kFrames:
        segment.stack = stack_of(value);
        drop(value);
        break;
      case kBlocks:
        blocks = value;
        break;
      default:
        drop(value);
        break;
    }
  }
  if (segment.address == kUnknownBytes || segment.size == kUnknownBytes ||
      segment.size > UINT64_MAX - segment.address) {
    drop(blocks);
    return kNoStorage;
  }
  scratch_.clear();
  if (const Slot* list = slot_in(blocks, kList))
    for (const SnapshotValue value : storage_[list->at])
      if (const Slot* block = slot_in(value, kBlock)) scratch_.push_back(block->at);
  bool together = true;
  for (std::size_t i = 1; i < scratch_.size(); ++i)
    together = together && scratch_[i] == scratch_[i - 1] + 1;
  if (!scratch_.empty() && together) segment.first_block = scratch_.front();
  if (!together) {
    segment.first_block = static_cast<std::uint32_t>(history_.blocks.size());
    for (const std::uint32_t block : scratch_)
      history_.blocks.push_back(history_.blocks[block]);
  }
  segment.block_count = static_cast<std::uint32_t>(scratch_.size());
  std::uint64_t next = segment.address;
  for (std::uint32_t i = 0; i < segment.block_count; ++i) {
    HistoryBlock& block = history_.blocks[segment.first_block + i];
    if (block.address == kUnknownBytes) block.address = next;  // one behind the other
    next = block.address + block.size;
  }
  drop(blocks);
  segment_rows_.push_back(segment);
  return static_cast<std::uint32_t>(segment_rows_.size() - 1);
}

std::uint32_t SnapshotValues::to_annotation(const Values& dict) {
  HistoryAnnotation annotation;
  keys_seen_ |= kHasAnnotations;
  for (std::size_t i = 0; i + 1 < dict.size(); i += 2) {
    const SnapshotValue value = dict[i + 1];
    switch (dict[i].is(SnapshotValue::kText) ? dict[i].place() : 0) {
      case kStage:
        if (text_of(value) == kStart) annotation.action = AllocatorAction::kRangeBegin;
        if (text_of(value) == kEnd) annotation.action = AllocatorAction::kRangeEnd;
        break;
      case kName:
        annotation.name = rendered(value);
        break;
      case kTimeUs:
        annotation.tick = time_of(value);
        break;
      case kDevice: {
        std::uint64_t device = 0;
        if (take_unsigned(value, device)) annotation.device = static_cast<std::uint32_t>(device);
        break;
      }
      default:
        drop(value);
        break;
    }
  }
  history_.annotations.push_back(annotation);
  return static_cast<std::uint32_t>(history_.annotations.size() - 1);
}

}  // namespace drgpum

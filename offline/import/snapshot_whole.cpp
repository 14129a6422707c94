// SPDX-License-Identifier: Apache-2.0
// The outermost value: segments, traces, annotations, settings.
#include <algorithm>
#include <bit>
#include <utility>

#include "offline/import/snapshot_keys.h"
#include "offline/import/snapshot_values.h"

namespace drgpum {

using namespace snapshot;

void SnapshotValues::take_segments(SnapshotValue list, bool host) {
  if (!list.is(SnapshotValue::kList)) return;
  const Slot& slot = slots_[list.place()];
  if ((slot.state != kList && slot.state != kOpenList) || slot.at == kNoStorage) return;
  for (const SnapshotValue value : storage_[slot.at]) {
    const Slot* row = slot_in(value, kSegment);
    if (row == nullptr) continue;
    history_.segments.push_back(segment_rows_[row->at]);
    history_.segments.back().host = host;
  }
}

void SnapshotValues::take_traces(SnapshotValue list, bool host) {
  const Slot* slot = slot_in(list, kList);
  if (slot == nullptr || slot->at == kNoStorage) return;
  const Values& traces = storage_[slot->at];
  const bool flat = !traces.empty() && !traces[0].is(SnapshotValue::kList);
  if (flat) return take_trace(list, 0, host);
  for (std::size_t device = 0; device < traces.size(); ++device) {
    if (device >= 0xffff) return fault("devices beyond the first 65,535");
    take_trace(traces[device], static_cast<std::uint32_t>(device), host);
  }
}

void SnapshotValues::take_trace(SnapshotValue list, std::uint32_t device, bool host) {
  HistoryPart part{device, host, history_.events.size(), 0};
  const Slot* slot = slot_in(list, kList);
  if (slot == nullptr || slot->at == kNoStorage) {
    if (!host) history_.parts.push_back(part);
    return;
  }
  const Values& events = storage_[slot->at];
  bool together = true;
  std::uint32_t next = kNoStorage;
  for (const SnapshotValue value : events) {
    const Slot* event = slot_in(value, kEvent);
    if (event == nullptr) continue;
    if (part.count++ == 0) part.first = event->at;
    together = together && (next == kNoStorage || event->at == next);
    next = event->at + 1;
  }
  if (!together) {  // an event that stands in several places
    part.first = history_.events.size();
    for (const SnapshotValue value : events)
      if (const Slot* event = slot_in(value, kEvent))
        history_.events.push_back(history_.events[event->at]);
  }
  history_.parts.push_back(part);
}

void SnapshotValues::take_annotations(SnapshotValue list) {
  const Slot* slot = slot_in(list, kList);
  if (slot == nullptr || slot->at == kNoStorage) return;
  std::vector<HistoryAnnotation> listed;
  for (const SnapshotValue value : storage_[slot->at])
    if (const Slot* row = slot_in(value, kAnnotation))
      listed.push_back(history_.annotations[row->at]);
  history_.annotations = std::move(listed);
}

void SnapshotValues::take_settings(SnapshotValue settings) {
  const Slot* slot = slot_in(settings, kDict);
  if (slot == nullptr || slot->at == kNoStorage) return;
  keys_seen_ |= kHasSettings;
  const Values& pairs = storage_[slot->at];
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    std::string line = "allocator.";
    render(pairs[i], line);
    line += '=';
    render(pairs[i + 1], line);
    std::replace(line.begin(), line.end(), '\n', ' ');
    history_.properties += line + '\n';
  }
}

// The latest generation whose keys are there; those of later ones may be there as well.
void SnapshotValues::tell_generation(SnapshotValue root) {
  if (find(root, kHostSegments).bits != none().bits) keys_seen_ |= kHasHost;
  if (find(root, kOverflowed).bits != none().bits) keys_seen_ |= kHasPoolIds;
  const int generation = std::bit_width(keys_seen_);
  history_.properties = "snapshot.generation=" + std::to_string(generation) + '\n';
}

Result<AllocatorHistory> SnapshotValues::finish(SnapshotValue root) && {
  const bool is_list = root.is(SnapshotValue::kList);
  const SnapshotValue segments = is_list ? root : find(root, kSegments);
  const SnapshotValue traces = find(root, kDeviceTraces);
  if (segments.bits == none().bits && traces.bits == none().bits)
    return Error{ErrorCode::kUnsupported,
                 "is no memory snapshot: it has neither 'segments' nor 'device_traces'"};
  take_segments(segments, false);
  take_traces(traces, false);
  if (is_list && history_.segments.empty())
    return Error{ErrorCode::kUnsupported, "is no memory snapshot: a list without segments"};
  take_segments(find(root, kHostSegments), true);
  take_traces(find(root, kHostTraces), true);
  take_annotations(find(root, kExternalAnnotations));
  tell_generation(root);
  take_settings(find(root, kAllocatorSettings));
  history_.overflowed = find(root, kOverflowed).bits == boolean(true).bits;
  return std::move(history_);
}

}  // namespace drgpum

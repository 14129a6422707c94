// SPDX-License-Identifier: Apache-2.0
#include "offline/export/perfetto_packets.h"

namespace drgpum {
namespace {

constexpr std::size_t kBuffer = 1 << 16;
constexpr std::size_t kMostInterned = 1 << 16;  // of each kind
constexpr std::uint64_t kSequence = 1;

// Trace
constexpr std::uint32_t kPacket = 1;
// TracePacket
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequenceId = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kInternedData = 12;
constexpr std::uint32_t kSequenceFlags = 13;
constexpr std::uint32_t kTrackDescriptor = 60;
constexpr std::uint64_t kIncrementalStateCleared = 1;
constexpr std::uint64_t kNeedsIncrementalState = 2;
// TrackDescriptor
constexpr std::uint32_t kUuid = 1;
constexpr std::uint32_t kTrackName = 2;
constexpr std::uint32_t kParentUuid = 5;
constexpr std::uint32_t kCounter = 8;
constexpr std::uint32_t kChildOrdering = 11;
constexpr std::uint32_t kSiblingOrderRank = 12;
constexpr std::uint32_t kDescription = 14;
constexpr std::uint32_t kSiblingMerge = 15;
constexpr std::uint64_t kOrderExplicit = 3;
constexpr std::uint64_t kMergeNone = 2;  // else tracks of one name become one
// CounterDescriptor
constexpr std::uint32_t kUnit = 3;
constexpr std::uint64_t kUnitBytes = 3;
// TrackEvent
constexpr std::uint32_t kCategoryIids = 3;
constexpr std::uint32_t kDebugAnnotations = 4;
constexpr std::uint32_t kType = 9;
constexpr std::uint32_t kNameIid = 10;
constexpr std::uint32_t kTrackUuid = 11;
constexpr std::uint32_t kCategories = 22;
constexpr std::uint32_t kName = 23;
constexpr std::uint32_t kCounterValue = 30;
// EventCategory, EventName, DebugAnnotationName, InternedString
constexpr std::uint32_t kIid = 1;
constexpr std::uint32_t kText = 2;
// DebugAnnotation
constexpr std::uint32_t kAnnotationNameIid = 1;
constexpr std::uint32_t kUintValue = 3;
constexpr std::uint32_t kStringValue = 6;
constexpr std::uint32_t kPointerValue = 7;
constexpr std::uint32_t kAnnotationName = 10;
constexpr std::uint32_t kStringValueIid = 17;

}  // namespace

void PerfettoPackets::begin_packet(std::uint64_t flags) {
  packet_ = encoder_.begin_message(kPacket);
  encoder_.varint_field(kSequenceId, kSequence);
  if (is_first_) flags |= kIncrementalStateCleared;
  if (flags != 0) encoder_.varint_field(kSequenceFlags, flags);
  is_first_ = false;
}

void PerfettoPackets::end_packet() {
  encoder_.end_message(packet_);
  if (encoder_.bytes().size() >= kBuffer) flush();
}

void PerfettoPackets::flush() {
  if (encoder_.failed() || new_texts_.failed()) out_.setstate(std::ios::badbit);
  const auto bytes = encoder_.bytes();
  out_.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  encoder_.clear();
}

void PerfettoPackets::track(const PerfettoTrack& track) {
  begin_packet(0);
  const std::size_t descriptor = encoder_.begin_message(kTrackDescriptor);
  encoder_.varint_field(kUuid, track.uuid);
  encoder_.bytes_field(kTrackName, track.name);
  if (track.parent != 0) encoder_.varint_field(kParentUuid, track.parent);
  if (track.counts_bytes) {
    const std::size_t counter = encoder_.begin_message(kCounter);
    encoder_.varint_field(kUnit, kUnitBytes);
    encoder_.end_message(counter);
  }
  encoder_.varint_field(kChildOrdering, kOrderExplicit);
  encoder_.varint_field(kSiblingOrderRank, track.rank);
  if (!track.description.empty()) encoder_.bytes_field(kDescription, track.description);
  encoder_.varint_field(kSiblingMerge, kMergeNone);
  encoder_.end_message(descriptor);
  end_packet();
}

std::uint64_t PerfettoPackets::number_of(Interned& interned, std::string_view text) {
  const auto known = interned.numbers.find(std::string(text));
  if (known != interned.numbers.end()) return known->second;
  if (interned.numbers.size() == kMostInterned) return 0;
  const std::uint64_t number = interned.numbers.size() + 1;
  interned.numbers.emplace(text, number);
  const std::size_t entry = new_texts_.begin_message(interned.field);
  new_texts_.varint_field(kIid, number);
  new_texts_.bytes_field(kText, text);
  new_texts_.end_message(entry);
  return number;
}

void PerfettoPackets::begin_event(PerfettoEvent type, std::uint64_t track, std::uint64_t ns) {
  begin_packet(kNeedsIncrementalState);
  encoder_.varint_field(kTimestamp, ns);
  event_ = encoder_.begin_message(kTrackEvent);
  encoder_.varint_field(kType, static_cast<std::uint64_t>(type));
  encoder_.varint_field(kTrackUuid, track);
}

void PerfettoPackets::end_event() {
  encoder_.end_message(event_);
  if (const auto texts = new_texts_.bytes(); !texts.empty()) {
    const std::size_t interned = encoder_.begin_message(kInternedData);
    encoder_.raw(texts.data(), texts.size());
    encoder_.end_message(interned);
    new_texts_.clear();
  }
  end_packet();
}

void PerfettoPackets::name(std::string_view text) {
  const std::uint64_t number = number_of(names_, text);
  if (number != 0) return encoder_.varint_field(kNameIid, number);
  encoder_.bytes_field(kName, text);
}

void PerfettoPackets::category(std::string_view text) {
  const std::uint64_t number = number_of(categories_, text);
  if (number != 0) return encoder_.varint_field(kCategoryIids, number);
  encoder_.bytes_field(kCategories, text);
}

void PerfettoPackets::counter(std::uint64_t value) {
  encoder_.varint_field(kCounterValue, value);
}

std::size_t PerfettoPackets::begin_annotation(std::string_view name) {
  const std::uint64_t number = number_of(annotation_names_, name);
  const std::size_t annotation = encoder_.begin_message(kDebugAnnotations);
  if (number != 0) {
    encoder_.varint_field(kAnnotationNameIid, number);
  } else {
    encoder_.bytes_field(kAnnotationName, name);
  }
  return annotation;
}

void PerfettoPackets::annotate(std::string_view name, std::string_view text) {
  const std::size_t annotation = begin_annotation(name);
  encoder_.bytes_field(kStringValue, text);
  encoder_.end_message(annotation);
}

void PerfettoPackets::annotate_repeated(std::string_view name, std::string_view text) {
  const std::uint64_t number = number_of(annotation_texts_, text);
  if (number == 0) return annotate(name, text);
  const std::size_t annotation = begin_annotation(name);
  encoder_.varint_field(kStringValueIid, number);
  encoder_.end_message(annotation);
}

void PerfettoPackets::annotate(std::string_view name, std::uint64_t number) {
  const std::size_t annotation = begin_annotation(name);
  encoder_.varint_field(kUintValue, number);
  encoder_.end_message(annotation);
}

void PerfettoPackets::annotate_address(std::string_view name, std::uint64_t address) {
  const std::size_t annotation = begin_annotation(name);
  encoder_.varint_field(kPointerValue, address);
  encoder_.end_message(annotation);
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/import/trace_records.h"

#include <algorithm>
#include <map>
#include <memory>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "offline/import/call_writer.h"
#include "offline/import/history_header.h"
#include "offline/import/replay_history.h"
#include "offline/import/work_records.h"

namespace drgpum {
namespace {

using namespace trace;

constexpr std::int32_t kOutOfMemoryError = 2;             // cudaErrorMemoryAllocation
constexpr std::uint64_t kSmallSegment = std::uint64_t{2} << 20;  // PyTorch's, for small blocks

constexpr const char* kBeforeHistory = "before-history";
constexpr const char* kNotRecorded = "not-recorded";

const char* name_of(AllocatorAction action) {
  switch (action) {
    case AllocatorAction::kAlloc:
      return "alloc";
    case AllocatorAction::kFreeRequested:
      return "free_requested";
    case AllocatorAction::kFreeCompleted:
      return "free_completed";
    case AllocatorAction::kSegmentAlloc:
      return "segment_alloc";
    case AllocatorAction::kSegmentFree:
      return "segment_free";
    case AllocatorAction::kSegmentMap:
      return "segment_map";
    case AllocatorAction::kSegmentUnmap:
      return "segment_unmap";
    case AllocatorAction::kOutOfMemory:
      return "oom";
    default:
      return "mark";
  }
}

CoverageKind coverage_of(FaultKind kind) {
  if (kind == FaultKind::kHistoryCut) return CoverageKind::kHistoryCut;
  return kind == FaultKind::kMissingSegments ? CoverageKind::kMissingSegments
                                             : CoverageKind::kBadField;
}

// "ProfilerStep#12", "iteration 3", "step_4".
bool names_iteration(std::string_view name) {
  for (const std::string_view word : {"ProfilerStep", "iteration", "Iteration", "step", "Step"}) {
    if (!name.starts_with(word)) continue;
    const std::string_view rest = name.substr(word.size());
    const std::size_t digit = rest.find_first_of("0123456789");
    return digit != std::string_view::npos && digit <= 2;
  }
  return false;
}

class HistoryWriter {
 public:
  HistoryWriter(const AllocatorHistory& history, const RecordSink& sink)
      : history_(history), sink_(sink), calls_(history, sink), works_(history, sink, calls_) {}

  Status run() {
    for (const HistorySegment& segment : history_.segments)
      pool_at_.emplace(segment.address, &segment);
    find_parts();
    RETURN_IF_ERROR(header());
    for (Part& part : parts_)
      RETURN_IF_ERROR(before_history(part));
    for (const HistoryResident& one : history_.residents)
      RETURN_IF_ERROR(resident(one));
    RETURN_IF_ERROR(merged_events());
    for (Part& part : parts_)
      RETURN_IF_ERROR(changes_at(part, static_cast<std::uint32_t>(part.of.count)));
    return footer();
  }

 private:
  struct Part {
    HistoryPart of;
    DeviceLives lives;
    std::vector<std::uint32_t> object;  // by life: its id
    std::size_t next_begin = 0;
    std::size_t next_end = 0;
    std::uint32_t next = 0;       // event
    std::int64_t key = INT64_MIN;  // the latest time so far
  };

  void find_parts() {
    std::set<std::pair<std::uint32_t, bool>> known;
    for (const HistoryPart& part : history_.parts) {
      known.emplace(part.device, part.host);
      parts_.push_back({part, {}, {}});
    }
    for (const HistorySegment& segment : history_.segments)
      if (known.emplace(segment.device, segment.host).second)
        parts_.push_back({{segment.device, segment.host, 0, 0}, {}, {}});
    for (Part& part : parts_) {
      part.lives = replay_part(history_, part.of);
      part.object.resize(part.lives.lives.size(), kNoId);
    }
    // A device of which nothing is told is left out.
    std::erase_if(parts_, [](const Part& part) {
      return part.of.count == 0 && part.lives.lives.empty();
    });
  }

  Status header() {
    std::vector<HistoryPart> parts;
    for (const Part& part : parts_)
      parts.push_back(part.of);
    const std::int64_t start = first_tick(history_, parts);
    calls_.start_at(start);
    const std::set<std::uint32_t> devices = devices_named(history_, parts);
    first_device_ = *devices.begin();
    RETURN_IF_ERROR(write_header(history_, start, devices, sink_));
    return calls_.tell_frames();
  }

  // --- objects ---

  // By the event that began it, else by the one that told of it.
  BlockMemory memory_of(const Part& part, const Life& life) const {
    const std::uint32_t e = life.recorded ? life.begin : life.end;
    return e < part.of.count ? event_of(part, e).memory : BlockMemory::kPiece;
  }

  ObjectKind kind_of(const Part& part, const Life& life) const {
    if (part.of.host) return ObjectKind::kHostPinned;
    if (life.kind != LifeKind::kBlock)
      return life.kind == LifeKind::kMapped ? ObjectKind::kVirtual : ObjectKind::kDevice;
    switch (memory_of(part, life)) {
      case BlockMemory::kPiece:
        return ObjectKind::kSubObject;
      case BlockMemory::kDevice:
        return ObjectKind::kDevice;
      case BlockMemory::kManaged:
        return ObjectKind::kManaged;
      case BlockMemory::kPool:
        return ObjectKind::kAsync;
      case BlockMemory::kArray:
        return ObjectKind::kArray;
      case BlockMemory::kGlobal:
        return ObjectKind::kModuleGlobal;
    }
    return ObjectKind::kDevice;
  }

  // Segments are called by the pool that they serve.
  std::string name_of_segment(const Life& life, std::uint16_t pool_number) const {
    bool small = life.size <= kSmallSegment;
    const auto known = pool_at_.find(life.address);
    if (known != pool_at_.end() && pool_number == 0) {
      pool_number = known->second->pool;
      small = known->second->small;
    }
    const auto [owner, number] = history_.pools[pool_number];
    if (owner == 0 && number == 0) return small ? "small pool" : "large pool";
    return "private pool (" + std::to_string(owner) + ", " + std::to_string(number) + ")";
  }

  std::string detail_of(std::uint32_t note) const {
    if (note == 0) return {};
    std::string text(history_.texts[history_.notes[note].text]);
    const std::string_view context = history_.texts[history_.notes[note].context];
    if (context.empty()) return text;
    return text + (text.empty() ? "" : ", ") + "compiled in " + std::string(context);
  }

  // Variables of modules are there without a call.
  Status begin(Part& part, std::uint32_t number, std::string_view name, std::uint32_t stack,
               std::uint64_t ns, const AllocatorEvent* event) {
    const Life& life = part.lives.lives[number];
    ObjectRecord& object = std::get<ObjectRecord>(object_);
    part.object[number] = next_object_;
    object.id = ObjectId{next_object_++};
    object.kind = kind_of(part, life);
    object.parent = life.parent == kNoLife ? kNoObject : ObjectId{part.object[life.parent]};
    object.device = DeviceId{part.of.device};
    object.context = ContextId{part.of.device};
    object.address = life.address;
    object.size = life.size;
    object.allocated_by = calls_.next();
    object.name = life.kind == LifeKind::kBlock
                      ? std::string()
                      : name_of_segment(life, event == nullptr ? std::uint16_t{0} : event->pool);
    object.detail = event == nullptr ? std::string() : detail_of(event->note);
    if (object.kind == ObjectKind::kModuleGlobal) {
      std::swap(object.name, object.detail);
      return sink_(object_);
    }
    ASSIGN_OR_RETURN(GpuApi * api,
                     calls_.call(part.of.device, ApiKind::kAlloc, name, life.stream, stack, ns));
    RETURN_IF_ERROR(sink_(object_));
    api->payload = AllocApi{object.id, life.size, 0, {}};
    return calls_.issue();
  }

  Status end(const Part& part, std::uint32_t number, std::string_view name,
             std::uint16_t stream_number, std::uint32_t stack, std::uint64_t ns) {
    const Life& life = part.lives.lives[number];
    const ObjectId object{part.object[number]};
    if (kind_of(part, life) == ObjectKind::kModuleGlobal)
      return sink_(ObjectEndRecord{object, calls_.next()});
    ASSIGN_OR_RETURN(GpuApi * api, calls_.call(part.of.device, ApiKind::kFree, name, stream_number,
                                               stack, ns));
    api->payload = FreeApi{object, false, life.address, 0};
    return calls_.issue();
  }

  // Its address is 0: not known.
  Status resident(const HistoryResident& one) {
    ObjectRecord object;
    object.id = ObjectId{next_object_++};
    object.kind = ObjectKind::kSubObject;
    object.device = DeviceId{one.device};
    object.context = ContextId{one.device};
    object.size = one.bytes;
    object.allocated_by = calls_.next();
    object.name = history_.texts[one.name];
    ASSIGN_OR_RETURN(GpuApi * api, calls_.call(one.device, ApiKind::kAlloc, kBeforeHistory, 0,
                                               one.stack, 0));
    RETURN_IF_ERROR(sink_(object));
    api->payload = AllocApi{object.id, one.bytes, 0, {}};
    return calls_.issue();
  }

  Status before_history(Part& part) {
    for (const bool blocks : {false, true})
      for (std::uint32_t i = 0; i < part.lives.lives.size(); ++i) {
        const Life& life = part.lives.lives[i];
        if (life.begin != kNoEvent || (life.kind == LifeKind::kBlock) != blocks) continue;
        RETURN_IF_ERROR(begin(part, i, kBeforeHistory, life.stack, 0, nullptr));
      }
    return Ok{};
  }

  // Unrecorded ends and begins at an event, and further pieces of a mapping.
  Status ends_at(Part& part, std::uint32_t e, std::uint64_t ns) {
    const auto& ends = part.lives.ends;
    for (; part.next_end < ends.size() && ends[part.next_end].event <= e; ++part.next_end) {
      const std::uint32_t number = ends[part.next_end].life;
      const Life& life = part.lives.lives[number];
      RETURN_IF_ERROR(
          end(part, number, life.freed ? "segment_unmap" : kNotRecorded, life.stream, 0, ns));
    }
    return Ok{};
  }
  Status begins_at(Part& part, std::uint32_t e, std::uint64_t ns) {
    const auto& begins = part.lives.begins;
    for (; part.next_begin < begins.size() && begins[part.next_begin].event <= e;
         ++part.next_begin) {
      const std::uint32_t number = begins[part.next_begin].life;
      const Life& life = part.lives.lives[number];
      RETURN_IF_ERROR(
          begin(part, number, life.recorded ? "segment_map" : kNotRecorded, life.stack, ns, nullptr));
    }
    return Ok{};
  }
  Status changes_at(Part& part, std::uint32_t e) {
    RETURN_IF_ERROR(ends_at(part, e, calls_.now()));
    return begins_at(part, e, calls_.now());
  }

  // --- events ---

  const AllocatorEvent& event_of(const Part& part, std::uint32_t e) const {
    return history_.events[part.of.first + e];
  }

  std::string_view call_of(const AllocatorEvent& event) const {
    const std::uint32_t call = history_.notes[event.note].call;
    return call == 0 ? std::string_view(name_of(event.action)) : history_.texts[call];
  }

  Status event(Part& part, std::uint32_t e) {
    const AllocatorEvent& event = event_of(part, e);
    const std::uint64_t ns = calls_.advance(event.tick);
    RETURN_IF_ERROR(ends_at(part, e, ns));
    RETURN_IF_ERROR(itself(part, e, event, ns));
    return begins_at(part, e, ns);
  }

  Status itself(Part& part, std::uint32_t e, const AllocatorEvent& event, std::uint64_t ns) {
    const std::uint32_t subject = part.lives.subject[e];
    switch (event.action) {
      case AllocatorAction::kAlloc:
      case AllocatorAction::kSegmentAlloc:
      case AllocatorAction::kSegmentMap:
        if (subject == kNoLife) return Ok{};
        return begin(part, subject, call_of(event), event.stack, ns, &event);
      case AllocatorAction::kFreeRequested:
        return request(part, e, event, ns);
      case AllocatorAction::kFreeCompleted:
      case AllocatorAction::kSegmentFree:
      case AllocatorAction::kSegmentUnmap:
        return completion(part, subject, event, ns);
      case AllocatorAction::kOutOfMemory: {
        ASSIGN_OR_RETURN(GpuApi * api, calls_.call(part.of.device, ApiKind::kAlloc, "oom",
                                                   event.stream, event.stack, ns));
        AllocApi failed{kNoObject, event.size, kOutOfMemoryError, {}};
        if (event.address != kUnknownBytes) failed.device_free = event.address;
        api->payload = failed;
        return calls_.issue();
      }
      case AllocatorAction::kSnapshot:
        return calls_.mark(part.of.device, MarkKind::kInstant, "snapshot", event.stack, ns);
      case AllocatorAction::kRangeBegin:
        return range_begin(part, detail_of(event.note), event.stack, ns);
      case AllocatorAction::kRangeEnd:
        return calls_.mark(part.of.device, MarkKind::kRangePop, detail_of(event.note), event.stack, ns);
      case AllocatorAction::kInstant:
        return calls_.mark(part.of.device, MarkKind::kInstant, detail_of(event.note), event.stack, ns);
    }
    return Ok{};
  }

  // A request whose completion follows at once tells nothing more than that.
  Status request(const Part& part, std::uint32_t e, const AllocatorEvent& event, std::uint64_t ns) {
    const std::uint32_t subject = part.lives.subject[e];
    if (subject == kNoLife || part.lives.lives[subject].request != e) return Ok{};
    const bool at_once = e + 1 < part.of.count && part.lives.subject[e + 1] == subject &&
                         event_of(part, e + 1).action == AllocatorAction::kFreeCompleted;
    if (at_once) return Ok{};
    const FreeRequestRecord record{ObjectId{part.object[subject]}, calls_.next()};
    RETURN_IF_ERROR(calls_.mark(part.of.device, MarkKind::kInstant, name_of(event.action), event.stack, ns));
    return sink_(record);
  }

  // The place of a free is where the program gave the block back.
  Status completion(const Part& part, std::uint32_t subject, const AllocatorEvent& event,
                    std::uint64_t ns) {
    if (subject == kNoLife) {
      ASSIGN_OR_RETURN(GpuApi * api, calls_.call(part.of.device, ApiKind::kFree, call_of(event),
                                                 event.stream, event.stack, ns));
      api->payload = FreeApi{kNoObject, false, event.address, 0};
      return calls_.issue();
    }
    const std::uint32_t request = part.lives.lives[subject].request;
    std::uint32_t stack = request == kNoEvent ? 0 : event_of(part, request).stack;
    if (stack == 0) stack = event.stack;
    return end(part, subject, call_of(event), event.stream, stack, ns);
  }

  Status range_begin(const Part& part, const std::string& name, std::uint32_t stack,
                     std::uint64_t ns) {
    if (names_iteration(name) && part.of.device == first_device_ && !part.of.host)
      RETURN_IF_ERROR(calls_.mark(part.of.device, MarkKind::kIteration, name, stack, ns));
    return calls_.mark(part.of.device, MarkKind::kRangePush, name, stack, ns);
  }

  Status annotation(const HistoryAnnotation& one) {
    const std::uint64_t ns = calls_.advance(one.tick);
    Part* part = &parts_.front();
    for (Part& candidate : parts_)
      if (candidate.of.device == one.device && !candidate.of.host) part = &candidate;
    const std::string name(history_.texts[one.name]);
    if (one.action == AllocatorAction::kRangeBegin) return range_begin(*part, name, 0, ns);
    return calls_.mark(part->of.device,
                one.action == AllocatorAction::kRangeEnd ? MarkKind::kRangePop : MarkKind::kInstant,
                name, 0, ns);
  }

  // The annotations, the events of each part, the work of the device: the earliest first, of those at
  // one time in this order.
  Status merged_events() {
    using Head = std::pair<std::int64_t, std::size_t>;  // time, which
    std::priority_queue<Head, std::vector<Head>, std::greater<>> heads;
    std::int64_t annotation_key = INT64_MIN;
    std::size_t next_annotation = 0;
    std::size_t next_work = 0;
    const auto& annotations = history_.annotations;
    const auto push_annotation = [&] {
      if (next_annotation == annotations.size() || parts_.empty()) return;
      annotation_key = std::max(annotation_key, annotations[next_annotation].tick);
      heads.emplace(annotation_key, 0);
    };
    const auto push_part = [&](std::size_t i) {
      Part& part = parts_[i];
      if (part.next == part.of.count) return;
      part.key = std::max(part.key, event_of(part, part.next).tick);
      heads.emplace(part.key, i + 1);
    };
    const auto push_work = [&] {
      if (next_work < history_.works.size())
        heads.emplace(history_.works[next_work].tick, parts_.size() + 1);
    };
    push_annotation();
    for (std::size_t i = 0; i < parts_.size(); ++i)
      push_part(i);
    push_work();
    while (!heads.empty()) {
      const std::size_t which = heads.top().second;
      heads.pop();
      if (which == 0) {
        RETURN_IF_ERROR(annotation(annotations[next_annotation++]));
        push_annotation();
        continue;
      }
      if (which > parts_.size()) {
        RETURN_IF_ERROR(works_.write(history_.works[next_work++]));
        push_work();
        continue;
      }
      // On, as long as nothing else comes first.
      Part& part = parts_[which - 1];
      do {
        RETURN_IF_ERROR(event(part, part.next++));
        if (part.next == part.of.count) break;
        part.key = std::max(part.key, event_of(part, part.next).tick);
      } while (heads.empty() || Head(part.key, which) < heads.top());
      push_part(which - 1);
    }
    return Ok{};
  }

  // --- the end ---

  Status cover(CoverageKind kind, std::uint64_t count, const std::string& text) {
    if (count == 0) return Ok{};
    CoverageRecord record;
    record.kind = kind;
    record.count = count;
    record.text = text;
    return sink_(record);
  }

  Status footer() {
    if (history_.overflowed)
      RETURN_IF_ERROR(cover(CoverageKind::kHistoryCut, 1,
                            "the allocator's ring buffer overflowed: earlier events are lost"));
    for (const Part& part : parts_) {
      const DeviceLives& lives = part.lives;
      const std::string where = (part.of.host ? "host memory of device " : "device ") +
                                std::to_string(part.of.device) + ": ";
      RETURN_IF_ERROR(cover(CoverageKind::kUnmatchedFree, lives.unmatched_frees,
                            where + "frees of blocks that were allocated before the history begins"));
      RETURN_IF_ERROR(cover(CoverageKind::kHistoryCut, lives.unmatched_blocks,
                            where + "blocks alive in the end were allocated before the history begins"));
      RETURN_IF_ERROR(cover(CoverageKind::kHistoryCut, lives.unmatched_segments,
                            where + "segments were there before the history begins"));
      RETURN_IF_ERROR(cover(CoverageKind::kUnrecordedEnd, lives.unrecorded_ends,
                            where + "blocks were replaced by others without a free"));
      RETURN_IF_ERROR(cover(CoverageKind::kUnrecordedEnd, lives.unseen_ends,
                            where + "blocks live by their events but not in the final state; they "
                                    "count as live"));
      RETURN_IF_ERROR(cover(CoverageKind::kMissingSegments,
                            history_.tells_segments ? lives.outside : 0,
                            where + "blocks lie in no segment that the history tells of"));
    }
    for (const HistoryFault& fault : history_.faults)
      RETURN_IF_ERROR(cover(coverage_of(fault.kind), fault.count, fault.text));
    EndRecord end;
    end.api_count = calls_.next();
    end.still_running = true;
    return sink_(end);
  }

  const AllocatorHistory& history_;
  const RecordSink& sink_;
  std::vector<Part> parts_;
  std::unordered_map<std::uint64_t, const HistorySegment*> pool_at_;
  CallWriter calls_;
  WorkRecords works_;
  std::uint32_t first_device_ = 0;
  std::uint32_t next_object_ = 0;
  Record object_ = ObjectRecord{};
};

}  // namespace

Status write_history(const AllocatorHistory& history, const RecordSink& sink) {
  return HistoryWriter(history, sink).run();
}

}  // namespace drgpum

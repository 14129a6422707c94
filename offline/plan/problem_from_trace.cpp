// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/problem_from_trace.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

namespace drgpum {
namespace {

constexpr std::int64_t kGranularity = 512;  // of cudaMalloc and of caching allocators
constexpr std::int64_t kTimedOfTen = 9;     // calls of the device that have to have times

bool is_planned(trace::ObjectKind kind) {
  switch (kind) {
    case trace::ObjectKind::kDevice:
    case trace::ObjectKind::kPitched:
    case trace::ObjectKind::kManaged:
    case trace::ObjectKind::kAsync:
    case trace::ObjectKind::kSubObject:
      return true;
    default:
      return false;
  }
}

bool runs_on_device(trace::ApiKind kind) {
  return kind == trace::ApiKind::kMemcpy || kind == trace::ApiKind::kMemset ||
         kind == trace::ApiKind::kLaunch;
}

class ProblemBuilder {
 public:
  ProblemBuilder(const Trace& trace, bool whole) : trace_(trace), whole_(whole) {}

  Problem build() {
    problem_.source = trace_.path();
    choose_objects();
    times_ = timed_calls(trace_);
    problem_.has_times = times_.timed > 0 && 10 * times_.timed >= kTimedOfTen * times_.device_calls;
    for (std::uint64_t i = 0; i < trace_.calls().size(); ++i)
      add_call(ApiId{i});
    close_objects();
    add_caveats();
    return std::move(problem_);
  }

 private:
  // Of an allocator's history the blocks are planned, not its segments, be they empty.
  bool plans_parts_only() const {
    const auto rows = trace_.objects().rows();
    return trace_.process().mode == "allocations" &&
           std::any_of(rows.begin(), rows.end(), [](const TraceObject& object) {
             return object.kind == trace::ObjectKind::kSubObject;
           });
  }

  void choose_objects() {
    const bool parts_only = plans_parts_only();
    std::unordered_set<std::uint32_t> pools;
    for (const TraceObject& object : trace_.objects().rows())
      if (object.parent != trace::kNoObject) pools.insert(object.parent.value);
    std::vector<const TraceObject*> planned;
    for (const TraceObject& object : trace_.objects().rows()) {
      const bool is_part = object.parent != trace::kNoObject;
      if (whole_ ? is_part : pools.contains(object.id.value)) continue;
      if (!is_planned(object.kind) || object.size == 0) continue;
      if (!whole_ && parts_only && object.kind != trace::ObjectKind::kSubObject) continue;
      if (object.size > static_cast<std::uint64_t>(INT64_MAX / 2)) continue;
      planned.push_back(&object);
    }
    const std::uint32_t device = fullest_device(planned);
    for (const TraceObject* object : planned) {
      if (object->device.value != device) {
        ++elsewhere_;
        continue;
      }
      index_.emplace(object->id.value, kNoObject);
      if (object->end) ends_.emplace_back(object->end->value, object->id);
    }
    std::sort(ends_.begin(), ends_.end());
    device_ = device;
  }

  // The device whose highest load is the largest.
  static std::uint32_t fullest_device(const std::vector<const TraceObject*>& objects) {
    std::map<std::uint32_t, std::map<std::uint64_t, std::int64_t>> changes;  // by device and call
    for (const TraceObject* object : objects) {
      auto& here = changes[object->device.value];
      const auto size = static_cast<std::int64_t>(object->size);
      here[object->allocated_by.value] += size;
      if (object->freed_by) here[object->freed_by->value] -= size;
      if (object->end && !object->freed_by) here[object->end->value] -= size;
    }
    std::uint32_t fullest = 0;
    std::int64_t most = -1;
    for (const auto& [device, here] : changes) {
      std::int64_t live = 0;
      for (const auto& [call, bytes] : here) {
        live += bytes;
        if (live <= most) continue;
        most = live;
        fullest = device;
      }
    }
    return fullest;
  }

  void add_call(ApiId id) {
    for (; next_end_ < ends_.size() && ends_[next_end_].first <= id.value; ++next_end_)
      end_object(ends_[next_end_].second);
    const TraceCall& call = trace_.calls()[static_cast<std::size_t>(id.value)];
    if (call.lost) return;
    move_to(id, call);
    std::visit([&](const auto& payload) { take(id, payload); }, trace_.payload(id));
  }

  // Sets the time of a call and how long it goes on.
  void move_to(ApiId id, const TraceCall& call) {
    busy_ = 0;
    if (!problem_.has_times) {
      now_ = static_cast<std::int64_t>(id.value);
      return;
    }
    const auto time = runs_on_device(call.kind) ? trace_.device_time(id) : std::nullopt;
    if (time) {
      const auto end = static_cast<std::int64_t>(time->end_ns);
      now_ = std::max(now_, static_cast<std::int64_t>(time->begin_ns));
      busy_ = std::max<std::int64_t>(end - now_, 0);
      all_done_ = std::max(all_done_, end);
    } else if (call.blocks_host) {
      now_ = std::max(now_, all_done_);
    }
  }

  template <typename Other>
  void take(ApiId, const Other&) {}

  void take(ApiId, const trace::AllocApi& alloc) {
    const auto known = index_.find(alloc.object.value);
    if (alloc.error != 0 || known == index_.end()) return;
    const TraceObject& from = *trace_.objects().find(alloc.object);
    known->second = static_cast<std::uint32_t>(problem_.objects.size());
    PlanObject object;
    const std::string number = std::to_string(from.id.value);
    object.id = from.name.empty() ? number : from.name + '#' + number;
    object.size =
        (static_cast<std::int64_t>(from.size) + kGranularity - 1) / kGranularity * kGranularity;
    object.life = {std::ssize(problem_.events), 0};
    problem_.objects.push_back(std::move(object));
    add(EventKind::kMalloc, known->second);
  }

  void take(ApiId, const trace::FreeApi& freed) {
    if (freed.error == 0) end_object(freed.object);
  }

  void take(ApiId, const trace::MemcpyApi& copy) {
    access(copy.source.object, true, false);
    access(copy.destination.object, false, true);
  }

  void take(ApiId, const trace::MemsetApi& set) { access(set.destination.object, false, true); }

  void take(ApiId id, const trace::LaunchApi& launch) {
    unknown_launches_ += !launch.instrumented;
    for (const TraceAccess& a : trace_.accesses(id))
      access(a.object, a.reads, a.writes || a.atomics);
  }

  void take(ApiId, const trace::MarkApi& mark) {
    if (mark.kind == trace::MarkKind::kIteration) add(EventKind::kIteration, kNoObject);
    if (mark.kind != trace::MarkKind::kRangePush) return;
    problem_.layer_names.push_back(mark.name);
    add(EventKind::kLayer, static_cast<std::uint32_t>(problem_.layer_names.size() - 1));
  }

  std::uint32_t live_index(ObjectId id) const {
    const auto known = index_.find(id.value);
    if (known == index_.end() || known->second == kNoObject) return kNoObject;
    return problem_.objects[known->second].life.upper == 0 ? known->second : kNoObject;
  }

  // Of a part the allocation, where these are planned.
  ObjectId planned(ObjectId id) const {
    constexpr int kDeepest = 64;  // a damaged trace may go round in circles
    for (int depth = 0; whole_ && depth < kDeepest; ++depth) {
      const TraceObject* object = trace_.objects().find(id);
      if (object == nullptr || object->parent == trace::kNoObject) break;
      id = object->parent;
    }
    return id;
  }

  void access(ObjectId id, bool reads, bool writes) {
    const std::uint32_t object = live_index(planned(id));
    if (object == kNoObject) return;
    if (reads) add(EventKind::kRead, object);
    if (writes) add(EventKind::kWrite, object);
  }

  void end_object(ObjectId id) {
    const std::uint32_t object = live_index(id);
    if (object == kNoObject) return;
    problem_.objects[object].life.upper = std::ssize(problem_.events);
    add(EventKind::kFree, object);
  }

  void add(EventKind kind, std::uint32_t object) {
    problem_.events.push_back({now_, object, kind, object == kNoObject ? 0 : busy_});
  }

  void close_objects() {
    for (PlanObject& object : problem_.objects)
      if (object.life.upper == 0) object.life.upper = std::ssize(problem_.events);
  }

  void add_caveats() {
    if (times_.timed > 0 && times_.timed < times_.device_calls)
      problem_.caveats.push_back(
          "only " + std::to_string(times_.timed) + " of " + std::to_string(times_.device_calls) +
          " kernels, copies and sets have device times" +
          (problem_.has_times ? ": the others take the time of the call before" : ""));
    if (!problem_.has_times && trace_.process().mode != "allocations")
      problem_.caveats.push_back("no device times: issue order stands for time");
    if (elsewhere_ > 0)
      problem_.caveats.push_back("only device " + std::to_string(device_) + " is planned; " +
                                 std::to_string(elsewhere_) + " objects are on others");
    if (unknown_launches_ > 0)
      problem_.caveats.push_back(std::to_string(unknown_launches_) +
                                 " launches were not instrumented: what they touched is not known, "
                                 "so swaps may not be safe");
  }

  const Trace& trace_;
  const bool whole_;
  Problem problem_;
  std::unordered_map<std::uint32_t, std::uint32_t> index_;  // object id to problem object
  std::vector<std::pair<std::uint64_t, ObjectId>> ends_;    // (call before which, object)
  std::size_t next_end_ = 0;
  std::int64_t now_ = 0;
  std::int64_t busy_ = 0;      // how long the call that is being taken goes on
  std::int64_t all_done_ = 0;  // when all work of the device so far is done
  TimedCalls times_;
  std::uint32_t device_ = 0;
  std::int64_t elsewhere_ = 0;  // objects of other devices
  std::int64_t unknown_launches_ = 0;
};

}  // namespace

Problem problem_from_trace(const Trace& trace, bool whole_allocations) {
  return ProblemBuilder(trace, whole_allocations).build();
}

TimedCalls timed_calls(const Trace& trace) {
  TimedCalls times;
  for (std::uint64_t i = 0; i < trace.calls().size(); ++i) {
    const TraceCall& call = trace.calls()[static_cast<std::size_t>(i)];
    if (call.lost || !runs_on_device(call.kind)) continue;
    ++times.device_calls;
    times.timed += trace.device_time(ApiId{i}).has_value();
  }
  return times;
}

}  // namespace drgpum

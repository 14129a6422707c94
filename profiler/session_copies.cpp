// SPDX-License-Identifier: Apache-2.0
// Copies, sets and events.

#include <algorithm>

#include "profiler/session.h"

namespace drgpum::profiler {
namespace {

using sanitizer::MemcpyData;
using trace::CopyDirection;

struct Shape {
  std::uint64_t width;
  std::uint64_t height;
  std::uint64_t depth;
};

Shape shape_of(const MemcpyData& data) {
  const std::uint64_t height = std::max<std::uint64_t>(data.height, 1);
  const std::uint64_t depth = std::max<std::uint64_t>(data.depth, 1);
  if (height == 1 && depth == 1) return {data.size != 0 ? data.size : data.width, 1, 1};
  return {data.width, height, depth};
}

void give_shape(trace::Region* region, const Shape& shape, std::uint64_t pitch) {
  region->width = shape.width;
  region->height = shape.height;
  region->depth = shape.depth;
  const bool is_linear = shape.height == 1 && shape.depth == 1;
  region->pitch = is_linear ? 0 : pitch;
  region->slice_pitch = shape.depth == 1 ? 0 : pitch * shape.height;
}

// Bytes from the first to the last.
std::uint64_t reach_of(const Shape& shape, std::uint64_t pitch) {
  return pitch * (shape.height * shape.depth - 1) + shape.width;
}

// What the driver says, or what the sides' objects say when it leaves the direction open.
CopyDirection direction_of(const MemcpyData& data, bool source_is_device,
                           bool destination_is_device) {
  switch (data.direction) {
    case sanitizer::CopyDirection::kHostToHost:
      return CopyDirection::kHostToHost;
    case sanitizer::CopyDirection::kHostToDevice:
      return CopyDirection::kHostToDevice;
    case sanitizer::CopyDirection::kDeviceToHost:
      return CopyDirection::kDeviceToHost;
    case sanitizer::CopyDirection::kDeviceToDevice:
      return CopyDirection::kDeviceToDevice;
    default:
      break;
  }
  if (source_is_device) {
    return destination_is_device ? CopyDirection::kDeviceToDevice : CopyDirection::kDeviceToHost;
  }
  return destination_is_device ? CopyDirection::kHostToDevice : CopyDirection::kHostToHost;
}

// Whether the copy is done when the call returns, as CUDA promises it ("API synchronization
// behavior" in the runtime's reference): to or from pageable memory only in one direction.
bool blocks_host(CopyDirection direction, bool is_async, bool host_is_pinned) {
  switch (direction) {
    case CopyDirection::kHostToHost:
      return !is_async;
    case CopyDirection::kDeviceToHost:
      return !is_async || !host_is_pinned;
    case CopyDirection::kHostToDevice:
      return !is_async && host_is_pinned;
    case CopyDirection::kDeviceToDevice:
      return false;
  }
  return false;
}

}  // namespace

trace::Region Session::region_at(std::uint64_t address, std::uint64_t bytes, bool is_host) const {
  trace::Region region;
  region.is_host = is_host;
  const LiveObject* object = live_.find_around(address, address + bytes);
  region.object = object == nullptr ? trace::kNoObject : object->id;
  region.offset = object == nullptr ? address : address - object->begin;
  return region;
}

void Session::on_copy(ThreadState& thread, const MemcpyData& data) {
  const Lock lock(mutex_);
  // Copies run on the stream of the destination, or of the source when the host is the destination.
  const bool to_host = data.direction == sanitizer::CopyDirection::kDeviceToHost ||
                       data.destination_context == nullptr;
  const ContextPointer context =
      context_of(lock, to_host ? data.source_context : data.destination_context);
  const ContextPointer other =
      context_of(lock, to_host ? data.destination_context : data.source_context);
  StreamState& stream =
      to_host ? stream_of(lock, thread, *context, data.source_stream, data.source_stream_handle)
              : stream_of(lock, thread, *context, data.destination_stream,
                          data.destination_stream_handle);
  const auto on_device = [&](std::uint64_t address) {
    const LiveObject* object = live_.find(address);
    return object != nullptr && object->kind != trace::ObjectKind::kHostPinned;
  };
  trace::MemcpyApi copy;
  copy.direction =
      direction_of(data, on_device(data.source_address), on_device(data.destination_address));
  copy.async = data.is_async != 0;
  const bool from_host = copy.direction == CopyDirection::kHostToDevice ||
                         copy.direction == CopyDirection::kHostToHost;
  const bool into_host = copy.direction == CopyDirection::kDeviceToHost ||
                         copy.direction == CopyDirection::kHostToHost;
  const Shape shape = shape_of(data);
  copy.source = region_at(data.source_address, reach_of(shape, data.source_pitch), from_host);
  copy.destination =
      region_at(data.destination_address, reach_of(shape, data.destination_pitch), into_host);
  give_shape(&copy.source, shape, data.source_pitch);
  give_shape(&copy.destination, shape, data.destination_pitch);
  if (other != context && !to_host && data.source_stream_handle != nullptr) {
    copy.source_stream =
        stream_of(lock, thread, *other, data.source_stream, data.source_stream_handle).id;
  }
  trace::GpuApi api = new_api(lock, thread, trace::ApiKind::kMemcpy, *context, "memory copy");
  api.stream = stream.id;
  const trace::Region& host_side = from_host ? copy.source : copy.destination;
  const bool is_pinned = host_side.object != trace::kNoObject;
  api.blocks_host = thread.replay == nullptr && blocks_host(copy.direction, copy.async, is_pinned);
  api.payload = copy;
  thread.call.api = recorder_.issue(std::move(api));
  thread.call.issued = true;
  thread.call.waits_for = &stream;
}

void Session::on_set(ThreadState& thread, const sanitizer::MemsetData& data) {
  const Lock lock(mutex_);
  const ContextPointer context = context_of(lock, data.context);
  const StreamState& stream = stream_of(lock, thread, *context, data.stream, data.stream_handle);
  trace::MemsetApi set;
  set.element_size = std::max<std::uint32_t>(data.element_size, 1);
  set.value = data.value;
  set.async = data.is_async != 0;
  const Shape shape{data.width * set.element_size, std::max<std::uint64_t>(data.height, 1), 1};
  set.destination = region_at(data.address, reach_of(shape, data.pitch), false);
  give_shape(&set.destination, shape, data.pitch);
  trace::GpuApi api = new_api(lock, thread, trace::ApiKind::kMemset, *context, "memory set");
  api.stream = stream.id;
  api.payload = set;
  recorder_.issue(std::move(api));
}

void Session::on_event(ThreadState& thread, std::uint32_t id, const sanitizer::EventData& data) {
  using namespace sanitizer;
  const Lock lock(mutex_);
  if (id == kEventDestroyed) {
    events_.erase(data.event);
    return event_has_come(lock, thread, data.event);
  }
  if (id == kEventSynchronize) return;  // recorded from the call
  const auto [entry, is_new] = events_.try_emplace(data.event, EventState{});
  EventState& event = entry->second;
  if (is_new) event.id = drgpum::EventId{next_event_++};
  if (id != kEventRecord && id != kEventStreamWait) return;
  const ContextPointer context = context_of(lock, data.context);
  StreamState& stream = stream_of(lock, thread, *context, data.stream, data.stream_handle);
  const bool records = id == kEventRecord;
  trace::GpuApi api =
      new_api(lock, thread, records ? trace::ApiKind::kEventRecord : trace::ApiKind::kStreamWait,
              *context, records ? "event record" : "stream wait");
  api.stream = stream.id;
  trace::EventApi payload;
  payload.event = event.id;
  if (!records) {
    payload.recorded = event.recorded;
    payload.recorded_by = event.recorded_by;
  }
  api.payload = payload;
  const ApiId issued = recorder_.issue(std::move(api));
  if (records) {
    thread.recent_events.add(data.event, thread.calls, thread.innermost);
    event.recorded = true;
    event.recorded_by = issued;
    event.stream = &stream;
    event.submitted = submitted_;
  }
}

}  // namespace drgpum::profiler

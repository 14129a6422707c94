// SPDX-License-Identifier: Apache-2.0
// Entering and leaving API functions: names, times, results, and the calls that only these
// callbacks tell of.

#include <array>
#include <atomic>
#include <cstring>

#include "profiler/session.h"

namespace drgpum::profiler {
namespace {

using sanitizer::ApiData;
using sanitizer::ApiSite;

constexpr std::size_t kCachedIds = 2048;  // of each of the two domains

std::int32_t result_of(const ApiData& data) {
  std::int32_t result = 0;
  if (data.return_value != nullptr) std::memcpy(&result, data.return_value, sizeof result);
  return result;
}

sanitizer::Stream stream_parameter(const OpenCall& call) {
  return reinterpret_cast<sanitizer::Stream>(parameter_word(call.parameters, 0));
}

sanitizer::Event event_parameter(const OpenCall& call) {
  return reinterpret_cast<sanitizer::Event>(parameter_word(call.parameters, 0));
}

trace::SyncScope scope_of(ApiRole role) {
  switch (role) {
    case ApiRole::kSyncStream:
    case ApiRole::kQueryStream:
      return trace::SyncScope::kStream;
    case ApiRole::kSyncEvent:
    case ApiRole::kQueryEvent:
      return trace::SyncScope::kEvent;
    case ApiRole::kSyncContext:
      return trace::SyncScope::kContext;
    default:
      return trace::SyncScope::kDevice;
  }
}

}  // namespace

// Names are looked up once per callback id; the answers are kept for the life of the process.
const ApiTraits& Session::traits_of_call(sanitizer::Domain domain, std::uint32_t id,
                                         const char* name) {
  static std::array<std::atomic<const ApiTraits*>, 2 * kCachedIds> cache{};
  static const ApiTraits& unknown = *new ApiTraits;  // never destroyed, as are all: exits make calls
  if (name == nullptr) return unknown;
  const std::size_t base = domain == sanitizer::Domain::kRuntimeApi ? kCachedIds : 0;
  if (id >= kCachedIds) {
    return remember_traits(name);  // no release has as many functions
  }
  std::atomic<const ApiTraits*>& entry = cache[base + id];
  const ApiTraits* known = entry.load(std::memory_order_acquire);
  if (known != nullptr) return *known;
  auto made = std::make_unique<const ApiTraits>(traits_of(name));
  // Of threads that come at once, one leaves what it made.
  if (!entry.compare_exchange_strong(known, made.get(), std::memory_order_acq_rel)) return *known;
  return *made.release();
}

void Session::on_call(ThreadState& thread, sanitizer::Domain domain, std::uint32_t id,
                      const ApiData& data) {
  OpenCall& call = thread.call;
  if (data.site == ApiSite::kEnter) {
    const ApiTraits& traits = traits_of_call(domain, id, data.function_name);
    if (call.depth == 0) {
      call = OpenCall{};
      ++thread.calls;
      call.outermost = &traits;
      call.outermost_parameters = data.parameters;
      call.begin_ns = now();
    }
    ++call.depth;
    if (call.role_depth == 0 && traits.role != ApiRole::kOther) {
      call.role_depth = call.depth;
      call.traits = &traits;
      call.parameters = data.parameters;
      on_role_enter(thread, data);
    }
    return;
  }
  if (call.depth == 0) return;  // entered before the tool was there
  const std::int32_t error = result_of(data);
  if (call.role_depth == call.depth) {
    call.parameters = data.parameters;
    if (call.makes_room) room_was_made(thread);
    on_role_exit(thread, data, error);
    call.role_depth = 0;
    call.traits = nullptr;
  }
  if (--call.depth != 0) return;
  const Lock lock(mutex_);
  if (error != 0 && thread.launch != nullptr) {  // refused between begin and end
    drop_launch(lock, thread.launch);
    thread.launch = nullptr;
  }
  recorder_.complete(thread.id, now());
}

void Session::on_role_enter(ThreadState& thread, const ApiData& data) {
  OpenCall& call = thread.call;
  call.issued = call.allocated = call.has_freed = false;
  call.freeing = 0;
  call.waits_for = nullptr;
  {
    const Lock lock(mutex_);
    call.submitted = submitted_;
    call.next_api = recorder_.next_api().value;
    if (contexts_.empty() && data.context == nullptr) return;  // told of at the exit
  }
  switch (call.traits->role) {
    case ApiRole::kFree:
    case ApiRole::kHostFree:
    case ApiRole::kUnmap:
    case ApiRole::kCloseImport:
      return enter_free(thread, data);
    case ApiRole::kSyncStream:
    case ApiRole::kQueryStream: {
      sanitizer::Stream stream = stream_parameter(call);
      if (stream == nullptr && call.traits->per_thread_default) {
        stream = reinterpret_cast<sanitizer::Stream>(std::uintptr_t{2});
      }
      sanitizer::StreamHandle handle = nullptr;
      static_cast<void>(api_.get_stream_handle(data.context, stream, &handle));
      const Lock lock(mutex_);
      const ContextPointer context = context_of(lock, data.context);
      call.waits_for = &stream_of(lock, thread, *context, stream, handle);
      if (call.traits->role == ApiRole::kSyncStream) {
        issue_synchronize(lock, thread, *context, false);
      }
      return;
    }
    case ApiRole::kSyncDevice:
    case ApiRole::kSyncContext:
    case ApiRole::kSyncEvent: {
      const Lock lock(mutex_);
      const ContextPointer context = context_of(lock, data.context);
      return issue_synchronize(lock, thread, *context, false);
    }
    case ApiRole::kAlloc:
    case ApiRole::kPhysical:
    case ApiRole::kPitchedAlloc:
    case ApiRole::kAlloc3D:
    case ApiRole::kArrayAlloc:
    case ApiRole::kTakesMemory:
    case ApiRole::kGraphLaunch:
      return make_room(thread, data);
    // Here the driver holds no lock that reducing maps needs, as it may once the context goes.
    case ApiRole::kResetDevice:
      return settle_context(data.context, kPatience, true);
    case ApiRole::kEndContext:
      return settle_context(reinterpret_cast<sanitizer::Context>(parameter_word(call.parameters, 0)),
                            kPatience, true);
    default:
      return;
  }
}

void Session::issue_synchronize(const Lock& lock, ThreadState& thread, ContextState& context,
                                bool query) {
  OpenCall& call = thread.call;
  trace::GpuApi api = new_api(lock, thread, trace::ApiKind::kSynchronize, context, "synchronize");
  api.blocks_host = true;
  trace::SynchronizeApi payload;
  payload.scope = scope_of(call.traits->role);
  payload.query = query;
  if (payload.scope == trace::SyncScope::kEvent) {
    const auto known = events_.find(event_parameter(call));
    if (known != events_.end()) {
      payload.event = known->second.id;
      payload.recorded = known->second.recorded;
      payload.recorded_by = known->second.recorded_by;
      call.waits_for = known->second.stream;
      call.submitted = known->second.submitted;
    }
  }
  if (payload.scope == trace::SyncScope::kStream) api.stream = call.waits_for->id;
  api.payload = payload;
  call.api = recorder_.issue(std::move(api));
  call.issued = true;
}

void Session::finish_synchronize(ThreadState& thread, const ApiData& data, std::int32_t error) {
  OpenCall& call = thread.call;
  {
    const Lock lock(mutex_);
    if (contexts_.empty() && data.context == nullptr) return;
    const ContextPointer context = context_of(lock, data.context);
    if (error != 0) {
      if (call.issued) recorder_.retract(call.api);
      return;
    }
    const bool without_context = !call.issued;  // the call made the context itself
    if (without_context) issue_synchronize(lock, thread, *context, false);
    if (scope_of(call.traits->role) == trace::SyncScope::kEvent) {
      event_has_come(lock, thread, event_parameter(call));
    }
    const bool waits_for_nothing =
        scope_of(call.traits->role) == trace::SyncScope::kEvent && call.waits_for == nullptr;
    if (!waits_for_nothing) note_done(lock, *context, call.waits_for, call.submitted);
    recorder_.complete(thread.id, now());
  }
  harvest();
}

// A successful query orders like a synchronisation, but only if no other thread issued work while
// it ran: that work could have come after the moment that the query looked at.
void Session::finish_query(ThreadState& thread, const ApiData& data, std::int32_t error) {
  OpenCall& call = thread.call;
  if (error != 0) return;
  {
    const Lock lock(mutex_);
    const ContextPointer context = context_of(lock, data.context);
    const bool is_alone = recorder_.next_api().value == call.next_api;
    if (is_alone) issue_synchronize(lock, thread, *context, true);
    if (call.traits->role == ApiRole::kQueryEvent) {
      event_has_come(lock, thread, event_parameter(call));
    }
    if (!is_alone) return;
    if (call.waits_for == nullptr) return;
    note_done(lock, *context, call.waits_for, call.submitted);
    recorder_.complete(thread.id, now());
  }
  harvest();
}

void Session::issue_mark(ThreadState& thread, const ApiData& data) {
  const bool starts = thread.call.traits->role == ApiRole::kProfilerStart;
  const Lock lock(mutex_);
  if (options_.capture_range == "cudaProfilerApi") capturing_ = starts;
  if (contexts_.empty() && data.context == nullptr) return;
  const ContextPointer context = context_of(lock, data.context);
  trace::GpuApi api = new_api(lock, thread, trace::ApiKind::kMark, *context, "mark");
  api.payload =
      trace::MarkApi{starts ? trace::MarkKind::kCaptureStart : trace::MarkKind::kCaptureStop, ""};
  recorder_.issue(std::move(api));
}

void Session::on_role_exit(ThreadState& thread, const ApiData& data, std::int32_t error) {
  OpenCall& call = thread.call;
  switch (call.traits->role) {
    case ApiRole::kAlloc:
    case ApiRole::kMap:
    case ApiRole::kPitchedAlloc:
    case ApiRole::kAlloc3D:
    case ApiRole::kArrayAlloc:
      return exit_allocation(thread, data, error);
    case ApiRole::kFree:
    case ApiRole::kHostFree:
    case ApiRole::kAsyncFree:
    case ApiRole::kUnmap:
    case ApiRole::kCloseImport:
      return exit_free(thread, data, error);
    case ApiRole::kSyncDevice:
    case ApiRole::kSyncContext:
    case ApiRole::kSyncStream:
    case ApiRole::kSyncEvent:
      return finish_synchronize(thread, data, error);
    case ApiRole::kQueryStream:
    case ApiRole::kQueryEvent:
      return finish_query(thread, data, error);
    case ApiRole::kProfilerStart:
    case ApiRole::kProfilerStop:
      return issue_mark(thread, data);
    case ApiRole::kPhysical:
    case ApiRole::kReleasePhysical:
      return error == 0 ? note_physical(data, call) : void();
    case ApiRole::kTexture:
      return error == 0 ? note_texture(call) : void();
    case ApiRole::kCopy:
      if (error != 0) return;
      {
        const Lock lock(mutex_);
        const trace::GpuApi* copy = call.issued ? recorder_.kept(call.api) : nullptr;
        if (copy == nullptr || !copy->blocks_host || call.waits_for == nullptr) return;
        const ContextPointer context = context_of(lock, data.context);
        note_done(lock, *context, call.waits_for, call.submitted);
        recorder_.complete(thread.id, now());
      }
      return harvest();
    case ApiRole::kHostFunction: {
      if (error != 0) return;
      sanitizer::StreamHandle handle = nullptr;
      const sanitizer::Stream stream = stream_parameter(call);
      static_cast<void>(api_.get_stream_handle(data.context, stream, &handle));
      const Lock lock(mutex_);
      const ContextPointer context = context_of(lock, data.context);
      trace::GpuApi api =
          new_api(lock, thread, trace::ApiKind::kHostFunction, *context, "cudaLaunchHostFunc");
      api.stream = stream_of(lock, thread, *context, stream, handle).id;
      api.payload = trace::HostFunctionApi{};
      recorder_.issue(std::move(api));
      return;
    }
    default:
      return;
  }
}

}  // namespace drgpum::profiler

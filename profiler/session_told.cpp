// SPDX-License-Identifier: Apache-2.0
// What the program says about itself: pools and their blocks, names, ranges, iterations.

#include <algorithm>

#include "profiler/session.h"

namespace drgpum::profiler {
namespace {

using trace::MarkKind;

constexpr std::string_view kByProfilerCalls = "cudaProfilerApi";

MarkKind mark_of(ToldKind kind) {
  switch (kind) {
    case ToldKind::kRangeBegin:
      return MarkKind::kRangePush;
    case ToldKind::kRangeEnd:
      return MarkKind::kRangePop;
    case ToldKind::kIteration:
      return MarkKind::kIteration;
    case ToldKind::kStart:
      return MarkKind::kCaptureStart;
    case ToldKind::kStop:
      return MarkKind::kCaptureStop;
    default:
      return MarkKind::kInstant;
  }
}

// Blocks are of device memory; the driver itself tells of each block of its own pools.
bool is_carved_up(const LiveObject& allocation) {
  switch (allocation.kind) {
    case trace::ObjectKind::kHostPinned:
    case trace::ObjectKind::kModuleGlobal:
    case trace::ObjectKind::kAsync:
      return false;
    default:
      return true;
  }
}

}  // namespace

void Session::on_told(Told told) noexcept {
  if (closed_.load(std::memory_order_acquire)) return;
  ThreadState& thread = this_thread();
  if (thread.busy) return;
  thread.busy = true;
  try {
    const Lock lock(mutex_);
    if (contexts_.empty()) {
      keep_waiting(std::move(told));
    } else {
      take(lock, thread, told);
      if (thread.call.depth == 0) recorder_.complete(thread.id, now());
    }
  } catch (const std::exception& error) {
    disable(error.what());
  } catch (...) {
    disable("unknown failure");
  }
  thread.busy = false;
}

void Session::take(const Lock& lock, ThreadState& thread, const Told& told) {
  switch (told.kind) {
    case ToldKind::kPool:
    case ToldKind::kBlock:
      return add_part(lock, thread, told);
    case ToldKind::kPoolEnd:
    case ToldKind::kPoolReset:
      return end_pool(lock, thread, told);
    case ToldKind::kBlockEnd:
      return end_block(lock, thread, told);
    case ToldKind::kLabel:
      return label(lock, thread, told);
    case ToldKind::kName:
      return name_object(lock, told);
    case ToldKind::kStreamName:
      return name_stream(lock, told);
    default:
      return mark(lock, thread, told);
  }
}

void Session::take_what_waited(const Lock& lock) {
  ThreadState& thread = this_thread();
  for (const Told& told : take_waiting())
    take(lock, thread, told);
}

// Ranges of the name that the user gave bound the recording, or else the program's own calls.
void Session::mark(const Lock&, ThreadState& thread, const Told& told) {
  const auto issue = [&](MarkKind kind, const std::string& name) {
    trace::GpuApi api;
    api.kind = trace::ApiKind::kMark;
    api.context = last_context_ != nullptr ? last_context_->id : contexts_.begin()->second->id;
    api.thread = thread.id;
    api.name = told.call;
    api.host_begin_ns = now();
    api.payload = trace::MarkApi{kind, name};
    recorder_.issue(std::move(api));
  };
  const bool is_switch = told.kind == ToldKind::kStart || told.kind == ToldKind::kStop;
  const bool by_range =
      !options_.capture_range.empty() && options_.capture_range != kByProfilerCalls;
  if (is_switch && by_range) return;
  const bool bounds = !options_.capture_range.empty() && told.name == options_.capture_range;
  if (bounds && told.kind == ToldKind::kRangeBegin && open_captures_++ == 0) {
    capturing_ = true;
    issue(MarkKind::kCaptureStart, "");
  }
  issue(mark_of(told.kind), told.name);
  if (bounds && told.kind == ToldKind::kRangeEnd && open_captures_ != 0 && --open_captures_ == 0) {
    capturing_ = false;
    issue(MarkKind::kCaptureStop, "");
  }
  if (is_switch) capturing_ = told.kind == ToldKind::kStart;
}

const ContextState* Session::context_with(const Lock&, ContextId id) const {
  for (const auto& [handle, context] : contexts_)
    if (context->id == id) return context.get();
  return nullptr;
}

void Session::add_part(const Lock& lock, ThreadState& thread, const Told& told) {
  const LiveObject* root = live_.find_allocation(told.address);
  const ContextState* context = root == nullptr ? nullptr : context_with(lock, root->context);
  if (context == nullptr) {
    ++told_elsewhere_;
    return;
  }
  const bool is_pool = told.kind == ToldKind::kPool;
  const std::uint64_t room = UINT64_MAX - told.address;
  std::uint64_t end = told.address + std::min(told.size, room);
  const bool is_whole = root->begin == told.address && (told.size == 0 || end >= root->end);
  if (((is_pool || told.may_be_whole) && is_whole) || !is_carved_up(*root)) {
    if (!told.name.empty() && root->begin == told.address) give_name(lock, root->id, told.name);
    return;
  }
  if (told.size == 0) return;
  // Mapped memory: one block may lie in several mappings side by side.
  for (std::uint64_t reached = root->end; reached < end;) {
    const LiveObject* next = live_.find_allocation(reached);
    next == nullptr ? end = reached : reached = next->end;
  }
  issue_part(lock, thread, told, *context,
             LiveObject{ObjectId{next_object_++}, trace::ObjectKind::kSubObject, root->context,
                        told.address, end, root->id, trace::kNoObject, is_pool});
}

void Session::issue_part(const Lock& lock, ThreadState& thread, const Told& told,
                         const ContextState& context, LiveObject part) {
  for (const LiveObject& gone : live_.insert_part(part)) {
    pending_.forget(gone.id);
    end_object(lock, gone);
  }
  trace::ObjectRecord object;
  object.id = part.id;
  object.kind = part.kind;
  object.parent = part.parent;
  object.device = context.device;
  object.context = context.id;
  object.address = part.begin;
  object.size = part.end - part.begin;
  object.name = told.name;
  trace::GpuApi api = new_api(lock, thread, trace::ApiKind::kAlloc, context, told.call);
  api.name = told.call;
  api.payload = trace::AllocApi{object.id, object.size, 0};
  object.allocated_by = recorder_.issue(std::move(api));
  recorder_.write(object);
}

void Session::free_part(const Lock& lock, ThreadState& thread, const char* call,
                        const LiveObject& part) {
  const ContextState* context = context_with(lock, part.context);
  const std::vector<LiveObject> gone = live_.remove_part(part);
  if (context == nullptr || gone.empty()) return;
  trace::GpuApi api = new_api(lock, thread, trace::ApiKind::kFree, *context, call);
  api.name = call;
  api.payload = trace::FreeApi{part.id, false, part.begin, 0};
  recorder_.issue(std::move(api));
  for (std::size_t i = 1; i < gone.size(); ++i) {
    pending_.forget(gone[i].id);
    end_object(lock, gone[i]);
  }
}

// A pool that is a whole allocation is no object of its own; only its blocks go.
void Session::end_pool(const Lock& lock, ThreadState& thread, const Told& told) {
  const LiveObject* pool = live_.find_part(told.address, true);
  if (pool != nullptr && told.kind == ToldKind::kPoolEnd) {
    return free_part(lock, thread, told.call, LiveObject(*pool));
  }
  if (pool == nullptr) pool = live_.find_beginning(told.address);
  if (pool == nullptr) return;
  for (const LiveObject& gone : live_.remove_parts_of(LiveObject(*pool))) {
    pending_.forget(gone.id);
    end_object(lock, gone);
  }
}

void Session::end_block(const Lock& lock, ThreadState& thread, const Told& told) {
  const LiveObject* block = live_.find_part(told.address, false);
  if (block == nullptr || pending_.waits(block->id)) return;
  const auto events = thread.recent_events.until(thread.calls);
  const auto module_of = [&](std::uint64_t address) { return host_modules_.find(address); };
  const auto allocator = reinterpret_cast<std::uint64_t>(told.allocator);
  const bool waits = told.allocator != nullptr && !events.empty() &&
                     module_of(allocator) != nullptr &&
                     module_of(allocator) == module_of(thread.recent_events.recorder);
  if (waits) {
    pending_.add(*block, events);
    thread.recent_events.count = 0;
    return request_free(lock, thread, told.call, LiveObject(*block));
  }
  free_part(lock, thread, told.call, LiveObject(*block));
}

void Session::request_free(const Lock& lock, ThreadState& thread, const char* call,
                           const LiveObject& block) {
  const ContextState* context = context_with(lock, block.context);
  if (context == nullptr) return;
  trace::GpuApi api = new_api(lock, thread, trace::ApiKind::kMark, *context, call);
  api.name = call;
  api.payload = trace::MarkApi{MarkKind::kInstant, "free requested"};
  const ApiId at = recorder_.issue(std::move(api));
  recorder_.write_after_kept(trace::FreeRequestRecord{block.id, at});
}

// The blocks that waited for the event alone are free now.
void Session::event_has_come(const Lock& lock, ThreadState& thread, sanitizer::Event event) {
  if (pending_.empty()) return;
  for (const LiveObject& block : pending_.come(event))
    free_part(lock, thread, "free completed", block);
}

void Session::give_name(const Lock&, ObjectId object, const std::string& name) {
  recorder_.write(trace::ObjectNameRecord{object, name});
}

void Session::name_object(const Lock& lock, const Told& told) {
  const LiveObject* object = live_.find_part(told.address, false);
  if (object == nullptr) object = live_.find_part(told.address, true);
  if (object == nullptr) object = live_.find(told.address);
  if (object == nullptr) {
    ++told_elsewhere_;
    return;
  }
  give_name(lock, object->id, told.name);
}

// Default streams are known by the numbers that programs call them by.
void Session::name_stream(const Lock&, const Told& told) {
  const auto handle = reinterpret_cast<sanitizer::StreamHandle>(told.address);
  for (const auto& [unused, context] : contexts_) {
    for (const auto& [key, stream] : context->streams) {
      const bool has_ended = key == &stream;
      const bool is_it = told.address == 0
                             ? stream.kind == trace::StreamKind::kLegacyDefault
                             : stream.handle == handle || stream.program_handle == handle;
      if (has_ended || !is_it) continue;
      recorder_.write(trace::StreamNameRecord{stream.id, told.name});
      return;
    }
  }
}

void Session::label(const Lock& lock, ThreadState& thread, const Told& told) {
  const LiveObject* allocation = live_.find_beginning(told.address);
  if (allocation != nullptr) return give_name(lock, allocation->id, told.name);
  Told block = told;
  block.kind = ToldKind::kBlock;
  add_part(lock, thread, block);
}

void Session::end_orphans(const Lock& lock, std::uint64_t begin, std::uint64_t end) {
  for (const LiveObject& gone : live_.remove_orphans(begin, end)) {
    pending_.forget(gone.id);
    end_object(lock, gone);
  }
}

// At the end of the trace: what the program gave back has not leaked, and what it told of in vain
// is said.
void Session::settle_told(const Lock& lock) {
  for (const LiveObject& block : pending_.take_all())
    end_object(lock, block);
  if (told_elsewhere_ != 0) {
    cover(
        trace::CoverageKind::kOpaqueObject,
        "pools, blocks or names that the program told of in memory that no known allocation holds",
        std::nullopt, told_elsewhere_);
  }
}

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
// The tool's own memory on a device: taken up to a budget, and given back before the program runs
// out.

#include <algorithm>

#include "profiler/session.h"

namespace drgpum::profiler {

using sanitizer::Code;

// Room in the tool's device memory, which grows up to its budget. On the emulated device, where
// kernels have run when their launch returns, what is in flight is read back before more is taken,
// and maps that wait to be reduced give way before a launch does.
std::optional<Region> Session::reserve(Lock& lock, ContextState& context, LaunchMemory& memory,
                                       std::uint64_t bytes) {
  if (auto region = memory.reserve(bytes)) return region;
  if (options_.emulated && in_flight_.size() > 1) {
    const ContextPointer pointer = context_of(lock, context.handle);
    const bool is_last_way = memory.chunk_to_add(bytes) == 0;
    lock.unlock();
    drain_context(pointer);
    if (is_last_way) settle_maps(pointer, Patience{1000});
    lock.lock();
    if (auto region = memory.reserve(bytes)) return region;
  }
  // A table that no launch searches gives way when nothing else can, and so do chunks too small.
  if (memory.chunk_to_add(bytes) == 0) {
    if (context.table != nullptr && context.table.use_count() == 1) context.table.reset();
    if (auto region = memory.reserve(bytes)) return region;
    free_chunks(lock, context, memory.drop_unused());
  }
  for (std::uint64_t chunk = memory.chunk_to_add(bytes); chunk != 0;) {
    void* address = nullptr;
    lock.unlock();
    const Code code = api_.alloc(context.handle, &address, chunk);
    lock.lock();
    context.memory_refused = code != Code::kSuccess || address == nullptr;
    if (!context.memory_refused) {
      memory.add_chunk(reinterpret_cast<std::uint64_t>(address), chunk);
      return memory.reserve(bytes);
    }
    chunk = chunk > LaunchMemory::least_chunk(bytes) ? LaunchMemory::least_chunk(bytes) : 0;
  }
  return std::nullopt;
}

void Session::free_chunks(Lock& lock, const ContextState& context,
                          const std::vector<std::uint64_t>& chunks) {
  lock.unlock();
  for (const std::uint64_t chunk : chunks)
    static_cast<void>(api_.free(context.handle, reinterpret_cast<void*>(chunk)));
  lock.lock();
}

ScratchMemory Session::scratch_memory() {
  return {[this](ContextState& context, std::uint64_t bytes) {
            return reserve_scratch(context, bytes);
          },
          [this](ContextState& context, const Region& region) {
            const Lock lock(mutex_);
            context.memory.release(region);
          }};
}

// Room in the tool's memory for as long as a batch lasts.
std::optional<Region> Session::reserve_scratch(ContextState& context, std::uint64_t bytes) {
  Lock lock(mutex_);
  if (auto region = context.memory.reserve(bytes)) return region;
  const std::uint64_t chunk = context.memory.chunk_to_add(bytes);
  if (chunk == 0) return std::nullopt;
  void* address = nullptr;
  lock.unlock();
  const bool given = api_.alloc(context.handle, &address, chunk) == Code::kSuccess;
  lock.lock();
  if (!given || address == nullptr) return std::nullopt;
  context.memory.add_chunk(reinterpret_cast<std::uint64_t>(address), chunk);
  return context.memory.reserve(bytes);
}

// Before an allocation that the device may have no room for beside what the tool holds. Where calls
// may not wait for the device (stream-ordered ones), what launches in flight use stays.
void Session::make_room(ThreadState& thread, const sanitizer::ApiData& data) {
  const OpenCall& call = thread.call;
  const std::string& name = call.traits->name;
  const bool on_host = name.find("Host") != std::string::npos;
  if (on_host || call.parameters == nullptr) return;
  const std::uint64_t asked = call.traits->role == ApiRole::kArrayAlloc
                                  ? array_bytes(*call.traits, call.parameters)
                                  : requested_bytes(call.traits->role, call.parameters);
  {
    const Lock lock(mutex_);
    const auto found = contexts_.find(data.context);
    if (found == contexts_.end() || !is_near_full(lock, *found->second, asked)) return;
  }
  give_back(data.context, !name.ends_with("Async"));
}

// The driver itself, what it rounds up and what other processes hold are not known: a sixteenth.
bool Session::is_near_full(const Lock&, const ContextState& context, std::uint64_t asked) const {
  const std::uint64_t held = context.memory.total_bytes() + context.maps.total_bytes();
  const auto device = device_bytes_.find(context.device.value);
  if (held == 0 || device == device_bytes_.end() || device->second == 0) return false;
  const std::uint64_t total = device->second;
  const std::uint64_t used = live_.device_bytes(context.id) + held + total / 16;
  return used > total || asked > total - used;
}

void Session::give_back(sanitizer::Context handle, bool may_wait) {
  if (may_wait) {
    settle_context(handle, Patience{1000});
  } else {
    harvest();
  }
  Lock lock(mutex_);
  const auto found = contexts_.find(handle);
  if (found == contexts_.end()) return;
  const ContextPointer context = found->second;
  if (context->table != nullptr && context->table.use_count() == 1) context->table.reset();
  free_chunks(lock, *context, context->memory.drop_unused());
  free_chunks(lock, *context, context->maps.drop_unused());
}

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
// The tool's own memory on a device: taken up to a budget, and given back before the program runs
// out.

#include <algorithm>

#include "profiler/session.h"

namespace drgpum::profiler {

using sanitizer::Code;

namespace {

// Rows of pitched memory are at least as wide as the driver makes them.
std::uint64_t bytes_to_take(const OpenCall& call) {
  constexpr std::uint64_t kRow = 512;
  const auto word = [&](std::size_t i) { return parameter_word(call.parameters, i); };
  const auto rows_of = [&](std::uint64_t width) { return (width + kRow - 1) / kRow * kRow; };
  switch (call.traits->role) {
    case ApiRole::kPitchedAlloc:
      return rows_of(word(2)) * word(3);
    case ApiRole::kAlloc3D:
      return rows_of(word(1)) * word(2) * word(3);
    case ApiRole::kArrayAlloc:
      return array_bytes(*call.traits, call.parameters);
    default:
      return requested_bytes(call.traits->role, call.parameters);
  }
}

}  // namespace

// Room in the tool's device memory, which grows up to its budget. On the emulated device, where
// kernels have run when their launch returns, what is in flight is read back before more is taken,
// and maps that wait to be reduced give way before a launch does.
std::optional<Region> Session::reserve(Lock& lock, ContextState& context, LaunchMemory& memory,
                                       std::uint64_t bytes) {
  if (auto region = memory.reserve(bytes)) return region;
  const ContextPointer pointer = context.shared_from_this();
  if (options_.emulated && in_flight_.size() > 1) {
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
  if (auto region = add_chunk(lock, context, memory, bytes)) return region;
  if (!options_.emulated || context.maps_waiting == 0) return std::nullopt;
  lock.unlock();
  settle_maps(pointer, Patience{1000});
  lock.lock();
  if (auto region = memory.reserve(bytes)) return region;
  free_chunks(lock, context, context.maps.drop_unused());
  return add_chunk(lock, context, memory, bytes);
}

std::optional<Region> Session::add_chunk(Lock& lock, ContextState& context, LaunchMemory& memory,
                                         std::uint64_t bytes) {
  context.memory_refused = rooms_being_made_[context.device.value] != 0;
  if (context.memory_refused) return std::nullopt;  // the program comes first
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
            context.scratch.release(region);
          }};
}

// Room in the tool's memory for as long as a batch lasts.
std::optional<Region> Session::reserve_scratch(ContextState& context, std::uint64_t bytes) {
  Lock lock(mutex_);
  if (auto region = context.scratch.reserve(bytes)) return region;
  const std::uint64_t chunk = context.scratch.chunk_to_add(bytes);
  if (chunk == 0 || rooms_being_made_[context.device.value] != 0) return std::nullopt;
  void* address = nullptr;
  lock.unlock();
  const bool given = api_.alloc(context.handle, &address, chunk) == Code::kSuccess;
  lock.lock();
  if (!given || address == nullptr) return std::nullopt;
  context.scratch.add_chunk(reinterpret_cast<std::uint64_t>(address), chunk);
  return context.scratch.reserve(bytes);
}

// Before a call that the device may have no room for beside what the tool holds. Where calls may not
// wait for the device (stream-ordered ones), what launches in flight use stays. Until the call
// returns, the tool takes nothing back.
void Session::make_room(ThreadState& thread, const sanitizer::ApiData& data) {
  OpenCall& call = thread.call;
  const std::string& name = call.traits->name;
  const ApiRole role = call.traits->role;
  const bool elsewhere =
      name.find("Host") != std::string::npos || name.find("Managed") != std::string::npos;
  if (elsewhere || call.parameters == nullptr) return;
  const std::uint64_t asked = bytes_to_take(call);
  const bool is_async = name.ends_with("Async");
  const bool says_how_much = role != ApiRole::kTakesMemory && role != ApiRole::kGraphLaunch;
  const bool may_try = says_how_much && (!is_async || options_.emulated);
  ContextPointer context;
  {
    const Lock lock(mutex_);
    const auto found = contexts_.find(data.context);
    if (found == contexts_.end()) return;
    context = found->second;
    if (role == ApiRole::kGraphLaunch) {
      const auto graph = graphs_.find(reinterpret_cast<void*>(parameter_word(call.parameters, 0)));
      if (graph != graphs_.end() && !graph->second.allocates) return;
    }
    const bool is_guess = says_how_much && !may_try;
    if (!may_be_short(lock, *context, may_try ? 8 * asked : asked, is_guess)) return;
  }
  if (may_try && has_room(context->handle, asked)) return;
  if (says_how_much) {
    const Lock lock(mutex_);
    call.makes_room = true;
    call.room_on = context->device;
    ++rooms_being_made_[context->device.value];
  }
  give_back(context, !is_async && says_how_much);
}

void Session::room_was_made(ThreadState& thread) {
  const Lock lock(mutex_);
  thread.call.makes_room = false;
  --rooms_being_made_[thread.call.room_on.value];
}

std::uint64_t Session::bytes_held(const Lock&, DeviceId device) const {
  std::uint64_t held = 0;
  for (const auto& [handle, context] : contexts_) {
    if (context->device == device) {
      held += context->memory.total_bytes() + context->maps.total_bytes() +
              context->scratch.total_bytes();
    }
  }
  return held;
}

std::uint64_t Session::bytes_used(const Lock& lock, DeviceId device) const {
  std::uint64_t used = bytes_held(lock, device);
  for (const auto& [handle, context] : contexts_) {
    if (context->device == device) {
      used += live_.device_bytes(context->id) + context->unmapped_bytes;
    }
  }
  return used;
}

// The driver itself, what it rounds up and what other processes hold are not known. So a call that
// can be tried counts as one for which there may be no room from half of the device on, and so does
// one that does not say what it takes; for others a sixteenth is set aside.
bool Session::may_be_short(const Lock& lock, const ContextState& context, std::uint64_t asked,
                           bool is_guess) const {
  const auto device = device_bytes_.find(context.device.value);
  if (device == device_bytes_.end() || device->second == 0) return false;
  if (bytes_held(lock, context.device) == 0) return false;
  const std::uint64_t total = device->second;
  const std::uint64_t limit = is_guess ? total - total / 16 : total / 2;
  const std::uint64_t used = bytes_used(lock, context.device);
  return used > limit || asked > limit - used;
}

// The only way to know: memory of the same size, for a moment.
bool Session::has_room(sanitizer::Context context, std::uint64_t bytes) {
  constexpr std::uint64_t kRounding = 2 << 20;
  void* address = nullptr;
  const std::uint64_t with_rounding = bytes + std::max(bytes / 16, kRounding);
  if (api_.alloc(context, &address, with_rounding) != Code::kSuccess || address == nullptr) {
    return false;
  }
  static_cast<void>(api_.free(context, address));
  return true;
}

// What all contexts of the device hold; only the program's own one waits for its streams.
void Session::give_back(const ContextPointer& own, bool may_wait) {
  std::vector<ContextPointer> contexts;
  {
    const Lock lock(mutex_);
    for (const auto& [handle, context] : contexts_) {
      if (context->device == own->device) contexts.push_back(context);
    }
  }
  for (const ContextPointer& context : contexts) {
    if (options_.emulated || (may_wait && context == own)) {
      settle_context(context->handle, Patience{1000}, false);
    } else {
      harvest();
      reductions_.await(context.get(), Patience{1000});
    }
    Lock lock(mutex_);
    if (context->table != nullptr && context->table.use_count() == 1) context->table.reset();
    free_chunks(lock, *context, context->memory.drop_unused());
    free_chunks(lock, *context, context->maps.drop_unused());
    free_chunks(lock, *context, context->scratch.drop_unused());
  }
}

void Session::hold_bytes(const Lock&, const ContextPointer& context, std::uint64_t handle,
                         std::uint64_t bytes) {
  held_bytes_[handle] = {context, bytes};
  context->unmapped_bytes += bytes;
}

void Session::release_bytes(const Lock&, std::uint64_t handle) {
  const auto held = held_bytes_.find(handle);
  if (held == held_bytes_.end()) return;
  if (const ContextPointer context = held->second.context.lock()) {
    context->unmapped_bytes -= held->second.bytes;
  }
  held_bytes_.erase(held);
}

// Physical memory that is mapped counts twice, which does no harm here.
void Session::note_physical(const sanitizer::ApiData& data, const OpenCall& call) {
  const Lock lock(mutex_);
  const std::uint64_t word = parameter_word(call.parameters, 0);
  if (call.traits->role == ApiRole::kReleasePhysical) return release_bytes(lock, word);
  const auto found = contexts_.find(data.context);
  if (found == contexts_.end() || word == 0) return;
  hold_bytes(lock, found->second, *reinterpret_cast<const std::uint64_t*>(word),
             requested_bytes(call.traits->role, call.parameters));
}

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
// Objects come and go: allocations, frees, arrays, memory of others.

#include <algorithm>

#include "profiler/session.h"

namespace drgpum::profiler {
namespace {

using sanitizer::MemoryData;
using trace::ObjectKind;

ApiRole role_of(const OpenCall& call) {
  return call.traits == nullptr ? ApiRole::kOther : call.traits->role;
}

ObjectKind kind_of_memory(std::uint32_t id, const MemoryData& data, ApiRole role) {
  if (id == sanitizer::kHostMemoryAlloc) return ObjectKind::kHostPinned;
  if (id == sanitizer::kPoolImportPointer || role == ApiRole::kImport) return ObjectKind::kImported;
  if ((data.flags & sanitizer::kMemoryOfModule) != 0) return ObjectKind::kModuleGlobal;
  if (role == ApiRole::kMap) return ObjectKind::kVirtual;
  if ((data.flags & sanitizer::kMemoryManaged) != 0) return ObjectKind::kManaged;
  if (id == sanitizer::kMemoryAllocAsync) return ObjectKind::kAsync;
  const bool pitched = role == ApiRole::kPitchedAlloc || role == ApiRole::kAlloc3D;
  return pitched ? ObjectKind::kPitched : ObjectKind::kDevice;
}

bool is_for_the_driver(const MemoryData& data) {
  constexpr std::uint32_t kDrivers =
      sanitizer::kMemoryCooperativeRuntime | sanitizer::kMemoryDynamicParallelism;
  return (data.flags & kDrivers) != 0 || data.size == 0;
}

// Host code reaches these without the tool seeing it.
bool is_opaque(ObjectKind kind) {
  return kind == ObjectKind::kManaged || kind == ObjectKind::kImported;
}

void set_pitch(const OpenCall& call, trace::ObjectRecord* object) {
  const ApiRole role = role_of(call);
  if (role != ApiRole::kPitchedAlloc && role != ApiRole::kAlloc3D) return;
  const bool flat = role == ApiRole::kPitchedAlloc;
  const auto word = [&](std::size_t i) { return parameter_word(call.parameters, i); };
  const std::uint64_t rows =
      flat ? word(3) : std::max<std::uint64_t>(word(2), 1) * std::max<std::uint64_t>(word(3), 1);
  object->width = flat ? word(2) : word(1);
  object->pitch = rows == 0 ? object->size : object->size / rows;
}

}  // namespace

void Session::on_memory(ThreadState& thread, std::uint32_t id, const MemoryData& data) {
  using namespace sanitizer;
  const bool frees = id == kDeviceMemoryFree || id == kHostMemoryFree || id == kMemoryFreeAsync;
  frees ? on_free(thread, id, data) : on_allocation(thread, id, data);
}

void Session::on_allocation(ThreadState& thread, std::uint32_t id, const MemoryData& data) {
  if (is_for_the_driver(data)) return;
  const Lock lock(mutex_);
  const ApiRole role = role_of(thread.call);
  const LiveObject* same = live_.find_beginning(data.address);
  const bool is_peer_mapping = (data.flags & sanitizer::kMemoryPeer) != 0 && same != nullptr;
  const bool backs_a_pool = id == sanitizer::kDeviceMemoryAlloc && role == ApiRole::kAlloc &&
                            thread.call.traits->name.ends_with("Async");
  if (is_peer_mapping || backs_a_pool) return;
  const ContextPointer context = context_of(lock, data.context, data.device);
  trace::ObjectRecord object;
  object.kind = kind_of_memory(id, data, role);
  object.address = data.address;
  const bool is_global = object.kind == ObjectKind::kModuleGlobal;
  const std::uint64_t requested =
      is_global || role == ApiRole::kOther ? 0 : requested_bytes(role, thread.call.parameters);
  object.size = requested != 0 && object.kind != ObjectKind::kPitched ? requested : data.size;
  set_pitch(thread.call, &object);
  if (object.kind != ObjectKind::kPitched) object.pitch = object.width = 0;
  object.opaque = is_opaque(object.kind);
  const StreamState* stream =
      id == sanitizer::kMemoryAllocAsync
          ? &stream_of(lock, thread, *context, data.stream, data.stream_handle)
          : nullptr;
  if (is_global) {
    context->globals.unnamed.emplace_back(ObjectId{next_object_}, object.size);
  } else {
    thread.call.allocated = true;
  }
  add_object(lock, thread, *context, std::move(object), requested, stream);
  if (is_global) name_globals(lock, *context);
}

void Session::add_object(const Lock& lock, ThreadState& thread, const ContextState& context,
                         trace::ObjectRecord object, std::uint64_t requested,
                         const StreamState* stream) {
  object.id = ObjectId{next_object_++};
  object.device = context.device;
  object.context = context.id;
  const bool is_addressable = object.kind != ObjectKind::kArray;
  if (is_addressable) {
    const LiveObject live{object.id, object.kind, object.context, object.address,
                          object.address + object.size};
    for (const LiveObject& gone : live_.insert(live))
      end_object(lock, gone);
  }
  if (object.kind == ObjectKind::kModuleGlobal) {
    object.allocated_by = recorder_.next_api();
    recorder_.write(object);
    return;
  }
  trace::GpuApi api = new_api(lock, thread, trace::ApiKind::kAlloc, context, "memory allocation");
  if (stream != nullptr) api.stream = stream->id;
  api.payload = trace::AllocApi{object.id, requested != 0 ? requested : object.size, 0};
  const ApiId id = recorder_.issue(std::move(api));
  object.allocated_by = id;
  recorder_.write(object);
  thread.call.api = id;
  thread.call.issued = true;
}

void Session::name_globals(const Lock&, ContextState& context) {
  GlobalNames& names = context.globals;
  std::vector<std::uint64_t> sizes;
  for (const auto& [id, size] : names.unnamed) {
    sizes.push_back(size);
  }
  const std::vector<std::size_t> matches = match_globals(names.unclaimed, sizes);
  GlobalNames left;
  std::vector<char> claimed(names.unclaimed.size());
  for (std::size_t i = 0; i < matches.size(); ++i) {
    if (matches[i] == names.unclaimed.size()) {
      left.unnamed.push_back(names.unnamed[i]);
      continue;
    }
    claimed[matches[i]] = 1;
    const ModuleGlobal& global = names.unclaimed[matches[i]];
    recorder_.write(trace::ObjectNameRecord{names.unnamed[i].first, global.name});
    if (global.is_constant)
      cover(trace::CoverageKind::kOpaqueObject, "constant memory: reads are not seen", std::nullopt,
            1, names.unnamed[i].first);
  }
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    if (claimed[i] == 0) left.unclaimed.push_back(names.unclaimed[i]);
  }
  names = std::move(left);
}

void Session::end_object(const Lock&, const LiveObject& object) {
  recorder_.write_after_kept(trace::ObjectEndRecord{object.id, recorder_.next_api()});
}

// Frees are recorded where they are entered (enter_free) or, when stream-ordered, here. What is
// still there when the driver frees it went with its module, its pool or its import.
void Session::on_free(ThreadState& thread, std::uint32_t id, const MemoryData& data) {
  const Lock lock(mutex_);
  if (thread.call.freeing == data.address) return;
  const ContextPointer context = context_of(lock, data.context, data.device);
  if (context->ended) return;
  const ApiRole role = role_of(thread.call);
  if (id == sanitizer::kMemoryFreeAsync) {
    StreamState& stream = stream_of(lock, thread, *context, data.stream, data.stream_handle);
    return issue_free(lock, thread, *context, data.address, &stream);
  }
  if (role == ApiRole::kResetDevice || live_.find_beginning(data.address) == nullptr) return;
  if (const auto gone = live_.remove(data.address)) {
    end_object(lock, *gone);
    end_orphans(lock, gone->begin, gone->end);
  }
}

void Session::issue_free(const Lock& lock, ThreadState& thread, const ContextState& context,
                         std::uint64_t address, const StreamState* stream) {
  OpenCall& call = thread.call;
  trace::GpuApi api = new_api(lock, thread, trace::ApiKind::kFree, context, "memory free");
  trace::FreeApi payload;
  payload.address = address;
  payload.stream_ordered = stream != nullptr;
  if (stream != nullptr) api.stream = stream->id;
  if (const auto freed = live_.remove(address)) {
    payload.object = freed->id;
    call.freed = *freed;
    call.has_freed = true;
  }
  api.blocks_host = role_of(call) == ApiRole::kFree && call.has_freed;
  api.payload = payload;
  call.api = recorder_.issue(std::move(api));
  call.issued = true;
}

void Session::enter_free(ThreadState& thread, const sanitizer::ApiData& data) {
  OpenCall& call = thread.call;
  const std::uint64_t address = parameter_word(call.parameters, 0);
  if (address == 0) return;  // makes a context at most; told of at the exit
  const Lock lock(mutex_);
  const ContextPointer context = context_of(lock, data.context);
  if (call.traits->role == ApiRole::kUnmap) {
    const std::uint64_t end = address + parameter_word(call.parameters, 1);
    while (const LiveObject* object = live_.first_in(address, end)) {
      issue_free(lock, thread, *context, object->begin, nullptr);
    }
    return;
  }
  call.freeing = address;
  issue_free(lock, thread, *context, address, nullptr);
}

void Session::exit_free(ThreadState& thread, const sanitizer::ApiData& data, std::int32_t error) {
  OpenCall& call = thread.call;
  const bool blocks = call.traits->role == ApiRole::kFree && call.has_freed;
  {
    const Lock lock(mutex_);
    if (contexts_.empty() && data.context == nullptr) return;
    const ContextPointer context = context_of(lock, data.context);
    const bool captured = call.traits->role == ApiRole::kAsyncFree && error == 0;  // by a graph
    if (!call.issued && captured) return;
    if (!call.issued) {
      issue_free(lock, thread, *context, parameter_word(call.parameters, 0), nullptr);
    }
    call.freeing = 0;
    if (error != 0) {
      trace::GpuApi* api = recorder_.kept(call.api);
      if (api != nullptr) std::get<trace::FreeApi>(api->payload).error = error;
      if (api != nullptr) api->blocks_host = false;
      if (call.has_freed) live_.insert(call.freed);
      return;
    }
    if (blocks) note_done(lock, *context, nullptr, call.submitted);
    recorder_.complete(thread.id, now());
    const std::uint64_t begin = parameter_word(call.parameters, 0);
    const bool unmaps = call.traits->role == ApiRole::kUnmap;
    end_orphans(lock, begin, unmaps ? begin + parameter_word(call.parameters, 1) : call.freed.end);
  }
  if (blocks) harvest();
}

// Failures, and allocations that no resource callback told of.
void Session::exit_allocation(ThreadState& thread, const sanitizer::ApiData& data,
                              std::int32_t error) {
  OpenCall& call = thread.call;
  const ApiRole role = call.traits->role;
  const Lock lock(mutex_);
  if (call.allocated || (contexts_.empty() && data.context == nullptr)) return;
  const ContextPointer context = context_of(lock, data.context);
  const std::uint64_t requested = role == ApiRole::kArrayAlloc
                                      ? array_bytes(*call.traits, call.parameters)
                                      : requested_bytes(role, call.parameters);
  if (error != 0) {
    trace::GpuApi api =
        new_api(lock, thread, trace::ApiKind::kAlloc, *context, "memory allocation");
    api.payload = trace::AllocApi{trace::kNoObject, requested, error};
    recorder_.issue(std::move(api));
    return;
  }
  const bool is_plain = role == ApiRole::kAlloc || role == ApiRole::kMap;
  if (!is_plain || requested == 0) return;
  trace::ObjectRecord object;
  const bool names_address = role == ApiRole::kMap || call.traits->name.ends_with("HostRegister");
  const std::uint64_t word = parameter_word(call.parameters, 0);
  object.address = names_address ? word : *reinterpret_cast<const std::uint64_t*>(word);
  const bool on_host = call.traits->name.find("Host") != std::string::npos;
  object.kind = role == ApiRole::kMap ? ObjectKind::kVirtual
                : on_host             ? ObjectKind::kHostPinned
                                      : ObjectKind::kDevice;
  object.size = requested;
  if (object.address != 0)
    add_object(lock, thread, *context, std::move(object), requested, nullptr);
}

void Session::on_array(ThreadState& thread, const sanitizer::ArrayData& data, bool created) {
  const Lock lock(mutex_);
  const ContextPointer context = context_of(lock, data.context);
  if (created) {
    trace::ObjectRecord object;
    object.kind = ObjectKind::kArray;
    object.opaque = true;  // textures and surfaces are read without the tool seeing it
    const bool described = role_of(thread.call) == ApiRole::kArrayAlloc;
    object.size = described ? array_bytes(*thread.call.traits, thread.call.parameters)
                            : data.width * std::max<std::uint64_t>(data.height, 1) *
                                  std::max<std::uint64_t>(data.depth, 1);
    thread.call.allocated = true;
    arrays_[data.array] = ObjectId{next_object_};
    hold_bytes(lock, context, reinterpret_cast<std::uint64_t>(data.array), object.size);
    return add_object(lock, thread, *context, std::move(object), object.size, nullptr);
  }
  release_bytes(lock, reinterpret_cast<std::uint64_t>(data.array));
  const auto known = arrays_.find(data.array);
  if (known == arrays_.end() || context->ended) return;
  trace::GpuApi api = new_api(lock, thread, trace::ApiKind::kFree, *context, "array free");
  api.payload = trace::FreeApi{known->second, false, 0, 0};
  recorder_.issue(std::move(api));
  arrays_.erase(known);
}

// No instruction that can be patched reads through a texture: from here on the memory may be read
// without the tool seeing it.
void Session::note_texture(const OpenCall& call) {
  const std::uint64_t address = texture_memory(call.parameters);
  if (address == 0) return;
  const Lock lock(mutex_);
  const LiveObject* object = live_.find(address);
  if (object != nullptr)
    cover(trace::CoverageKind::kOpaqueObject, "may be read through a texture", std::nullopt, 1,
          object->id);
}

void Session::on_external_memory(ThreadState& thread, std::uint32_t id,
                                 const sanitizer::ExternalMemoryData& data) {
  const Lock lock(mutex_);
  const ContextPointer context = context_of(lock, data.context, data.device);
  if (id == sanitizer::kExternalMapped && data.size != 0) {
    trace::ObjectRecord object;
    object.kind = ObjectKind::kImported;
    object.address = data.address;
    object.size = data.size;
    object.opaque = true;
    add_object(lock, thread, *context, std::move(object), data.size, nullptr);
  }
}

}  // namespace drgpum::profiler

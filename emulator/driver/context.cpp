// SPDX-License-Identifier: Apache-2.0
// Contexts: made, current, primary, destroyed; their limits.

#include <algorithm>
#include <mutex>

#include "emulator/driver/call.h"
#include "emulator/machine/module_loader.h"

namespace drgpum::emulator::driver {
namespace {

constexpr unsigned kApiVersion = 13000;
constexpr int kLowestPriority = 0;
constexpr int kHighestPriority = -5;

void tell_context(Section& section, Context& context, bool creation, Phase phase) {
  ContextEvent event;
  event.creation = creation;
  event.phase = phase;
  event.context = &context;
  event.device = context.device->ordinal;
  section.tell_now([&](Observer& observer) { observer.on_context(event); });
}

Context* create_context(Section& section, Device& device, unsigned flags, bool primary) {
  MachineCore& core = section.core();
  auto made = std::make_unique<Context>();
  made->device = &device;
  made->is_primary = primary;
  made->flags = flags;
  made->id = core.next_id();
  made->legacy.context = made.get();
  made->legacy.kind = StreamKind::kLegacy;
  made->legacy.id = core.next_id();
  made->limits = {{CU_LIMIT_STACK_SIZE, 1024},
                  {CU_LIMIT_PRINTF_FIFO_SIZE, 1u << 20},
                  {CU_LIMIT_MALLOC_HEAP_SIZE, 8u << 20},
                  {CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH, 2},
                  {CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048},
                  {CU_LIMIT_MAX_L2_FETCH_GRANULARITY, 64},
                  {CU_LIMIT_PERSISTING_L2_CACHE_SIZE, 0}};
  tell_context(section, *made, true, Phase::kStarting);
  Context* context = core.contexts.add(std::move(made));
  tell_context(section, *context, true, Phase::kFinished);
  return context;
}

template <typename T, typename Keep>
std::vector<T*> those_of(const HandleSet<T>& set, Keep keep) {
  std::vector<T*> found;
  set.for_each([&](T& object) {
    if (keep(object)) found.push_back(&object);
  });
  return found;
}

// Frees what the context still holds. Observers are not told: it is the leak that they look for.
void release_everything(Section& section, Context& context) {
  MachineCore& core = section.core();
  const auto mine = [&](const auto& object) { return object.context == &context; };
  for (Module* module : those_of(core.modules, mine)) {
    for (const auto& [name, function] : module->functions)
      core.functions.erase(function.get());
    if (module->library != nullptr) module->library->modules.erase(&context);
    core.modules.remove(module);
  }
  for (Stream* stream : those_of(core.streams, mine))
    core.streams.remove(stream);
  for (Event* event : those_of(core.events, mine))
    core.events.remove(event);
  for (Array* array : those_of(core.arrays, mine))
    core.arrays.remove(array);
  for (MipmappedArray* array : those_of(core.mipmapped_arrays, mine))
    core.mipmapped_arrays.remove(array);
  for (Texture* texture : those_of(core.textures.objects, mine))
    core.textures.objects.remove(texture);
  core.contexts.for_each([&](Context& other) { other.peers.erase(&context); });
  core.memory->free_all_of(&context);
}

void destroy_context(Section& section, Context& context) {
  synchronize_context(section, context);
  tell_context(section, context, false, Phase::kStarting);
  release_everything(section, context);
  if (context.device->primary == &context) context.device->primary = nullptr;
  section.core().retire(&context);
  tell_context(section, context, false, Phase::kFinished);
}

CUresult create_current(CUcontext* result, unsigned flags, CUdevice ordinal) {
  MachineCall call;
  Device* device = call.device(ordinal);
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  Context* context = create_context(call, *device, flags, false);
  call.core().context_stack().push_back(context);
  *result = reinterpret_cast<CUcontext>(context);
  return CUDA_SUCCESS;
}

// Observers hear of a new context with the machine's lock free: this one keeps a second thread from
// making the device's primary context meanwhile.
std::recursive_mutex primary_lock;

CUcontext handle(Context* context) {
  return reinterpret_cast<CUcontext>(context);
}

}  // namespace

CUresult cuDevicePrimaryCtxRetain(CUcontext* result, CUdevice ordinal) {
  const std::lock_guard primary(primary_lock);
  MachineCall call;
  Device* device = call.device(ordinal);
  if (result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (device->primary == nullptr)
    device->primary = create_context(call, *device, device->primary_flags, true);
  ++device->primary_retains;
  *result = handle(device->primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice ordinal) {
  const std::lock_guard primary(primary_lock);
  MachineCall call;
  Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (device->primary_retains == 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (--device->primary_retains == 0 && device->primary != nullptr)
    destroy_context(call, *device->primary);
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxReset(CUdevice ordinal) {
  const std::lock_guard primary(primary_lock);
  MachineCall call;
  Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (device->primary != nullptr) destroy_context(call, *device->primary);
  device->primary_retains = 0;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice ordinal, unsigned flags) {
  MachineCall call;
  Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  device->primary_flags = flags;
  if (device->primary != nullptr) device->primary->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
  MachineCall call;
  const Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = device->primary_flags;
  *active = device->primary != nullptr ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuCtxCreate_v2(CUcontext* result, unsigned flags, CUdevice device) {
  return create_current(result, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext* result, CUexecAffinityParam*, int affinities, unsigned flags,
                        CUdevice device) {
  if (affinities != 0) return unsupported("execution affinity of a context");
  return create_current(result, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext* result, CUctxCreateParams* parameters, unsigned flags,
                        CUdevice device) {
  if (parameters != nullptr && parameters->numExecAffinityParams != 0)
    return unsupported("execution affinity of a context");
  return create_current(result, flags, device);
}

CUresult cuCtxDestroy(CUcontext which) {
  MachineCall call;
  MachineCore& core = call.core();
  Context* context = core.contexts.get(which);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->is_primary) return CUDA_ERROR_INVALID_CONTEXT;
  if (core.context_of_thread() == context) core.context_stack().pop_back();
  destroy_context(call, *context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPushCurrent(CUcontext which) {
  MachineCall call;
  Context* context = call.core().contexts.get(which);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  call.core().context_stack().push_back(context);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext* popped) {
  MachineCall call;
  auto& stack = call.core().context_stack();
  if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (popped != nullptr) *popped = handle(stack.back());
  stack.pop_back();
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext which) {
  MachineCall call;
  auto& stack = call.core().context_stack();
  if (which != nullptr && call.core().contexts.get(which) == nullptr)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (!stack.empty()) stack.pop_back();
  if (which != nullptr) stack.push_back(call.core().contexts.get(which));
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext* current) {
  MachineCall call;
  if (current == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *current = handle(call.core().context_of_thread());
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice* device) {
  const ContextCall call;
  if (call.context == nullptr) return call.error;
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = call.context->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext which) {
  if (which == nullptr) return driver::cuCtxGetDevice(device);
  MachineCall call;
  const Context* context = call.core().contexts.get(which);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = context->device->ordinal;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetFlags(unsigned* flags) {
  const ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = call.context->flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetFlags(unsigned flags) {
  const ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  call.context->flags = flags;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetId(CUcontext which, unsigned long long* id) {
  MachineCall call;
  MachineCore& core = call.core();
  const Context* context =
      core.contexts.get(which != nullptr ? static_cast<void*>(which) : core.current_context());
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *id = context->id;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetApiVersion(CUcontext which, unsigned* version) {
  MachineCall call;
  MachineCore& core = call.core();
  if (core.contexts.get(which != nullptr ? static_cast<void*>(which) : core.current_context()) ==
      nullptr)
    return CUDA_ERROR_INVALID_CONTEXT;
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kApiVersion;
  return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize_v1() {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  call.charge();
  synchronize_context(call, *call.context);
  SynchronizeEvent event;
  event.context = call.context;
  event.whole_context = true;
  call.tell([event](Observer& observer) { observer.on_synchronize(event); });
  return call.context->sticky;
}

CUresult cuCtxSynchronize_v2(CUcontext which) {
  MachineCall call;
  Context* context = call.core().contexts.get(which);
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (context->sticky != CUDA_SUCCESS) return context->sticky;
  synchronize_context(call, *context);
  SynchronizeEvent event;
  event.context = context;
  event.whole_context = true;
  call.tell([event](Observer& observer) { observer.on_synchronize(event); });
  return context->sticky;
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  const ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  const auto it = call.context->limits.find(limit);
  if (it == call.context->limits.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  it->second = value;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  const ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const auto it = call.context->limits.find(limit);
  if (it == call.context->limits.end()) return CUDA_ERROR_UNSUPPORTED_LIMIT;
  *value = it->second;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  const ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *config = call.context->cache_config;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  const ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  call.context->cache_config = config;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  const ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *config = CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE;
  return CUDA_SUCCESS;
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig) {
  const ContextCall call;
  return call.error;
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  const ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  if (least != nullptr) *least = kLowestPriority;
  if (greatest != nullptr) *greatest = kHighestPriority;
  return CUDA_SUCCESS;
}

CUresult cuCtxResetPersistingL2Cache() {
  const ContextCall call;
  return call.error;
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam*, CUexecAffinityType) {
  return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
}

CUresult cuCtxEnablePeerAccess(CUcontext which, unsigned flags) {
  const ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  Context* peer = MachineCore::instance().contexts.get(which);
  if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (peer->device == call.context->device) return CUDA_ERROR_INVALID_DEVICE;
  return call.context->peers.insert(peer).second ? CUDA_SUCCESS
                                                 : CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
}

CUresult cuCtxDisablePeerAccess(CUcontext which) {
  const ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  Context* peer = MachineCore::instance().contexts.get(which);
  if (peer == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return call.context->peers.erase(peer) != 0 ? CUDA_SUCCESS : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
}

}  // namespace drgpum::emulator::driver

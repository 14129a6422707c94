// SPDX-License-Identifier: Apache-2.0
// Records, one per thing that happened on the device or in the API.
#include "emulator/cupti/activity.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <unistd.h>

#include "emulator/machine/of_thread.h"

namespace drgpum::emulator::cupti {
namespace {

// The API call that this thread is in: what happens meanwhile belongs to it.
struct CallFrame {
  std::uint32_t correlation;
  std::uint64_t begin;
};
struct Calls {};
std::vector<CallFrame>& calls() {
  return OfThread<std::vector<CallFrame>, Calls>::get();
}

struct External {
  CUpti_ExternalCorrelationKind kind;
  std::uint64_t id;
};
struct Externals {};
std::vector<External>& externals() {
  return OfThread<std::vector<External>, Externals>::get();
}

// Nested driver calls belong to the runtime call around them.
std::uint32_t current_correlation() {
  return calls().empty() ? 0 : calls().front().correlation;
}

constexpr CUpti_ActivityKind kKinds[] = {CUPTI_ACTIVITY_KIND_KERNEL,
                                         CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMCPY,
                                         CUPTI_ACTIVITY_KIND_MEMSET,
                                         CUPTI_ACTIVITY_KIND_MEMORY2,
                                         CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,
                                         CUPTI_ACTIVITY_KIND_DRIVER,
                                         CUPTI_ACTIVITY_KIND_RUNTIME,
                                         CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION};

std::uint8_t copy_kind(std::uint32_t direction) {
  switch (direction) {
    case 1:
      return CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
    case 2:
      return CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
    case 3:
      return CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
    case 4:
      return CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
    default:
      return CUPTI_ACTIVITY_MEMCPY_KIND_UNKNOWN;
  }
}

CUpti_ActivityMemoryKind memory_kind(const MemoryEvent& event) {
  if ((event.flags & kMemoryManaged) != 0) return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
  if ((event.flags & kMemoryModule) != 0) return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC;
  const bool host = event.kind == MemoryKind::kHostAlloc || event.kind == MemoryKind::kHostFree;
  return host ? CUPTI_ACTIVITY_MEMORY_KIND_PINNED : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

bool allocates(MemoryKind kind) {
  return kind == MemoryKind::kDeviceAlloc || kind == MemoryKind::kHostAlloc ||
         kind == MemoryKind::kAsyncAlloc;
}

bool is_async(MemoryKind kind) {
  return kind == MemoryKind::kAsyncAlloc || kind == MemoryKind::kAsyncFree;
}

// Where host and device memory meet in a copy, by its direction.
std::uint8_t memory_side(bool host) {
  return host ? CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE : CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
}

std::int32_t number(std::uint32_t value) {
  return static_cast<std::int32_t>(value);
}

}  // namespace

CUptiResult Activity::enable(CUpti_ActivityKind kind, bool wanted) {
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= CUPTI_ACTIVITY_KIND_COUNT)
    return CUPTI_ERROR_INVALID_KIND;
  if (std::ranges::find(kKinds, kind) == std::end(kKinds)) return CUPTI_ERROR_NOT_COMPATIBLE;
  enabled_[kind] = wanted;
  return CUPTI_SUCCESS;
}

bool Activity::is_enabled(CUpti_ActivityKind kind) const {
  return enabled_[kind].load(std::memory_order_relaxed);
}

CUptiResult Activity::subscribe(CUpti_CallbackFunc callback, void* user) {
  if (callback == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  if (has_subscriber()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  subscription_ = {callback, user};
  return CUPTI_SUCCESS;
}

CUptiResult Activity::unsubscribe() {
  if (!has_subscriber()) return CUPTI_ERROR_INVALID_PARAMETER;
  for (auto& domain : wanted_)
    for (auto& flag : domain)
      flag = false;
  subscription_ = {};
  return CUPTI_SUCCESS;
}

CUptiResult Activity::want(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool wanted) {
  if (domain <= 0 || static_cast<std::size_t>(domain) >= kDomains || id == 0 || id >= kIds)
    return CUPTI_ERROR_INVALID_PARAMETER;
  wanted_[domain][id] = wanted;
  return CUPTI_SUCCESS;
}

CUptiResult Activity::want(CUpti_CallbackDomain domain, bool wanted) {
  if (domain <= 0 || static_cast<std::size_t>(domain) >= kDomains)
    return CUPTI_ERROR_INVALID_PARAMETER;
  for (auto& flag : wanted_[domain])
    flag = wanted;
  return CUPTI_SUCCESS;
}

CUptiResult Activity::is_wanted(CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                std::uint32_t* wanted) const {
  if (domain <= 0 || static_cast<std::size_t>(domain) >= kDomains || id == 0 || id >= kIds ||
      wanted == nullptr)
    return CUPTI_ERROR_INVALID_PARAMETER;
  *wanted = wanted_[domain][id] ? 1 : 0;
  return CUPTI_SUCCESS;
}

void Activity::push_correlation(CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  externals().push_back({kind, id});
}

CUptiResult Activity::pop_correlation(CUpti_ExternalCorrelationKind kind, std::uint64_t* id) {
  const auto last = std::ranges::find(externals().rbegin(), externals().rend(), kind, &External::kind);
  if (last == externals().rend()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (id != nullptr) *id = last->id;
  externals().erase(std::next(last).base());
  return CUPTI_SUCCESS;
}

void Activity::fire(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) const {
  if (has_subscriber() && id < kIds && wanted_[domain][id])
    subscription_.callback(subscription_.user, domain, id, data);
}

void Activity::on_api(const ApiCall& call) {
  if (call.site == Site::kEnter) {
    calls().push_back({next_correlation_.fetch_add(1), now()});
    return fire_api(call, calls().back().correlation);
  }
  if (calls().empty()) return;  // entered before anyone looked
  const CallFrame frame = calls().back();
  fire_api(call, frame.correlation);
  record_api(call, frame.correlation, frame.begin);
  calls().pop_back();
}

void Activity::fire_api(const ApiCall& call, std::uint32_t correlation) {
  static thread_local std::uint64_t tool_word = 0;
  CUpti_CallbackData data{};
  data.callbackSite = call.site == Site::kEnter ? CUPTI_API_ENTER : CUPTI_API_EXIT;
  data.functionName = call.function;
  data.functionParams = call.parameters;
  data.functionReturnValue = call.site == Site::kExit ? call.return_value : nullptr;
  data.symbolName = call.symbol;
  data.context = static_cast<CUcontext>(call.context);
  data.contextUid = numbering_.context(call.context);
  data.correlationData = &tool_word;
  data.correlationId = correlation;
  const bool runtime = call.domain == ApiDomain::kRuntime;
  fire(runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API, call.id, &data);
}

void Activity::record_api(const ApiCall& call, std::uint32_t correlation, std::uint64_t begin) {
  const auto kind =
      call.domain == ApiDomain::kRuntime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
  if (is_enabled(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) {
    for (const External& external : externals()) {
      CUpti_ActivityExternalCorrelation record{};
      record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
      record.externalKind = external.kind;
      record.externalId = external.id;
      record.correlationId = correlation;
      queue_.append(record);
    }
  }
  if (!is_enabled(kind)) return;
  CUpti_ActivityAPI record{};
  record.kind = kind;
  record.cbid = call.id;
  record.start = begin;
  record.end = now();
  record.processId = static_cast<std::uint32_t>(getpid());
  record.threadId = static_cast<std::uint32_t>(gettid());
  record.correlationId = correlation;
  if (call.return_value != nullptr)
    std::memcpy(&record.returnValue, call.return_value, sizeof record.returnValue);
  queue_.append(record);
}

void Activity::on_context(const ContextEvent& event) {
  CUpti_ResourceData data{};
  data.context = static_cast<CUcontext>(event.context);
  if (event.creation && event.phase == Phase::kFinished) {
    numbering_.set_device(event.context, event.device);
    fire(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED, &data);
  } else if (!event.creation && event.phase == Phase::kStarting) {
    fire(CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, &data);
  } else if (!event.creation) {
    numbering_.forget_context(event.context);
  }
}

void Activity::on_stream(const StreamEvent& event) {
  CUpti_ResourceData data{};
  data.context = static_cast<CUcontext>(event.context);
  data.resourceHandle.stream = static_cast<CUstream>(event.stream);
  fire(CUPTI_CB_DOMAIN_RESOURCE,
       event.creation ? CUPTI_CBID_RESOURCE_STREAM_CREATED
                      : CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING,
       &data);
  if (event.creation)
    numbering_.stream(event.unique);
  else
    numbering_.forget_stream(event.unique);
}

void Activity::on_memory(const MemoryEvent& event) {
  const bool range =
      event.kind == MemoryKind::kVirtualReserve || event.kind == MemoryKind::kVirtualRelease;
  if (range || event.kind == MemoryKind::kAsyncFreeDone || !is_enabled(CUPTI_ACTIVITY_KIND_MEMORY2))
    return;
  CUpti_ActivityMemory4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMORY2;
  record.memoryOperationType = allocates(event.kind)
                                   ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
                                   : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
  record.memoryKind = memory_kind(event);
  record.correlationId = current_correlation();
  record.address = event.address;
  record.bytes = event.size;
  record.timestamp = now();
  record.processId = static_cast<std::uint32_t>(getpid());
  record.deviceId = static_cast<std::uint32_t>(event.device);
  record.contextId = numbering_.context(event.context);
  record.streamId = is_async(event.kind) ? numbering_.stream(event.unique_stream)
                                         : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  record.isAsync = is_async(event.kind) ? 1 : 0;
  if (event.pool != nullptr) {
    record.memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
    record.memoryPoolConfig.address = reinterpret_cast<std::uint64_t>(event.pool);
  }
  queue_.append(record);
}

void Activity::record_wait(CUpti_ActivitySynchronizationType type, Handle context,
                           Handle unique_stream) {
  if (!is_enabled(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) return;
  CUpti_ActivitySynchronization2 record{};
  record.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  record.type = type;
  record.start = calls().empty() ? now() : calls().front().begin;
  record.end = now();
  record.correlationId = current_correlation();
  record.contextId = numbering_.context(context);
  record.streamId = unique_stream != nullptr ? numbering_.stream(unique_stream)
                                             : CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  record.cudaEventId = CUPTI_SYNCHRONIZATION_INVALID_VALUE;
  queue_.append(record);
}

void Activity::on_synchronize(const SynchronizeEvent& event) {
  CUpti_SynchronizeData data{};
  data.context = static_cast<CUcontext>(event.context);
  data.stream = static_cast<CUstream>(event.stream);
  fire(CUPTI_CB_DOMAIN_SYNCHRONIZE,
       event.whole_context ? CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED
                           : CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED,
       &data);
  record_wait(event.whole_context ? CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE
                                  : CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
              event.context, event.unique_stream);
}

void Activity::on_event(const EventEvent& event) {
  if (event.action == EventAction::kSynchronize)
    record_wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, event.context, nullptr);
  if (event.action == EventAction::kStreamWait)
    record_wait(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, event.context,
                event.unique_stream);
}

namespace {

// What an activity does not tell of a kernel, kept from its launch on the same thread.
struct LaunchFacts {
  std::uint64_t grid_id = 0;
  std::uint32_t shared_bytes = 0;
  exec::Dim3 cluster{0, 0, 0};
};
thread_local LaunchFacts last_launch;

}  // namespace

void Activity::on_launch(const LaunchEvent& event) {
  last_launch = {event.grid_id, event.shared_bytes, event.cluster};
}

void Activity::on_activity(const ActivityEvent& event) {
  switch (event.kind) {
    case ActivityEvent::Kind::kKernel:
      return record_kernel(event);
    case ActivityEvent::Kind::kMemcpy:
      return record_copy(event);
    case ActivityEvent::Kind::kMemset:
      return record_set(event);
    case ActivityEvent::Kind::kMemory:
    case ActivityEvent::Kind::kSynchronize:
      return;  // told in more detail elsewhere
  }
}

void Activity::record_kernel(const ActivityEvent& event) {
  const bool concurrent = is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  if (!concurrent && !is_enabled(CUPTI_ACTIVITY_KIND_KERNEL)) return;
  CUpti_ActivityKernel10 record{};
  record.kind = concurrent ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL : CUPTI_ACTIVITY_KIND_KERNEL;
  record.start = event.begin_ns;
  record.end = event.end_ns;
  record.completed = event.end_ns;
  record.deviceId = numbering_.device_of(event.context);
  record.contextId = numbering_.context(event.context);
  record.streamId = numbering_.stream(event.unique_stream);
  record.gridX = number(event.grid.x);
  record.gridY = number(event.grid.y);
  record.gridZ = number(event.grid.z);
  record.blockX = number(event.block.x);
  record.blockY = number(event.block.y);
  record.blockZ = number(event.block.z);
  if (last_launch.grid_id == event.grid_id) {
    record.dynamicSharedMemory = number(last_launch.shared_bytes);
    record.clusterX = last_launch.cluster.x;
    record.clusterY = last_launch.cluster.y;
    record.clusterZ = last_launch.cluster.z;
  }
  record.correlationId = current_correlation();
  record.gridId = static_cast<std::int64_t>(event.grid_id);
  record.name = numbering_.keep(event.name);
  queue_.append(record);
}

void Activity::record_copy(const ActivityEvent& event) {
  if (!is_enabled(CUPTI_ACTIVITY_KIND_MEMCPY)) return;
  CUpti_ActivityMemcpy6 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  record.copyKind = copy_kind(event.detail);
  record.srcKind = memory_side(event.detail == 1 || event.detail == 3);
  record.dstKind = memory_side(event.detail == 2 || event.detail == 3);
  record.bytes = event.bytes;
  record.start = event.begin_ns;
  record.end = event.end_ns;
  record.deviceId = numbering_.device_of(event.context);
  record.contextId = numbering_.context(event.context);
  record.streamId = numbering_.stream(event.unique_stream);
  record.correlationId = current_correlation();
  record.copyCount = 1;
  queue_.append(record);
}

void Activity::record_set(const ActivityEvent& event) {
  if (!is_enabled(CUPTI_ACTIVITY_KIND_MEMSET)) return;
  CUpti_ActivityMemset4 record{};
  record.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  record.value = event.detail;
  record.bytes = event.bytes;
  record.start = event.begin_ns;
  record.end = event.end_ns;
  record.deviceId = numbering_.device_of(event.context);
  record.contextId = numbering_.context(event.context);
  record.streamId = numbering_.stream(event.unique_stream);
  record.correlationId = current_correlation();
  record.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  queue_.append(record);
}

}  // namespace drgpum::emulator::cupti

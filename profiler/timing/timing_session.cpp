// SPDX-License-Identifier: Apache-2.0
#include "profiler/timing/timing_session.h"

#include <atomic>
#include <cstdlib>
#include <utility>

namespace drgpum::profiler {
namespace {

std::atomic<TimingSession*> live{nullptr};

constexpr std::size_t kBufferBytes = 256 * 1024;
constexpr std::size_t kBufferAlignment = 8;
constexpr std::uint32_t kFlushEveryMs = 1000;  // a program that is killed leaves most of its times

constexpr CUpti_ActivityKind kNeeded[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET};
constexpr CUpti_ActivityKind kUseful[] = {CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMORY2,
                                          CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};

trace::GpuApi api_of(trace::ApiKind kind, trace::ApiPayload payload) {
  trace::GpuApi api;
  api.kind = kind;
  api.payload = std::move(payload);
  return api;
}

trace::Region region_of(std::uint64_t bytes) {
  trace::Region region;
  region.width = bytes;
  return region;
}

trace::SyncScope scope_of(CUpti_ActivitySynchronizationType type) {
  switch (type) {
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE:
      return trace::SyncScope::kEvent;
    case CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE:
      return trace::SyncScope::kStream;
    default:
      return trace::SyncScope::kContext;
  }
}

}  // namespace

TimingSession::TimingSession(const CuptiApi& api, std::unique_ptr<trace::TraceWriter> writer)
    : api_(api), writer_(std::move(writer)) {}

TimingSession::~TimingSession() {
  TimingSession* self = this;
  live.compare_exchange_strong(self, nullptr);
}

Status TimingSession::start() {
  CUpti_SubscriberHandle subscriber = nullptr;
  RETURN_IF_ERROR(
      check_cupti(api_, api_.subscribe(&subscriber, on_callback, this), "cuptiSubscribe"));
  static_cast<void>(api_.enable_callback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                         CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING));
  live.store(this);
  RETURN_IF_ERROR(check_cupti(
      api_, api_.register_callbacks(on_buffer_requested, on_buffer_completed),
      "cuptiActivityRegisterCallbacks"));
  for (const CUpti_ActivityKind kind : kNeeded)
    RETURN_IF_ERROR(check_cupti(api_, api_.enable(kind), "cuptiActivityEnable"));
  for (const CUpti_ActivityKind kind : kUseful)
    static_cast<void>(api_.enable(kind));
  static_cast<void>(api_.flush_period(kFlushEveryMs));
  static_cast<void>(api_.get_timestamp(&start_ns_));
  return Ok{};
}

void TimingSession::finish(int exit_code) noexcept {
  if (live.load() != this) return;
  static_cast<void>(api_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  for (const CUpti_ActivityKind kind : kNeeded)
    static_cast<void>(api_.disable(kind));
  for (const CUpti_ActivityKind kind : kUseful)
    static_cast<void>(api_.disable(kind));
  live.store(nullptr);
  try {
    const std::lock_guard lock(mutex_);
    if (lost_ != 0) {
      writer_->append(trace::CoverageRecord{trace::CoverageKind::kLostRecords, std::nullopt,
                                            trace::kNoObject, lost_,
                                            "records that CUPTI dropped"});
    }
    writer_->append(trace::EndRecord{ApiId{next_api_}, true, exit_code});
    writer_->finish();
  } catch (...) {
    live.store(nullptr);  // the file stays unfinished, and says so
  }
}

void TimingSession::abandon() noexcept {
  live.store(nullptr);
  writer_->abandon();
}

void TimingSession::on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                        std::size_t* records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *records = 0;  // as many as fit
}

void TimingSession::on_buffer_completed(CUcontext context, std::uint32_t stream,
                                        std::uint8_t* buffer, std::size_t,
                                        std::size_t valid_bytes) {
  if (TimingSession* session = live.load()) {
    std::size_t dropped = 0;
    const bool counted =
        session->api_.dropped_records(context, stream, &dropped) == CUPTI_SUCCESS;
    try {
      const std::lock_guard lock(session->mutex_);
      session->lost_ += counted ? dropped : 0;
      session->take_all(buffer, valid_bytes);
    } catch (...) {
      live.store(nullptr);  // out of memory: what was written stays
    }
  }
  std::free(buffer);
}

// A context that ends takes with it the records that were not asked for.
void TimingSession::on_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {
  if (TimingSession* session = live.load()) {
    static_cast<void>(session->api_.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
  }
}

void TimingSession::take_all(std::uint8_t* buffer, std::size_t valid_bytes) {
  CUpti_Activity* record = nullptr;
  while (api_.next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
    take(*record);
}

void TimingSession::take(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return take(reinterpret_cast<const CUpti_ActivityKernel10&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
    case CUPTI_ACTIVITY_KIND_MEMCPY2:  // between devices: the same up to what is read of it
      return take(reinterpret_cast<const CUpti_ActivityMemcpy6&>(record));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return take(reinterpret_cast<const CUpti_ActivityMemset4&>(record));
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return take(reinterpret_cast<const CUpti_ActivityMemory4&>(record));
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return take(reinterpret_cast<const CUpti_ActivitySynchronization2&>(record));
    default:
      return;
  }
}

void TimingSession::take(const CUpti_ActivityKernel10& kernel) {
  trace::LaunchApi launch;
  launch.kernel = kernel_named(kernel.name);
  const std::int32_t sizes[] = {kernel.gridX,  kernel.gridY,  kernel.gridZ,
                                kernel.blockX, kernel.blockY, kernel.blockZ};
  for (std::size_t i = 0; i < 3; ++i) {
    launch.grid[i] = static_cast<std::uint32_t>(sizes[i]);
    launch.block[i] = static_cast<std::uint32_t>(sizes[i + 3]);
  }
  write(api_of(trace::ApiKind::kLaunch, launch), kernel.streamId, kernel.start, kernel.end);
}

void TimingSession::take(const CUpti_ActivityMemcpy6& copy) {
  trace::MemcpyApi api;
  api.source = api.destination = region_of(copy.bytes);
  write(api_of(trace::ApiKind::kMemcpy, api), copy.streamId, copy.start, copy.end);
}

void TimingSession::take(const CUpti_ActivityMemset4& set) {
  trace::MemsetApi api;
  api.destination = region_of(set.bytes);
  api.value = set.value;
  write(api_of(trace::ApiKind::kMemset, api), set.streamId, set.start, set.end);
}

void TimingSession::take(const CUpti_ActivityMemory4& memory) {
  if (memory.memoryKind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC) return;  // a module's globals
  const auto none = trace::kNoStream.value;
  if (memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION) {
    trace::AllocApi api;
    api.requested = memory.bytes;
    write(api_of(trace::ApiKind::kAlloc, api), none, memory.timestamp, memory.timestamp);
  } else if (memory.memoryOperationType == CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE) {
    write(api_of(trace::ApiKind::kFree, trace::FreeApi{}), none, memory.timestamp,
          memory.timestamp);
  }
}

void TimingSession::take(const CUpti_ActivitySynchronization2& wait) {
  if (wait.type == CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT) return;
  trace::SynchronizeApi api;
  api.scope = scope_of(wait.type);
  write(api_of(trace::ApiKind::kSynchronize, api), trace::kNoStream.value, wait.start, wait.end);
}

void TimingSession::write(trace::GpuApi api, std::uint32_t stream, std::uint64_t begin,
                          std::uint64_t end) {
  if (begin < start_ns_ || end < begin) return;  // CUPTI could not tell: 0, or from before
  if (stream != trace::kNoStream.value) api.stream = stream_numbered(stream);
  api.id = ApiId{next_api_++};
  writer_->append(api);
  writer_->append(trace::TimeRecord{api.id, begin - start_ns_, end - start_ns_});
}

KernelId TimingSession::kernel_named(const char* name) {
  const auto [found, is_new] =
      kernels_.try_emplace(name == nullptr ? "" : name,
                           KernelId{static_cast<std::uint32_t>(kernels_.size())});
  if (is_new) writer_->append(trace::KernelRecord{found->second, CubinId{0}, found->first});
  return found->second;
}

StreamId TimingSession::stream_numbered(std::uint32_t number) {
  if (streams_.insert(number).second) {
    trace::StreamRecord record;
    record.id = StreamId{number};
    writer_->append(record);
  }
  return StreamId{number};
}

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
// Packs records into the tool's buffers and walks over them.
#include "emulator/cupti/record_queue.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace drgpum::emulator::cupti {
namespace {

// How many bytes of whole records fit into `room`, and how many records that is.
struct Fit {
  std::size_t bytes = 0;
  std::size_t records = 0;
};

Fit fit(const std::byte* from, std::size_t available, std::size_t room, std::size_t most_records) {
  Fit result;
  while (result.bytes < available && result.records < most_records) {
    const std::size_t size =
        record_size(*reinterpret_cast<const CUpti_Activity*>(from + result.bytes));
    if (size == 0 || result.bytes + size > room) break;
    result.bytes += size;
    ++result.records;
  }
  return result;
}

}  // namespace

void RecordQueue::append(const std::byte* record, std::size_t size) {
  const std::lock_guard lock(mutex_);
  bytes_.insert(bytes_.end(), record, record + size);
}

void RecordQueue::set_callbacks(CUpti_BuffersCallbackRequestFunc request,
                                CUpti_BuffersCallbackCompleteFunc complete) {
  const std::lock_guard lock(mutex_);
  request_ = request;
  complete_ = complete;
}

CUptiResult RecordQueue::flush() {
  std::unique_lock lock(mutex_);
  const std::vector<std::byte> records = std::exchange(bytes_, {});
  const auto request = request_;
  const auto complete = complete_;
  lock.unlock();
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_OPERATION;
  for (std::size_t done = 0; done < records.size();) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0;
    std::size_t most_records = 0;  // 0: as many as fit
    request(&buffer, &size, &most_records);
    if (buffer == nullptr) return CUPTI_ERROR_OUT_OF_MEMORY;
    const Fit taken = fit(records.data() + done, records.size() - done, size,
                          most_records == 0 ? records.size() : most_records);
    std::memcpy(buffer, records.data() + done, taken.bytes);
    complete(nullptr, 0, buffer, size, taken.bytes);
    if (taken.bytes == 0) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
    done += taken.bytes;
  }
  return CUPTI_SUCCESS;
}

std::size_t record_size(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(CUpti_ActivityKernel10);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return sizeof(CUpti_ActivityMemory4);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    default:
      return 0;
  }
}

CUptiResult next_record(std::uint8_t* buffer, std::size_t valid_bytes, CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  auto* next = buffer;
  if (*record != nullptr) {
    const std::size_t size = record_size(**record);
    if (size == 0) return CUPTI_ERROR_INVALID_KIND;
    next = reinterpret_cast<std::uint8_t*>(*record) + size;
  }
  if (next >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}

}  // namespace drgpum::emulator::cupti

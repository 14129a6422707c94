// SPDX-License-Identifier: Apache-2.0
#pragma once
// Activity records on their way to the tool: kept until the tool asks for them, then packed into
// buffers that the tool gives.

#include <cstddef>
#include <mutex>
#include <type_traits>
#include <vector>

#include <cupti.h>

namespace drgpum::emulator::cupti {

// Thread-safe. The tool's callbacks are called without the lock.
class RecordQueue {
 public:
  template <typename Record>
  void append(const Record& record) {
    static_assert(std::is_trivially_copyable_v<Record> && sizeof(Record) % alignof(Slot) == 0);
    append(reinterpret_cast<const std::byte*>(&record), sizeof record);
  }

  void set_callbacks(CUpti_BuffersCallbackRequestFunc request,
                     CUpti_BuffersCallbackCompleteFunc complete);
  // Hands over everything that is kept. CUPTI_ERROR_INVALID_OPERATION without callbacks.
  CUptiResult flush();

 private:
  struct alignas(8) Slot {
    std::byte bytes[8];
  };

  void append(const std::byte* record, std::size_t size);

  std::mutex mutex_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  std::vector<std::byte> bytes_;
};

// Size of the record that starts here; 0 for a kind that this library never writes.
std::size_t record_size(const CUpti_Activity& record);

// The record after *record in a buffer's valid bytes, the first one when *record is null.
// CUPTI_ERROR_MAX_LIMIT_REACHED at the end.
CUptiResult next_record(std::uint8_t* buffer, std::size_t valid_bytes, CUpti_Activity** record);

}  // namespace drgpum::emulator::cupti

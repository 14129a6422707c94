// SPDX-License-Identifier: Apache-2.0
#pragma once
// What other programs show of calls beyond what patterns need: times, sizes of copies, marks.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "offline/order/evidence.h"
#include "proto/trace/record.h"

namespace drgpum {

// On the device, virtual or measured; kNoTime: not known.
struct DeviceSpan {
  std::uint64_t begin_ns = kNoTime;
  std::uint64_t end_ns = kNoTime;
  bool is_known() const { return begin_ns != kNoTime; }
};

// A copy or set.
struct TransferFact {
  std::uint32_t api = 0;
  bool is_set = false;
  trace::CopyDirection direction = trace::CopyDirection::kHostToDevice;  // of a copy
  std::uint64_t bytes = 0;
};

struct MarkFact {
  std::uint32_t api = 0;
  std::uint16_t thread = 0;
  trace::MarkKind kind = trace::MarkKind::kInstant;
  std::string name;
};

// Filled with the records of a trace as they are read.
class CallFacts {
 public:
  void add(const trace::Record& record);

  // When the host entered the call, since the process began; 0 where it is not known.
  std::uint64_t host_ns(std::uint32_t api) const { return api < host_.size() ? host_[api] : 0; }
  bool has_host_times() const { return has_host_times_; }
  DeviceSpan device_span(std::uint32_t api) const {
    return api < device_.size() ? device_[api] : DeviceSpan();
  }
  const TransferFact* transfer(std::uint32_t api) const;      // null: the call is none
  std::span<const MarkFact> marks() const { return marks_; }  // in issue order

 private:
  void add_call(const trace::GpuApi& call);

  std::vector<std::uint64_t> host_;
  bool has_host_times_ = false;
  std::vector<DeviceSpan> device_;
  std::vector<TransferFact> transfers_;  // by rising api
  std::vector<MarkFact> marks_;
};

}  // namespace drgpum

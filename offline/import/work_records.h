// SPDX-License-Identifier: Apache-2.0
#pragma once
// Kernels, copies and sets of a history as calls of a trace, with their times on the device. A
// launch is one whose accesses are not known; a copy says its direction and bytes, not its objects.

#include <cstdint>
#include <unordered_map>

#include "offline/import/call_writer.h"

namespace drgpum {

class WorkRecords {
 public:
  WorkRecords(const AllocatorHistory& history, const RecordSink& sink, CallWriter& calls)
      : history_(history), sink_(sink), calls_(calls) {}

  Status write(const HistoryWork& work);

 private:
  Result<KernelId> kernel_of(const HistoryWork& work);
  Status fill(const HistoryWork& work, trace::GpuApi& api);

  const AllocatorHistory& history_;
  const RecordSink& sink_;
  CallWriter& calls_;
  std::unordered_map<std::uint32_t, std::uint32_t> kernels_;  // by text
};

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a trace tells of the work of a run, in the terms by which two runs of a program can be
// compared: order on each stream, kernel name, grid and bytes. Never addresses.

#include <cstdint>
#include <string>
#include <vector>

#include "proto/base/result.h"
#include "proto/trace/record.h"
#include "proto/trace/trace_reader.h"

namespace drgpum::profiler {

// Lanes hold works in order: one for each stream, and two of the host.
inline constexpr std::uint64_t kMemoryLane = std::uint64_t{1} << 32;
inline constexpr std::uint64_t kWaitLane = kMemoryLane + 1;

struct Work {
  std::uint64_t what = 0;  // equal for equal kind, kernel, grid, block and bytes
  std::uint64_t lane = 0;
  ApiId api;
  std::uint64_t begin_ns = 0;  // 0 where the trace has no times
  std::uint64_t end_ns = 0;

  [[nodiscard]] bool on_device() const { return lane < kMemoryLane; }
};

struct TraceWorks {
  trace::ProcessRecord process;
  trace::ReadSummary summary;
  std::vector<Work> works;  // lane by lane in order: of time where there are times, else of calls
};

// Kernels, copies, sets, allocations, frees and waits that took effect.
Result<TraceWorks> works_of_trace(const std::string& path);

}  // namespace drgpum::profiler

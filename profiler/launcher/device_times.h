// SPDX-License-Identifier: Apache-2.0
#pragma once
// Puts the times of a timing run into the trace of the same program.

#include <cstdint>
#include <string>

#include "profiler/launcher/works_of_trace.h"
#include "proto/base/result.h"

namespace drgpum::profiler {

struct TimedCalls {
  std::uint64_t device_calls = 0;  // kernels, copies and sets of the trace
  std::uint64_t timed = 0;         // of those
};

// Rewrites the trace at `path` with a time for each call that `timing` shows again, and Coverage
// for the device's work that it does not. The file is replaced at the very end, so it is never half
// written. kUnsupported for a trace that is damaged or unfinished, which stays as it is.
Result<TimedCalls> add_device_times(const std::string& path, const TraceWorks& timing);

}  // namespace drgpum::profiler

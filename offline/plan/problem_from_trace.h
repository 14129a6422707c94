// SPDX-License-Identifier: Apache-2.0
#pragma once
// The planning problem that a trace poses.

#include <cstdint>

#include "offline/plan/problem.h"
#include "offline/trace/trace.h"

namespace drgpum {

// Objects are the device allocations that a program frees itself (cudaMalloc and its kin, pitched,
// managed and stream-ordered ones); where they hold sub-objects, those instead of the pool, or, of
// `whole_allocations`, the pool with what is done to its parts.
// Sizes are rounded up to 512 bytes, as device allocators place them. Events are allocations,
// frees, the reads and writes of copies, sets and instrumented launches, iteration marks, and
// ranges as layers. Times are the device's where the trace has them for nine in ten of the calls
// that run there; the others, and calls of the host, take the time of the call before, or, where
// the host waited for the device, the end of all work until then. With fewer times issue order
// stands for time. Objects are those of one device: of several, the one with the highest load.
// What makes a plan less than sure, such as launches whose accesses are not known, is a caveat of
// the problem.
Problem problem_from_trace(const Trace& trace, bool whole_allocations = false);

// Kernels, copies and sets of the trace, and how many of them have a time.
struct TimedCalls {
  std::int64_t device_calls = 0;
  std::int64_t timed = 0;
};
TimedCalls timed_calls(const Trace& trace);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// The planning problem that a trace poses.

#include "offline/plan/problem.h"
#include "offline/trace/trace.h"

namespace drgpum {

// Objects are the device allocations that a program frees itself (cudaMalloc and its kin, pitched,
// managed and stream-ordered ones) or, where they hold sub-objects, those instead of the pool.
// Sizes are rounded up to 512 bytes, as device allocators place them. Events are allocations,
// frees, the reads and writes of copies, sets and instrumented launches, iteration marks, and
// ranges as layers. Times are the device's where the trace has one for every call that runs there,
// and calls of the host take the time of the one before; otherwise issue order stands for time.
// What makes a plan less than sure, launches whose accesses are not known, is a caveat of the
// problem.
Problem problem_from_trace(const Trace& trace);

}  // namespace drgpum

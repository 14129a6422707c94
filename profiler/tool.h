// SPDX-License-Identifier: Apache-2.0
#pragma once
// The injected library's life in a process: start once, end once, sleep in forked children.

namespace drgpum::profiler {

// Attaches to the Sanitizer library and starts the trace; does nothing when called again or when
// this process is not to be recorded. Never fails towards the caller: a failure is told in the
// trace, in the launcher's status file, or in one line on stderr at the end.
void start_tool() noexcept;

// Ends the trace, after the last handler of exit().
void end_tool() noexcept;

}  // namespace drgpum::profiler

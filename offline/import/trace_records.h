// SPDX-License-Identifier: Apache-2.0
#pragma once
// A history as the records of a trace: segments are allocations, the blocks in them sub-objects,
// frames source frames. Nothing is said about accesses, for nothing is known.

#include "offline/import/allocator_history.h"
#include "offline/trace/trace.h"

namespace drgpum {

// Hands every record of a whole trace to `sink`, in order; its error ends it. The history's events
// are merged over devices by their times, as far as these rise.
Status write_history(const AllocatorHistory& history, const RecordSink& sink);

}  // namespace drgpum

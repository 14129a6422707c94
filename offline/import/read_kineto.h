// SPDX-License-Identifier: Apache-2.0
#pragma once
// Traces of torch.profiler with profile_memory=True: the blocks of PyTorch's allocators by their
// "[memory]" events, below the operators and (with_stack=True) Python functions that they happened
// in, and the kernels, copies and sets of the device.
//
// The allocator's own total at the first event tells what was allocated before; what no event names
// of that counts as one object. Memory of the host is left out. Source: Kineto's
// MetadataFieldCatalog.h for the keys, PyTorch's reportMemoryUsage for their meaning.

#include "offline/import/allocator_history.h"
#include "offline/import/byte_stream.h"

namespace drgpum {

// Errors name the event, or the byte where its content cannot be taken. kUnsupported: a trace
// without memory events of a device.
Result<AllocatorHistory> read_kineto(ByteStream bytes, const ReadProgress& progress = {});

}  // namespace drgpum

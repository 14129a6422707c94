// SPDX-License-Identifier: Apache-2.0
#pragma once
// Profiles of Nsight Systems, as `nsys export --type sqlite` writes them: the allocations that
// `nsys profile --cuda-memory-usage=true` recorded, and the kernels, copies, sets and NVTX ranges
// that it saw. Tables and columns differ from version to version, so they are probed.
//
// Each process on each device is a device of its own: addresses of processes have nothing to do
// with each other. Source: the comments in the schema of such files.

#include <string>

#include "offline/import/allocator_history.h"
#include "offline/import/byte_stream.h"

namespace drgpum {

// Errors name the file, the table, and the row where its content cannot be taken. kUnsupported:
// an SQLite file of another kind, or one without memory events.
Result<AllocatorHistory> read_nsight(const std::string& path, const ReadProgress& progress = {});

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Device memory profiles of JAX, which jax.profiler.save_device_memory_profile() writes: the buffers
// and programs on each device at one moment, with the Python lines that made them, as a profile of
// pprof, mostly packed with gzip. When they were made, and what was there before, is not told.
// Source: pprof's profile.proto for the fields; the labels as the pages on device memory profiling of
// JAX describe them.

#include "offline/import/allocator_history.h"
#include "offline/import/byte_stream.h"

namespace drgpum {

// Whether the unpacked content begins as such a profile does: with its sample types.
bool looks_like_pprof(ByteStream& bytes);

// Errors name the sample, or say that the bytes are damaged. kUnsupported: a profile of something else.
Result<AllocatorHistory> read_pprof(ByteStream bytes, const ReadProgress& progress = {});

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// PyTorch's memory snapshots: what torch.cuda.memory._dump_snapshot writes, of every version, as a
// pickle of any protocol or as JSON, plain or packed. Source: the keys that files of each version
// carry; notes on the versions are with the fields of snapshot_keys.h.

#include <string>

#include "offline/import/allocator_history.h"
#include "offline/import/byte_stream.h"

namespace drgpum {

// Errors name the file, and the byte where its content cannot be taken. kUnsupported: the content is
// of another kind, or would run something.
Result<AllocatorHistory> read_snapshot(const std::string& path, const ReadProgress& progress = {});
Result<AllocatorHistory> read_snapshot(ByteStream bytes, const ReadProgress& progress = {});

// Whether the unpacked content begins as a pickle or JSON does.
bool looks_like_snapshot(const std::string& path);

}  // namespace drgpum

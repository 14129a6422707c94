// SPDX-License-Identifier: Apache-2.0
#pragma once
// PyTorch's memory snapshots: what torch.cuda.memory._dump_snapshot writes, of every version, as a
// pickle of any protocol or as JSON, plain or packed. Source: the keys that files of each version
// carry; notes on the versions are with the fields of snapshot_keys.h.

#include "offline/import/allocator_history.h"
#include "offline/import/byte_stream.h"

namespace drgpum {

// Errors name the byte where its content cannot be taken. kUnsupported: the content is of another
// kind, or would run something.
Result<AllocatorHistory> read_snapshot(ByteStream bytes, const ReadProgress& progress = {});

// Whether the unpacked content begins as a pickle, or as JSON with a key of snapshots.
bool looks_like_snapshot(ByteStream& bytes);

}  // namespace drgpum

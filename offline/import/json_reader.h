// SPDX-License-Identifier: Apache-2.0
#pragma once
// A snapshot as JSON (RFC 8259), value by value, never the whole text or tree.

#include "offline/import/byte_stream.h"
#include "offline/import/pickle_reader.h"
#include "offline/import/snapshot_values.h"

namespace drgpum {

// The outermost value, made in `values`. kCorrupt says "byte N: ..." with the offset in the unpacked
// bytes.
Result<SnapshotValue> read_json(ByteStream& bytes, SnapshotValues& values,
                                const ReadProgress& progress);

}  // namespace drgpum

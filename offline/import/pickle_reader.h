// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pickle machine for data only (protocols 0 to 5): numbers, texts, lists, tuples, dictionaries.
// Opcodes that name, make or call anything are refused where they stand; nothing is ever looked up
// or run. It does not recurse, believes no length that the file cannot hold, and needs memory for
// what is there, not for what is claimed. Source: CPython's pickletools, for what opcodes mean.

#include "offline/import/byte_stream.h"
#include "offline/import/snapshot_values.h"

namespace drgpum {

// The outermost value, made in `values`. kCorrupt and kUnsupported say "byte N: ..." with the offset
// in the unpacked bytes of the opcode that cannot be taken.
Result<SnapshotValue> read_pickle(ByteStream& bytes, SnapshotValues& values,
                                  const ReadProgress& progress);

}  // namespace drgpum

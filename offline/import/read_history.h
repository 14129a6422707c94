// SPDX-License-Identifier: Apache-2.0
#pragma once
// The files of other tools that a history is read from. What a file is, its content says.

#include <string>

#include "offline/import/allocator_history.h"
#include "offline/import/byte_stream.h"

namespace drgpum {

enum class HistoryFormat : std::uint8_t {
  kUnknown,
  kSnapshot,  // read_snapshot.h
  kKineto,    // read_kineto.h
  kPprof,     // read_pprof.h
  kNsight,    // read_nsight.h
};

// kUnknown also for what cannot be read.
HistoryFormat history_format(const std::string& path);

// What is none of the others is read as a snapshot, whose reader says what is wrong. Errors name the
// file.
Result<AllocatorHistory> read_history(const std::string& path, const ReadProgress& progress = {});

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "proto/base/strong_id.h"
#include "proto/trace/record.h"

namespace drgpum::profiler {

// One object that is alive: an allocation, or a part of one.
struct LiveObject {
  ObjectId id;
  trace::ObjectKind kind = trace::ObjectKind::kDevice;
  ContextId context;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  ObjectId root = trace::kNoObject;    // of a part: the allocation that holds its first byte
  ObjectId parent = trace::kNoObject;  // of a part: what it was carved out of
  bool is_pool = false;                // of a part: others may lie in it
};

}  // namespace drgpum::profiler

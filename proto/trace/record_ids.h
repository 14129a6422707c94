// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the records of a trace name things by.

#include <cstdint>

#include "proto/base/strong_id.h"

namespace drgpum::trace {

// Handles that the driver owns appear as our ids; an id is never reused, a handle may be.
inline constexpr std::uint32_t kNoId = 0xffffffffu;
inline constexpr ObjectId kNoObject{kNoId};
inline constexpr StreamId kNoStream{kNoId};
inline constexpr CallPathId kNoCallPath{0};

struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

}  // namespace drgpum::trace

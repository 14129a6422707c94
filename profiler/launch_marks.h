// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the marks of a launch say about its objects.

#include <cstdint>

#include "profiler/session_state.h"

namespace drgpum::profiler {

// The launch's marks in its region as it was read back, one u32 for each object of its table.
const unsigned char* marks_in(const LaunchInFlight& launch, const unsigned char* bytes);
std::uint32_t mark_of(const LaunchInFlight& launch, const unsigned char* bytes, std::size_t object);

trace::AccessRecord access_of(ApiId api, ObjectId object, std::uint32_t mark);

}  // namespace drgpum::profiler

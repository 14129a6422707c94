// SPDX-License-Identifier: Apache-2.0
#include "profiler/launch_marks.h"

#include <bit>
#include <cstring>

namespace drgpum::profiler {

const unsigned char* marks_in(const LaunchInFlight& launch, const unsigned char* bytes) {
  return bytes + slot_layout(launch.objects->ids.size(), launch.sites, false).marks;
}

std::uint32_t mark_of(const LaunchInFlight& launch, const unsigned char* bytes,
                      std::size_t object) {
  std::uint32_t mark = 0;
  std::memcpy(&mark, marks_in(launch, bytes) + object * sizeof mark, sizeof mark);
  return mark;
}

trace::AccessRecord access_of(ApiId api, ObjectId object, std::uint32_t mark) {
  trace::AccessRecord access;
  access.api = api;
  access.object = object;
  access.reads = (mark & device::kMarkRead) != 0;
  access.writes = (mark & device::kMarkWrite) != 0;
  access.atomics = (mark & device::kMarkAtomic) != 0;
  const std::uint32_t widths = mark >> device::kMarkWidthShift;
  if (widths != 0) {
    access.min_access_bytes = 1u << std::countr_zero(widths);
    access.max_access_bytes = 1u << (31 - std::countl_zero(widths));
  }
  return access;
}

}  // namespace drgpum::profiler

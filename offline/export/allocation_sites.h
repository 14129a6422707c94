// SPDX-License-Identifier: Apache-2.0
#pragma once
// What each call path allocates: for profilers that show places.

#include <cstdint>
#include <vector>

#include "offline/export/export_format.h"

namespace drgpum {

// Of the objects that hold memory of a device, on the level of the report. Bytes.
struct AllocationSite {
  std::uint32_t api = 0;  // an allocation from there; kNone: the place is not known
  std::uint64_t objects = 0;
  std::uint64_t bytes = 0;
  std::uint64_t objects_at_peak = 0;  // of the highest peak
  std::uint64_t bytes_at_peak = 0;
  std::uint64_t wasted_bytes = 0;  // of each object what its worst finding wastes
  double byte_time = 0;            // bytes times seconds; in issue order, times calls
};

struct AllocationSites {
  std::vector<AllocationSite> sites;  // by first allocation
  bool has_device_time = false;
};

AllocationSites allocation_sites(const ExportInput& input);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which objects get an access map in a launch, and how fine, within a number of bytes.

#include <cstdint>
#include <functional>
#include <vector>

#include "profiler/live_objects.h"
#include "proto/device/layout.h"

namespace drgpum::profiler {

// The map of one object: where its parts lie in the launch's map region.
struct PlannedMap {
  std::uint32_t index = 0;  // of the object in the table
  std::uint32_t cell_shift = 0;
  bool counts = false;
  std::uint64_t offset = 0;       // of the read bits in the region
  std::uint64_t bit_bytes = 0;    // of the read bits; the write bits follow, as many
  std::uint64_t count_bytes = 0;  // of the counts, which follow those
};

struct MapPlan {
  std::vector<PlannedMap> maps;
  std::uint64_t bytes = 0;  // of the region
};

// Every device object gets a map of at most `limit` bytes together: cells of 2^`cell_shift` bytes with
// counts. Where there is no room for that, each takes the coarsest map first, of 4 KiB cells, then in
// turn ever finer ones, then counts, as long as there is room: those that `is_likely` names before
// others, small ones before large ones, so that one large object does not starve the others.
MapPlan plan_maps(const ObjectTable& table, std::uint32_t cell_shift, std::uint64_t limit,
                  const std::function<bool(ObjectId)>& is_likely);

// The maps as the patches read them, for a region at this device address: one for each object of
// the table.
std::vector<device::ObjectMap> device_maps(const MapPlan& plan, std::size_t objects,
                                           std::uint64_t region);

}  // namespace drgpum::profiler

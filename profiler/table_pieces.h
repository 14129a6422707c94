// SPDX-License-Identifier: Apache-2.0
#pragma once
// An object that parts were carved out of has several ranges in a launch's table. Here what the
// ranges saw becomes what the object saw.

#include <vector>

#include "profiler/live_objects.h"
#include "proto/trace/record.h"

namespace drgpum::profiler {

// The marks of each range (bytes as read back, a word for each), those of one object's ranges
// joined at its first range; the others get 0.
std::vector<std::uint32_t> object_marks(const ObjectTable& table, const unsigned char* words);

// A map of range `i` as a map of the range's object: offsets move, the strip is spread out.
void place_in_object(const ObjectTable& table, std::size_t i, trace::AccessMapRecord* map);

// Takes out the maps of objects one of whose ranges was touched but has no map: they would say that
// the range was not touched. `has_map` is by range.
void drop_partial(const ObjectTable& table, const unsigned char* words,
                  const std::vector<char>& has_map, std::vector<trace::AccessMapRecord>* maps);

// Sorted by object; maps of one object, of one launch, become one.
std::vector<trace::AccessMapRecord> join_maps(std::vector<trace::AccessMapRecord> maps);

}  // namespace drgpum::profiler

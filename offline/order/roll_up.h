// SPDX-License-Identifier: Apache-2.0
#pragma once
// What touches a part of an object (a tensor in a pool) touches the object, at every level above;
// a copy or set of the object touches the parts that lie in its range.

#include <optional>
#include <vector>

#include "offline/order/evidence.h"
#include "offline/order/nested_objects.h"
#include "offline/order/pack_uses.h"

namespace drgpum {

// One launch's uses of an object and of all its parts become one use of the object, with a map when
// every one of them has a map. Counts of accesses stay with the parts. `overlaps` by rising part.
void roll_up_launches(std::vector<RawUse>& raw, const std::vector<Overlap>& overlaps,
                      Evidence& evidence);

// What an extent covers of bytes [begin, end) of its object, as an extent in these bytes; nothing
// when they are apart. Of rows that a border cuts a write keeps the whole ones alone; a read
// becomes the range of bytes that holds all it reads.
std::optional<Extent> extent_within(const Extent& extent, std::uint64_t begin, std::uint64_t end,
                                    bool is_read);

}  // namespace drgpum

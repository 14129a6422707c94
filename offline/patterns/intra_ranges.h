// SPDX-License-Identifier: Apache-2.0
#pragma once
// Sets of byte ranges of one object, as access maps give them.

#include <cstdint>
#include <vector>

#include "offline/patterns/pattern_input.h"

namespace drgpum {

// Sorted, disjoint, not touching. Ranges that are empty or lie beyond `size` are cut.
std::vector<trace::ByteRange> united(std::vector<trace::ByteRange> ranges, std::uint64_t size);
std::uint64_t bytes_of(const std::vector<trace::ByteRange>& united);
// What `united` leaves of [0, size).
std::vector<trace::ByteRange> complement(const std::vector<trace::ByteRange>& united,
                                         std::uint64_t size);
// The bytes that are in both.
std::vector<trace::ByteRange> within(const std::vector<trace::ByteRange>& united,
                                     const std::vector<trace::ByteRange>& other);
// The part of `united` within rows of `width` bytes, `pitch` apart.
std::vector<trace::ByteRange> within_rows(const std::vector<trace::ByteRange>& united,
                                          std::uint64_t pitch, std::uint64_t width);
// Every range stretched to whole elements.
std::vector<trace::ByteRange> in_elements(std::vector<trace::ByteRange> ranges,
                                          std::uint32_t element_bytes, std::uint64_t size);

// The access map of a launch's use; null when it has none, or only one of some of its blocks.
const trace::AccessMapRecord* whole_map(const PatternInput& in, const Use& use);
// The bytes that one use touches by its map, else by its bounds; false when neither is known.
bool touched_by(const PatternInput& in, const Use& use, std::vector<trace::ByteRange>& ranges);
// Bits of Missing: launches of the object's life that were not recorded, maps that are coarse.
std::uint32_t missing_in_maps(const PatternInput& in, std::uint32_t object);

}  // namespace drgpum

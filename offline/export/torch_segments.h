// SPDX-License-Identifier: Apache-2.0
#pragma once
// The memory that is held when a snapshot is taken.

#include <cstdint>

#include "offline/export/torch_places.h"
#include "offline/export/torch_words.h"

namespace drgpum {

// A device's segments with their blocks and the holes between, as items of the open list. Mapped
// pages that follow each other are one segment.
void write_segments(SnapshotFields& fields, std::uint16_t device, const Places& places);

}  // namespace drgpum

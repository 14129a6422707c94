// SPDX-License-Identifier: Apache-2.0
#pragma once
// Uses as a trace tells them, made one per object and call.

#include <vector>

#include "offline/order/evidence.h"

namespace drgpum {

struct RawUse {
  std::uint32_t object = 0;
  Use use;
};

// Fills `use_begin` and `uses` of the evidence, whose objects, details, extents and maps are known.
void pack_uses(std::vector<RawUse> raw, Evidence& evidence);

}  // namespace drgpum

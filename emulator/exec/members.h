// SPDX-License-Identifier: Apache-2.0
#pragma once
// Member masks of warp-level instructions: each lane brings its own.

#include "emulator/exec/row_ops.h"

namespace drgpum::emulator::exec {

// begin_warp_sync for all lanes that some active lane names.
inline bool gather_members(WarpContext& warp, const Op* op, const std::uint32_t* members) {
  if (warp.mask == warp.live) return true;
  std::uint32_t named = 0;
  for_lanes(warp.mask, [&](unsigned i) { named |= members[i]; });
  return begin_warp_sync(warp, op, named);
}

}  // namespace drgpum::emulator::exec

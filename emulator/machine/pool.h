// SPDX-License-Identifier: Apache-2.0
#pragma once
// A pool for stream-ordered allocation. Work runs when it is issued, so memory freed in a stream
// may serve again at once.

#include <algorithm>
#include <cstdint>

namespace drgpum::emulator {

struct Pool {
  int device = 0;
  bool is_default = false;
  std::uint64_t max_bytes = 0;  // 0: as much as the device has
  std::uint64_t release_threshold = 0;
  std::uint64_t used = 0;
  std::uint64_t used_high = 0;
  std::uint64_t reserved_high = 0;
  int reuse_follow_event_dependencies = 1;
  int reuse_allow_opportunistic = 1;
  int reuse_allow_internal_dependencies = 1;
  std::uint32_t accessible_from = 0;  // bit per device, its own apart

  void took(std::uint64_t bytes) {
    used += bytes;
    used_high = std::max(used_high, used);
    reserved_high = std::max(reserved_high, used);
  }
};

}  // namespace drgpum::emulator

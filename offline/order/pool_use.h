// SPDX-License-Identifier: Apache-2.0
#pragma once
// What pools hold of the device, and what they have handed out of it.

#include <cstdint>
#include <optional>

#include "offline/order/evidence.h"

namespace drgpum {

// A pool's block is an object that others name as their parent. Bytes.
struct PoolUse {
  std::uint32_t blocks = 0;
  std::uint64_t reserved_peak_bytes = 0;   // the most that blocks hold at once
  std::uint64_t allocated_peak_bytes = 0;  // the most that is handed out of them at once
  std::uint64_t reserved_bytes = 0;        // both after call `at`
  std::uint64_t allocated_bytes = 0;
};

// Of one device; nothing where no pool is known.
std::optional<PoolUse> pool_use(const Evidence& evidence, std::uint16_t device, std::uint32_t at);

}  // namespace drgpum

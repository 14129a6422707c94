// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a planned pool would need for the objects of a trace as they are.

#include <optional>

#include "offline/order/memory_timeline.h"
#include "offline/report/report.h"

namespace drgpum {

inline constexpr std::size_t kMaxPooledObjects = 2000;

// One deterministic pass of the planners over the objects of one device, aligned to 256 bytes as
// cudaMalloc does; `drgpum plan` searches on. Nothing for more than 2,000 objects, or none.
std::optional<PoolSaving> pool_saving(const Evidence& evidence, std::uint16_t device,
                                      MemoryLevel level);

}  // namespace drgpum

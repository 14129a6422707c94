// SPDX-License-Identifier: Apache-2.0
#pragma once
// Issue order against the time of the device, virtual or measured, where the trace has it.

#include <cstdint>
#include <span>
#include <vector>

#include "offline/order/evidence.h"
#include "offline/order/memory_timeline.h"

namespace drgpum {

// When the device comes to each of the calls (rising), in ns since its first work: the latest begin
// among the work issued up to the next that has a time. Never falls. Empty without times.
std::vector<std::uint64_t> moments_of(const Evidence& evidence,
                                      std::span<const std::uint32_t> calls);
// From the begin of the first work to the end of the last; 0 without times.
std::uint64_t device_time_ns(const Evidence& evidence);

// At most `count` points of a curve: the highest of each stretch, where the curve stays highest.
std::vector<LivePoint> thinned(const std::vector<LivePoint>& curve, std::size_t count);

}  // namespace drgpum

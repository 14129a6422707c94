// SPDX-License-Identifier: Apache-2.0
#pragma once
// How long a copy between device and host memory takes.

#include <cstdint>
#include <string>

#include "proto/base/result.h"

namespace drgpum {

struct Link {
  // Both ways at once, each a serial stream: latency + bytes * ns_per_byte.
  double out_ns_per_byte = 0.0756;  // device to host
  double out_latency_ns = 47'200;
  double in_ns_per_byte = 0.0823;  // host to device
  double in_latency_ns = 9'700;

  std::int64_t out_ns(std::int64_t bytes) const;
  std::int64_t in_ns(std::int64_t bytes) const;
};

// A preset's name or a speed in GB/s (10^9 bytes per second, both ways, 10 us latency):
//   pcie3  measured by the AutoSwap authors, pinned memory, x16: 13.2 out, 12.2 in (the default)
//   pcie4, pcie5  25 and 50 GB/s, what x16 slots deliver of 31.5 and 63
//   nvlink-c2c    400 GB/s of the 450 that NVIDIA states per direction for Grace Hopper
// kInvalidArgument for anything else, for zero, negative and non-finite speeds.
Result<Link> parse_link(const std::string& text);

}  // namespace drgpum

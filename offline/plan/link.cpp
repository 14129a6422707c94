// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/link.h"

#include <cmath>
#include <cstdlib>

namespace drgpum {
namespace {

Link link_of(double gigabytes_per_second) {
  const double ns_per_byte = 1 / gigabytes_per_second;
  return {ns_per_byte, 10'000, ns_per_byte, 10'000};
}

std::int64_t copy_ns(double latency, double per_byte, std::int64_t bytes) {
  return std::llround(latency + per_byte * static_cast<double>(bytes));
}

}  // namespace

std::int64_t Link::out_ns(std::int64_t bytes) const {
  return copy_ns(out_latency_ns, out_ns_per_byte, bytes);
}

std::int64_t Link::in_ns(std::int64_t bytes) const {
  return copy_ns(in_latency_ns, in_ns_per_byte, bytes);
}

Result<Link> parse_link(const std::string& text) {
  if (text == "pcie3") return Link{};
  if (text == "pcie4") return link_of(25);
  if (text == "pcie5") return link_of(50);
  if (text == "nvlink-c2c") return link_of(400);
  char* end = nullptr;
  const double speed = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size() || !std::isfinite(speed) || speed <= 0 ||
      speed < 1e-6)
    return Error{ErrorCode::kInvalidArgument,
                 "--link '" + text +
                     "' is neither pcie3, pcie4, pcie5, nvlink-c2c nor a speed above 0 in GB/s"};
  return link_of(speed);
}

}  // namespace drgpum

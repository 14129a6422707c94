// SPDX-License-Identifier: Apache-2.0
#include "offline/order/device_moments.h"

#include <algorithm>

namespace drgpum {
std::vector<std::uint64_t> moments_of(const Evidence& evidence,
                                      std::span<const std::uint32_t> calls) {
  std::vector<std::uint64_t> moments;
  if (evidence.begin_ns.empty()) return moments;
  const std::uint64_t start = *std::min_element(evidence.begin_ns.begin(), evidence.begin_ns.end());
  std::uint64_t latest = start;
  std::uint32_t next = 0;
  bool begun = false;
  std::uint32_t last_timed = 0;  // once it has begun
  const std::uint64_t end = device_time_ns(evidence);
  for (const std::uint32_t call : calls) {
    for (; (!begun || last_timed < call) && next < evidence.begin_ns.size(); ++next) {
      if (evidence.begin_ns[next] == kNoTime) continue;
      latest = std::max(latest, evidence.begin_ns[next]);
      last_timed = next;
      begun = true;
    }
    const bool work_follows = begun && last_timed >= call;
    moments.push_back(work_follows ? latest - start : end);
  }
  return moments;
}

std::uint64_t device_time_ns(const Evidence& evidence) {
  if (evidence.begin_ns.empty()) return 0;
  return evidence.last_end_ns -
         *std::min_element(evidence.begin_ns.begin(), evidence.begin_ns.end());
}

std::vector<LivePoint> thinned(const std::vector<LivePoint>& curve, std::size_t count) {
  if (curve.size() <= count) return curve;
  std::vector<LivePoint> points;
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = curve.begin() + static_cast<std::ptrdiff_t>(i * curve.size() / count);
    const auto last = curve.begin() + static_cast<std::ptrdiff_t>((i + 1) * curve.size() / count);
    points.push_back(*std::max_element(first, last, [](const LivePoint& a, const LivePoint& b) {
      return a.bytes < b.bytes;
    }));
  }
  return points;
}

}  // namespace drgpum

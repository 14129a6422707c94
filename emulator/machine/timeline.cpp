// SPDX-License-Identifier: Apache-2.0
// Places work on engines.

#include "emulator/machine/timeline.h"

namespace drgpum::emulator {
namespace {

constexpr double kRounding = 1e-9;

}  // namespace

void HostClock::wait_until(std::uint64_t ns) {
  std::uint64_t seen = now();
  while (seen < ns && !now_.compare_exchange_weak(seen, ns, std::memory_order_relaxed)) {
  }
}

bool DeviceTimeline::fits(std::uint64_t at, double share) const {
  double taken = share;
  for (const Running& other : running_)
    if (other.span.begin <= at && at < other.span.end) taken += other.share;
  return taken <= 1 + kRounding;
}

Span DeviceTimeline::run_kernel(std::uint64_t ready, std::uint64_t duration, double share) {
  std::uint64_t begin = std::max(ready, last_start_);
  // All that run now started at or before last_start_, so shares only fall as time goes on: the
  // first end after which the kernel fits is its start.
  std::erase_if(running_, [&](const Running& other) { return other.span.end <= last_start_; });
  while (!fits(begin, share)) {
    std::uint64_t next = ~std::uint64_t{0};
    for (const Running& other : running_)
      if (other.span.end > begin) next = std::min(next, other.span.end);
    begin = next;
  }
  last_start_ = begin;
  running_.push_back({{begin, begin + duration}, share});
  return running_.back().span;
}

Span DeviceTimeline::run_copy(CopyEngine engine, std::uint64_t ready, std::uint64_t duration) {
  std::uint64_t& free = copy_free_[static_cast<std::size_t>(engine)];
  const Span span{std::max(ready, free), std::max(ready, free) + duration};
  free = span.end;
  return span;
}

}  // namespace drgpum::emulator

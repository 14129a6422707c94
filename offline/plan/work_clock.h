// SPDX-License-Identifier: Apache-2.0
#pragma once
// Processor time of this process: limits on a search count its own work, so that a busy machine
// gives the plans of an idle one.

#include <chrono>
#include <ctime>

namespace drgpum {

struct WorkClock {
  using duration = std::chrono::nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<WorkClock>;
  static constexpr bool is_steady = true;

  static time_point now() noexcept {
    timespec used{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return time_point(std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec));
  }
};

}  // namespace drgpum

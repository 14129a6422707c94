// SPDX-License-Identifier: Apache-2.0
#include "samples/caching_allocator/reporting.h"

#include <atomic>

namespace {
std::atomic<std::size_t> received{0};
}

namespace c10 {

__attribute__((visibility("default"))) void reportMemoryUsageToProfiler(void*, std::int64_t,
                                                                        std::size_t, std::size_t,
                                                                        Device) {
  ++received;
}

}  // namespace c10

__attribute__((visibility("default"))) std::size_t reports_received() {
  return received;
}

// SPDX-License-Identifier: Apache-2.0
#pragma once
// The virtual clock: when work issued to a device starts and ends. Work is given in issue order and
// keeps it on each engine, as hardware queues do.

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

namespace drgpum::emulator {

// Virtual nanoseconds [begin, end).
struct Span {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Where the host program stands in virtual time. One for the process; thread safe.
class HostClock {
 public:
  [[nodiscard]] std::uint64_t now() const { return now_.load(std::memory_order_relaxed); }
  void advance(std::uint64_t ns) { now_.fetch_add(ns, std::memory_order_relaxed); }
  void wait_until(std::uint64_t ns);

 private:
  std::atomic<std::uint64_t> now_{1'000'000};  // not 0, which readers take for "no time"
};

enum class CopyEngine : std::uint8_t { kToDevice, kToHost };

// One device's engines: a compute engine that runs kernels at the same time as long as their shares
// of the device add up to no more than all of it, and a copy engine for each direction.
class DeviceTimeline {
 public:
  Span run_kernel(std::uint64_t ready, std::uint64_t duration, double share);
  Span run_copy(CopyEngine engine, std::uint64_t ready, std::uint64_t duration);

 private:
  struct Running {
    Span span;
    double share;
  };
  [[nodiscard]] bool fits(std::uint64_t at, double share) const;

  std::vector<Running> running_;  // those that may overlap with kernels to come
  std::uint64_t last_start_ = 0;  // kernels start in issue order
  std::array<std::uint64_t, 2> copy_free_{};
};

}  // namespace drgpum::emulator

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Work on input that may make a library abort, loop or take all memory: done in a child process
// that may die, while what it had told until then is kept.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace drgpum {

struct ChildLimits {
  unsigned cpu_seconds = 10;
  unsigned wall_seconds = 60;  // long: another program may have the processor
  std::uint64_t memory_bytes = std::uint64_t{2} << 30;  // beyond what the parent has already
  std::uint64_t output_bytes = std::uint64_t{1} << 30;
};

// The child's end: messages go to the parent one by one.
class ChildOutput {
 public:
  explicit ChildOutput(int fd) : fd_(fd) {}
  // Kept back until some have gathered; flush() sends the rest. False: the parent is gone.
  bool send(std::span<const std::uint8_t> message);
  bool flush();

 private:
  int fd_;
  std::vector<std::uint8_t> pending_;
};

// Runs `work` in a child, hands each whole message to `take` in order. Returns how the child ended:
// empty if in order, else for a person ("was killed by signal 6 (Aborted)", "took over 10 s").
// `take` returning false ends the child. The child inherits memory, not threads: `work` must take
// no lock that another thread may hold.
std::string run_limited_child(const ChildLimits& limits,
                              const std::function<void(ChildOutput&)>& work,
                              const std::function<bool(std::span<const std::uint8_t>)>& take);

}  // namespace drgpum

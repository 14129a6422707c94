// SPDX-License-Identifier: Apache-2.0
#pragma once
// Runs the host functions that programs put into streams, in order, on a thread of the driver's.

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>

namespace drgpum::emulator {

// Thread safe. The thread starts with the first function and lives as long as the process.
class HostQueue {
 public:
  // Returns the function's ticket; tickets rise by one.
  std::uint64_t post(std::function<void()> function);
  [[nodiscard]] bool done(std::uint64_t ticket);
  // Blocks until the function of that ticket and all before it have returned. On the queue's own
  // thread it does not wait.
  void wait(std::uint64_t ticket);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::uint64_t posted_ = 0;
  std::uint64_t finished_ = 0;
  bool started_ = false;
};

}  // namespace drgpum::emulator

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Launches whose access maps wait to be reduced on their device, and the thread that reduces them:
// outside of callbacks, because a GPU's Sanitizer library forbids CUDA calls inside them.

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <pthread.h>

namespace drgpum::profiler {

struct ContextState;
struct LaunchInFlight;

class ReductionQueue {
 public:
  struct Work {
    std::shared_ptr<ContextState> context;
    LaunchInFlight* launch = nullptr;  // null: make the context's pattern kernels ready
    std::vector<unsigned char> slot;   // the launch's slot and marks, read back
  };

  // `does` is called on the thread, one work at a time in the order they were added; it must not
  // throw. The thread begins with the first work and takes none of the program's signals.
  explicit ReductionQueue(std::function<void(Work&)> does) : does_(std::move(does)) {}
  ~ReductionQueue();
  ReductionQueue(const ReductionQueue&) = delete;
  ReductionQueue& operator=(const ReductionQueue&) = delete;

  // False, and the work is left to the caller, when there can be no thread, or none any more, or enough
  // waits for it: a program that launches faster than the thread reduces must not fill the host's
  // memory.
  bool add(Work& work);

  // The work of a context that was not begun; work that was is waited for, but no longer than
  // `patience`. Never call it from the thread itself.
  std::vector<Work> take_back(const ContextState* context, std::chrono::milliseconds patience);

  static constexpr std::size_t kMostWaiting = 1024;
  static constexpr std::size_t kMostWaitingBytes = 64 << 20;

  // Until all work of the context is done, but no longer than `patience`.
  void await(const ContextState* context, std::chrono::milliseconds patience);

  // Ends the thread; a work under way is waited for, but no longer than `patience`. What was not
  // begun is dropped.
  void stop(std::chrono::milliseconds patience);

 private:
  bool begin();  // under mutex_
  static void* run(void* queue) noexcept;
  void work_off();

  std::function<void(Work&)> does_;
  std::mutex mutex_;  // guards what follows; held for moments only
  std::condition_variable changed_;
  std::deque<Work> waiting_;
  std::size_t waiting_bytes_ = 0;  // of their slots
  const ContextState* busy_with_ = nullptr;
  bool has_thread_ = false;
  bool refused_ = false;  // the system gave no thread
  bool ends_ = false;
  bool has_ended_ = false;
  pthread_t thread_{};
};

}  // namespace drgpum::profiler

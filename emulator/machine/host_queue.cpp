// SPDX-License-Identifier: Apache-2.0
// One thread and its queue.

#include "emulator/machine/host_queue.h"

#include <thread>

namespace drgpum::emulator {
namespace {

thread_local bool on_queue_thread = false;

}  // namespace

std::uint64_t HostQueue::post(std::function<void()> function) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back(std::move(function));
  if (!started_) std::thread([this] { run(); }).detach();
  started_ = true;
  changed_.notify_all();
  return ++posted_;
}

bool HostQueue::done(std::uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  return finished_ >= ticket;
}

void HostQueue::wait(std::uint64_t ticket) {
  if (ticket == 0 || on_queue_thread) return;
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return finished_ >= ticket; });
}

void HostQueue::run() {
  on_queue_thread = true;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return !waiting_.empty(); });
    std::function<void()> function = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    function();
    lock.lock();
    ++finished_;
    changed_.notify_all();
  }
}

}  // namespace drgpum::emulator

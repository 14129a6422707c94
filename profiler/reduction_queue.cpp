// SPDX-License-Identifier: Apache-2.0
#include "profiler/reduction_queue.h"

#include <algorithm>
#include <csignal>
#include <iterator>
#include <utility>

namespace drgpum::profiler {

ReductionQueue::~ReductionQueue() {
  stop(std::chrono::hours{1});  // it uses us
}

void ReductionQueue::stop(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  ends_ = true;
  waiting_.clear();
  if (!has_thread_) return;
  changed_.notify_all();
  if (!changed_.wait_for(lock, patience, [&] { return has_ended_; })) return;
  has_thread_ = false;
  lock.unlock();
  pthread_join(thread_, nullptr);
}

bool ReductionQueue::add(Work& work) {
  {
    const std::lock_guard lock(mutex_);
    if (ends_ || (!has_thread_ && !begin())) return false;
    const bool is_full = waiting_.size() >= kMostWaiting ||
                         waiting_bytes_ + work.slot.size() > kMostWaitingBytes;
    if (is_full && work.launch != nullptr) return false;
    waiting_bytes_ += work.slot.size();
    waiting_.push_back(std::move(work));
  }
  changed_.notify_all();
  return true;
}

// A thread inherits the signals that its maker blocks.
bool ReductionQueue::begin() {
  if (refused_) return false;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  has_thread_ = pthread_create(&thread_, nullptr, run, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  refused_ = !has_thread_;
  return has_thread_;
}

void* ReductionQueue::run(void* queue) noexcept {
  pthread_setname_np(pthread_self(), "drgpum maps");
  static_cast<ReductionQueue*>(queue)->work_off();
  return nullptr;
}

void ReductionQueue::work_off() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return ends_ || !waiting_.empty(); });
    if (ends_) break;
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= work.slot.size();
    busy_with_ = work.context.get();
    lock.unlock();
    does_(work);
    work = {};
    lock.lock();
    busy_with_ = nullptr;
    changed_.notify_all();
  }
  has_ended_ = true;
  changed_.notify_all();
}

void ReductionQueue::await(const ContextState* context, std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] {
    return busy_with_ != context &&
           std::none_of(waiting_.begin(), waiting_.end(),
                        [&](const Work& work) { return work.context.get() == context; });
  });
}

std::vector<ReductionQueue::Work> ReductionQueue::take_back(const ContextState* context,
                                                            std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  const auto first = std::stable_partition(waiting_.begin(), waiting_.end(), [&](const Work& work) {
    return work.context.get() != context;
  });
  std::vector<Work> taken;
  std::move(first, waiting_.end(), std::back_inserter(taken));
  waiting_.erase(first, waiting_.end());
  for (const Work& work : taken)
    waiting_bytes_ -= work.slot.size();
  changed_.wait_for(lock, patience, [&] { return busy_with_ != context; });
  return taken;
}

}  // namespace drgpum::profiler

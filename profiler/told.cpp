// SPDX-License-Identifier: Apache-2.0
#include "profiler/told.h"

#include <atomic>
#include <map>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <unistd.h>

namespace drgpum::profiler {
namespace {

constexpr std::size_t kMostOpenRanges = 1 << 16;  // a program that never ends its ranges

// Outlives exit handlers: programs go on talking in them.
struct State {
  std::mutex mutex;
  std::vector<Told> waiting;
  std::map<std::pair<pid_t, const void*>, std::vector<std::string>> stacks;
  std::unordered_map<std::uint64_t, std::string> started;
  std::uint64_t next_range = 1;
  std::size_t open = 0;
};

State& state() {
  static State& state = *new State();
  return state;
}

std::atomic<Listener> listener{nullptr};
std::atomic<bool> is_deaf{false};

Told range(ToldKind kind, const char* call, std::string name) {
  Told told;
  told.kind = kind;
  told.call = call;
  told.name = std::move(name);
  return told;
}

bool may_wait(ToldKind kind) {
  return kind >= ToldKind::kRangeBegin;
}

}  // namespace

void listen(Listener to) noexcept {
  listener.store(to, std::memory_order_release);
}

void stop_listening() noexcept {
  is_deaf.store(true);
}

void tell(Told told) noexcept {
  if (is_deaf.load(std::memory_order_relaxed)) return;
  try {
    if (const Listener to = listener.load(std::memory_order_acquire)) return to(std::move(told));
    keep_waiting(std::move(told));
  } catch (...) {
    return;  // out of memory: it is not recorded
  }
}

void keep_waiting(Told told) {
  if (!may_wait(told.kind)) return;
  State& s = state();
  const std::lock_guard lock(s.mutex);
  if (s.waiting.size() < kMostWaiting) s.waiting.push_back(std::move(told));
}

std::vector<Told> take_waiting() {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  return std::exchange(s.waiting, {});
}

int push_range(const void* domain, const char* call, std::string name) noexcept {
  if (is_deaf.load(std::memory_order_relaxed)) return 0;
  try {
    int depth = 0;
    {
      State& s = state();
      const std::lock_guard lock(s.mutex);
      if (s.open >= kMostOpenRanges) return 0;
      std::vector<std::string>& stack = s.stacks[{gettid(), domain}];
      depth = static_cast<int>(stack.size());
      ++s.open;
      stack.push_back(name);
    }
    tell(range(ToldKind::kRangeBegin, call, std::move(name)));
    return depth;
  } catch (...) {
    return 0;  // out of memory: the range is not recorded
  }
}

int pop_range(const void* domain, const char* call) noexcept {
  if (is_deaf.load(std::memory_order_relaxed)) return -1;
  try {
    std::string name;
    int depth = 0;
    {
      State& s = state();
      const std::lock_guard lock(s.mutex);
      const auto stack = s.stacks.find({gettid(), domain});
      if (stack == s.stacks.end()) return -1;
      name = std::move(stack->second.back());
      stack->second.pop_back();
      --s.open;
      depth = static_cast<int>(stack->second.size());
      if (stack->second.empty()) s.stacks.erase(stack);
    }
    tell(range(ToldKind::kRangeEnd, call, std::move(name)));
    return depth;
  } catch (...) {
    return -1;
  }
}

std::uint64_t start_range(const char* call, std::string name) noexcept {
  if (is_deaf.load(std::memory_order_relaxed)) return 0;
  try {
    std::uint64_t id = 0;
    {
      State& s = state();
      const std::lock_guard lock(s.mutex);
      id = s.next_range++;
      if (s.started.size() >= kMostOpenRanges) return id;
      s.started.emplace(id, name);
    }
    tell(range(ToldKind::kRangeBegin, call, std::move(name)));
    return id;
  } catch (...) {
    return 0;
  }
}

void end_range(const char* call, std::uint64_t id) noexcept {
  if (is_deaf.load(std::memory_order_relaxed)) return;
  try {
    std::string name;
    {
      State& s = state();
      const std::lock_guard lock(s.mutex);
      const auto found = s.started.find(id);
      if (found == s.started.end()) return;
      name = std::move(found->second);
      s.started.erase(found);
    }
    tell(range(ToldKind::kRangeEnd, call, std::move(name)));
  } catch (...) {
    return;
  }
}

}  // namespace drgpum::profiler

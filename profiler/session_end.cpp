// SPDX-License-Identifier: Apache-2.0
// How a recording ends: at exit(), with the process, in a forked child.

#include <algorithm>
#include <exception>

#include "profiler/session.h"

namespace drgpum::profiler {

void Session::drain() noexcept {
  if (closed_.load(std::memory_order_acquire)) return;
  ThreadState& thread = this_thread();
  if (thread.busy) return;  // exit() called out of a callback
  thread.busy = true;
  thread.outside_callbacks = true;
  draining_.store(true);
  try {
    drain_all();
    {
      const Lock lock(mutex_);
      ends_.store(true);
    }
    drain_all();                  // what other threads left to ours meanwhile
    reductions_.stop(kPatience);  // none of ours outlives the program's own
  } catch (const std::exception& error) {
    disable(error.what());
  } catch (...) {
    disable("unknown failure");
  }
  draining_.store(false);
  thread.outside_callbacks = false;
  thread.busy = false;
}

void Session::drain_all() {
  std::vector<ContextPointer> contexts;
  {
    const Lock lock(mutex_);
    for (const auto& [handle, context] : contexts_)
      contexts.push_back(context);
  }
  for (const ContextPointer& context : contexts) {
    drain_context(context);
    settle_maps(context, kPatience);
  }
}

void Session::finish(bool exit_code_known, int exit_code) noexcept {
  if (closed_.exchange(true)) return;
  try {
    const Lock lock(mutex_);
    settle_told(lock);
    const auto waiting = static_cast<std::uint64_t>(
        std::count_if(in_flight_.begin(), in_flight_.end(),
                      [](const LaunchInFlight& launch) { return launch.waits; }));
    if (in_flight_.size() != waiting) {
      cover(trace::CoverageKind::kLostRecords,
            "launches whose accesses were still on the device at the end", std::nullopt,
            in_flight_.size() - waiting);
    }
    if (waiting != 0) {
      cover(trace::CoverageKind::kLostRecords,
            "launches whose access maps were still on the device at the end", std::nullopt, waiting);
    }
    if (unsampled_ != 0) {
      cover(trace::CoverageKind::kUnsampledLaunch, "launches that the options left out",
            std::nullopt, unsampled_);
    }
    if (block_sampled_ != 0) {
      cover(trace::CoverageKind::kSampledBlocks,
            "launches whose access maps are those of one block in " +
                std::to_string(options_.block_every),
            std::nullopt, block_sampled_);
    }
    recorder_.write_after_kept(trace::EndRecord{recorder_.next_api(), exit_code_known, exit_code});
    if (recorder_.writer() != nullptr && recorder_.writer()->stopped()) {
      failure_ = recorder_.writer()->stop_reason();
    }
    recorder_.finish();
  } catch (...) {
    closed_.store(true);  // the trace stays unfinished, and says so
  }
}

void Session::abandon() noexcept {
  closed_.store(true);
  recorder_.abandon();
}

}  // namespace drgpum::profiler

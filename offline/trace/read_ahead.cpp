// SPDX-License-Identifier: Apache-2.0
#include "offline/trace/read_ahead.h"

#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace drgpum {
namespace {

constexpr std::size_t kBatch = 1024;  // records
constexpr std::size_t kBatches = 4;
constexpr std::uint64_t kWorthAThread = 1 << 20;  // bytes of the file

struct Batch {
  std::vector<trace::Record> records;  // the memory of earlier records is used again
  std::size_t count = 0;
  std::uint64_t bytes_read = 0;
};

}  // namespace

struct ReadAhead::State {
  explicit State(trace::TraceReader of) : reader(std::move(of)) {}

  void fill(Batch& batch) {
    batch.records.resize(kBatch);
    batch.count = 0;
    while (batch.count < kBatch && reader.next(batch.records[batch.count]))
      ++batch.count;
    batch.bytes_read = reader.bytes_read();
  }
  void run() {
    for (std::uint64_t made = 0;; ++made) {
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return stop || made < taken + kBatches - 1; });
        if (stop) return;
      }
      Batch& batch = batches.at(made % kBatches);
      fill(batch);
      const std::lock_guard lock(mutex);
      ready = made + 1;
      changed.notify_all();
      if (batch.count == 0) return;
    }
  }

  trace::TraceReader reader;
  std::array<Batch, kBatches> batches;
  std::mutex mutex;
  std::condition_variable changed;
  std::uint64_t ready = 0;  // batches that are filled
  std::uint64_t taken = 0;  // batches that were given out; the last of them is still in use
  bool stop = false;
  bool at_end = false;
  const Batch* current = nullptr;
  std::thread thread;
};

ReadAhead::ReadAhead(trace::TraceReader reader)
    : state_(std::make_unique<State>(std::move(reader))) {
  if (state_->reader.summary().file_bytes >= kWorthAThread)
    state_->thread = std::thread([state = state_.get()] { state->run(); });
}

ReadAhead::~ReadAhead() {
  if (!state_->thread.joinable()) return;
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
    state_->changed.notify_all();
  }
  state_->thread.join();
}

std::span<const trace::Record> ReadAhead::next() {
  State& s = *state_;
  if (s.at_end) return {};
  Batch& batch = s.batches.at(s.taken % kBatches);
  if (s.thread.joinable()) {
    std::unique_lock lock(s.mutex);
    s.changed.wait(lock, [&] { return s.ready > s.taken; });
    ++s.taken;
    s.changed.notify_all();
  } else {
    s.fill(batch);
  }
  s.current = &batch;
  s.at_end = batch.count == 0;
  if (s.at_end && s.thread.joinable()) s.thread.join();
  return {batch.records.data(), batch.count};
}

std::uint64_t ReadAhead::bytes_read() const {
  return state_->current == nullptr ? 0 : state_->current->bytes_read;
}

const trace::ReadSummary& ReadAhead::summary() const {
  return state_->reader.summary();
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// A caching allocator in small: segments of 2 MiB from cudaMalloc, blocks split off and merged, and
// blocks that other streams used kept back until events on those streams have come. It reports
// blocks as PyTorch's does: when they are handed out, and when they are given back.

#include <map>
#include <vector>

#include "samples/caching_allocator/reporting.h"
#include "samples/check.h"

class CachingAllocator {
 public:
  float* take(std::size_t bytes) {
    process_events();
    bytes = (bytes + 511) / 512 * 512;
    auto found = blocks_.begin();
    while (found != blocks_.end() && (found->second.taken || found->second.bytes < bytes))
      ++found;
    if (found == blocks_.end()) found = add_segment(bytes);
    split(found, bytes);
    found->second.taken = true;
    report(found->first, static_cast<std::int64_t>(bytes));
    return reinterpret_cast<float*>(found->first);
  }

  // The block is also used by what runs on `stream`.
  void record_stream(float* block, cudaStream_t stream) {
    blocks_.at(reinterpret_cast<char*>(block)).streams.push_back(stream);
  }

  void give_back(float* pointer) {
    char* const begin = reinterpret_cast<char*>(pointer);
    Block& block = blocks_.at(begin);
    const auto bytes = static_cast<std::int64_t>(block.bytes);
    if (block.streams.empty()) {
      merge(begin);
    } else {
      insert_events(begin, block);
    }
    report(begin, -bytes);
  }

  // Gives everything back to CUDA.
  void empty() {
    for (const auto& [event, begin] : events_)
      CHECK(cudaEventSynchronize(event));
    process_events();
    for (char* segment : segments_)
      CHECK(cudaFree(segment));
    segments_.clear();
    blocks_.clear();
  }
  std::size_t reports() const { return reports_; }

 private:
  struct Block {
    std::size_t bytes = 0;
    bool taken = false;
    bool begins_segment = false;
    int events = 0;
    std::vector<cudaStream_t> streams;
  };
  using Blocks = std::map<char*, Block>;

  Blocks::iterator add_segment(std::size_t bytes) {
    constexpr std::size_t kSegment = 2 << 20;
    bytes = (bytes + kSegment - 1) / kSegment * kSegment;
    char* segment = nullptr;
    CHECK(cudaMalloc(&segment, bytes));
    segments_.push_back(segment);
    Block block;
    block.bytes = bytes;
    block.begins_segment = true;
    return blocks_.emplace(segment, block).first;
  }

  void split(Blocks::iterator block, std::size_t bytes) {
    if (block->second.bytes == bytes) return;
    Block rest;
    rest.bytes = block->second.bytes - bytes;
    blocks_.emplace(block->first + bytes, rest);
    block->second.bytes = bytes;
  }

  void merge(char* begin) {
    auto block = blocks_.find(begin);
    block->second.taken = false;
    block->second.streams.clear();
    const auto is_free = [](const Block& b) { return !b.taken && b.events == 0; };
    for (auto next = std::next(block); next != blocks_.end() && is_free(next->second) &&
                                       !next->second.begins_segment;
         next = blocks_.erase(next))
      block->second.bytes += next->second.bytes;
    if (block == blocks_.begin() || block->second.begins_segment) return;
    const auto before = std::prev(block);
    if (!is_free(before->second)) return;
    before->second.bytes += block->second.bytes;
    blocks_.erase(block);
  }

  void insert_events(char* begin, Block& block) {
    for (cudaStream_t stream : block.streams) {
      cudaEvent_t event;
      CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      CHECK(cudaEventRecord(event, stream));
      events_.emplace_back(event, begin);
      ++block.events;
    }
  }

  void process_events() {
    while (!events_.empty()) {
      const auto [event, begin] = events_.front();
      const cudaError_t state = cudaEventQuery(event);
      if (state == cudaErrorNotReady) return;
      CHECK(state);
      CHECK(cudaEventDestroy(event));
      events_.erase(events_.begin());
      if (--blocks_.at(begin).events == 0) merge(begin);
    }
  }

  void report(char* block, std::int64_t bytes) {
    allocated_ += static_cast<std::size_t>(bytes);
    ++reports_;
    c10::reportMemoryUsageToProfiler(block, bytes, allocated_, segments_.size() << 21,
                                     c10::Device{1, 0});
  }

  Blocks blocks_;
  std::vector<char*> segments_;
  std::vector<std::pair<cudaEvent_t, char*>> events_;
  std::size_t allocated_ = 0;
  std::size_t reports_ = 0;
};

// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/baselines.h"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace drgpum {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::int64_t round_up(std::int64_t bytes, std::int64_t step) {
  return (std::max<std::int64_t>(bytes, 1) + step - 1) / step * step;
}

// Blocks of one or more segments, the free ones by size; neighbours within a segment merge.
class BlockPool {
 public:
  // The address of the tightest free block of at least `bytes` (the lowest of equals), or -1.
  std::int64_t best_fit(std::int64_t bytes) const {
    const auto found = free_.lower_bound({bytes, INT64_MIN});
    return found == free_.end() ? -1 : found->second;
  }

  std::int64_t size_at(std::int64_t address) const { return blocks_.at(address).size; }

  // Adds a free block; merges with the block before it when that belongs to the same segment.
  void add(std::int64_t address, std::int64_t size, std::int64_t segment) {
    blocks_[address] = {size, segment, true};
    free_.insert({size, address});
    merge(address);
  }

  void take(std::int64_t address, std::int64_t bytes, bool split) {
    Block& block = blocks_.at(address);
    free_.erase({block.size, address});
    block.free = false;
    if (!split || block.size == bytes) return;
    const std::int64_t rest = block.size - bytes;
    block.size = bytes;
    blocks_[address + bytes] = {rest, block.segment, true};
    free_.insert({rest, address + bytes});
  }

  void give_back(std::int64_t address) {
    Block& block = blocks_.at(address);
    block.free = true;
    free_.insert({block.size, address});
    merge(address);
  }

  // Free bytes at the very end of the address space in use.
  std::int64_t free_at_end() const {
    if (blocks_.empty() || !blocks_.rbegin()->second.free) return 0;
    return blocks_.rbegin()->second.size;
  }

 private:
  struct Block {
    std::int64_t size = 0;
    std::int64_t segment = 0;
    bool free = false;
  };
  using Blocks = std::map<std::int64_t, Block>;

  void merge(std::int64_t address) {
    auto at = blocks_.find(address);
    if (at != blocks_.begin()) at = merge_if_free(std::prev(at), at);
    if (std::next(at) != blocks_.end()) merge_if_free(at, std::next(at));
  }

  Blocks::iterator merge_if_free(Blocks::iterator a, Blocks::iterator b) {
    const bool touch =
        a->first + a->second.size == b->first && a->second.segment == b->second.segment;
    if (!touch || !a->second.free || !b->second.free) return b;
    free_.erase({a->second.size, a->first});
    free_.erase({b->second.size, b->first});
    a->second.size += b->second.size;
    free_.insert({a->second.size, a->first});
    blocks_.erase(b);
    return a;
  }

  Blocks blocks_;
  std::set<std::pair<std::int64_t, std::int64_t>> free_;  // (size, address)
};

// One arena that grows at its end by just what a request lacks.
class GrowingArena {
 public:
  GrowingArena(std::int64_t granularity, bool bfc) : granularity_(granularity), bfc_(bfc) {}

  std::int64_t allocate(std::int64_t request) {
    const std::int64_t bytes = round_up(request, granularity_);
    std::int64_t address = pool_.best_fit(bytes);
    if (address < 0) {
      const std::int64_t missing = bytes - pool_.free_at_end();
      pool_.add(top_, missing, 0);
      top_ += missing;
      address = pool_.best_fit(bytes);
    }
    const std::int64_t size = pool_.size_at(address);
    pool_.take(address, bytes, !bfc_ || size >= 2 * bytes || size - bytes >= 128 * kMiB);
    return address;
  }

  void release(std::int64_t address) { pool_.give_back(address); }
  std::int64_t footprint() const { return top_; }

 private:
  std::int64_t granularity_;
  bool bfc_;
  BlockPool pool_;
  std::int64_t top_ = 0;
};

class CachingAllocator {
 public:
  std::int64_t allocate(std::int64_t request) {
    const std::int64_t bytes = round_up(request, 512);
    const bool small = bytes <= kMiB;
    BlockPool& pool = small ? small_ : large_;
    std::int64_t address = pool.best_fit(bytes);
    if (address < 0) {
      const std::int64_t segment = segment_bytes(bytes);
      pool.add(reserved_, segment, reserved_);
      reserved_ += segment;
      address = pool.best_fit(bytes);
    }
    const std::int64_t rest = pool.size_at(address) - bytes;
    pool.take(address, bytes, small ? rest >= 512 : rest > kMiB);
    from_small_[address] = small;
    return address;
  }

  void release(std::int64_t address) {
    (from_small_.at(address) ? small_ : large_).give_back(address);
  }

  std::int64_t footprint() const { return reserved_; }

 private:
  static std::int64_t segment_bytes(std::int64_t bytes) {
    if (bytes <= kMiB) return 2 * kMiB;
    return bytes < 10 * kMiB ? 20 * kMiB : round_up(bytes, 2 * kMiB);
  }

  BlockPool small_, large_;
  std::map<std::int64_t, bool> from_small_;
  std::int64_t reserved_ = 0;
};

struct Step {
  std::int64_t time;
  bool begins;
  std::uint32_t object;
};

std::vector<Step> steps_of(const Problem& problem) {
  std::vector<Step> steps;
  for (std::uint32_t i = 0; i < problem.objects.size(); ++i) {
    if (problem.objects[i].size == 0) continue;
    for (const TimeRange& busy : busy_ranges(problem.objects[i])) {
      steps.push_back({busy.lower, true, i});
      steps.push_back({busy.upper, false, i});
    }
  }
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return std::tie(a.time, a.begins, a.object) < std::tie(b.time, b.begins, b.object);
  });
  return steps;
}

template <typename Allocator>
std::int64_t replay(const Problem& problem, const std::vector<Step>& steps, Allocator allocator) {
  std::vector<std::int64_t> address(problem.objects.size());
  for (const Step& step : steps) {
    if (step.begins)
      address[step.object] = allocator.allocate(problem.objects[step.object].size);
    else
      allocator.release(address[step.object]);
  }
  return allocator.footprint();
}

}  // namespace

Baselines simulate_baselines(const Problem& problem) {
  const std::vector<Step> steps = steps_of(problem);
  return {replay(problem, steps, GrowingArena(512, false)),
          replay(problem, steps, GrowingArena(256, true)),
          replay(problem, steps, CachingAllocator())};
}

}  // namespace drgpum

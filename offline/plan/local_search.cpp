// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/local_search.h"

#include <algorithm>
#include <random>
#include <span>
#include <utility>

#include "offline/plan/layout.h"

namespace drgpum {
namespace {

class EjectionSearch {
 public:
  EjectionSearch(const Instance& instance, std::vector<std::int64_t>& offsets,
                 const LocalSearchOptions& options)
      : instance_(instance),
        options_(options),
        best_(offsets),
        layout_(instance),
        trouble_(instance.count(), 1),
        random_(options.seed) {
    for (std::uint32_t b = 0; b < instance_.count(); ++b)
      put(b, best_[b]);
    top_ = top_of(best_);
  }

  std::int64_t run() {
    const std::int64_t goal = std::max(options_.target, instance_.load);
    double share = 1;  // of the distance to the goal that the next target takes
    std::int64_t budget = kFirstBudget;
    while (top_ > goal && !out_of_budget()) {
      const auto way = static_cast<std::int64_t>(static_cast<double>(top_ - goal) * share);
      const std::int64_t target = std::max(goal, top_ - std::max<std::int64_t>(way, 1));
      if (reach(target, budget)) {
        share = std::min(1.0, share * 2);
        continue;
      }
      restore();
      share /= 2;
      if (share < 1.0 / 64) {
        share = 1;
        budget *= 4;
      }
    }
    return top_;
  }

 private:
  static constexpr std::int64_t kFirstBudget = 2000;  // steps for one target

  std::int64_t top_of(const std::vector<std::int64_t>& offsets) const {
    std::int64_t top = 0;
    for (std::uint32_t b = 0; b < instance_.count(); ++b)
      if (instance_.size[b] > 0) top = std::max(top, offsets[b] + instance_.size[b]);
    return top;
  }

  void put(std::uint32_t object, std::int64_t offset) {
    if (instance_.ranges_of(object).empty()) return;
    layout_.place(object, offset);
    changed_.push_back(object);
  }

  void take(std::uint32_t object) {
    layout_.remove(object);
    waiting_.emplace_back(instance_.size[object], object);
    std::push_heap(waiting_.begin(), waiting_.end());
    changed_.push_back(object);
  }

  bool out_of_budget() {
    if (steps_ >= options_.max_steps) return true;
    if ((steps_ & 15) != 0) return expired_;
    expired_ = expired_ || WorkClock::now() > options_.deadline ||
               (options_.stop && options_.stop());
    return expired_;
  }

  bool reach(std::int64_t target, std::int64_t budget) {
    changed_.clear();
    waiting_.clear();
    for (std::uint32_t b = 0; b < instance_.count(); ++b)
      if (layout_.is_placed(b) && layout_.offset(b) + instance_.size[b] > target) take(b);
    for (std::int64_t step = 0; !waiting_.empty(); ++step) {
      if (step >= budget || out_of_budget()) return false;
      ++steps_;
      std::pop_heap(waiting_.begin(), waiting_.end());
      const std::uint32_t object = waiting_.back().second;
      waiting_.pop_back();
      if (!insert(object, target)) return false;
    }
    keep();
    return true;
  }

  void keep() {
    for (const std::uint32_t b : changed_)
      best_[b] = layout_.offset(b);
    top_ = top_of(best_);
  }

  void restore() {
    for (const std::uint32_t b : changed_) {
      layout_.remove(b);
      layout_.place(b, best_[b]);
    }
  }

  bool insert(std::uint32_t object, std::int64_t target) {
    const std::span<const Block> blocks = layout_.beside(object);
    const std::int64_t size = instance_.size[object];
    const std::int64_t hole = find_hole(blocks, instance_, object, Fit::kBest);
    if (instance_.fixed_offset[object] != kNoOffset || hole + size <= target) {
      if (hole + size > target) return false;
      put(object, hole);
      return true;
    }
    ++trouble_[object];
    const std::int64_t offset = cheapest(object, blocks, target);
    if (offset < 0) return false;
    ejected_.clear();
    for (const Block& block : blocks)
      if (block.offset < offset + size && block.top > offset) ejected_.push_back(block.object);
    for (const std::uint32_t other : ejected_)
      take(other);
    put(object, offset);
    return true;
  }

  // Where the displaced objects have the least trouble in sum. Offsets tried: on top of a block,
  // just below one, and the two ends.
  std::int64_t cheapest(std::uint32_t object, std::span<const Block> blocks, std::int64_t target) {
    const std::int64_t size = instance_.size[object];
    begins_.clear();
    ends_.clear();
    for (const Block& block : blocks) {
      const double cost = cost_of(block.object);
      begins_.emplace_back(block.offset, cost);
      ends_.emplace_back(block.top, cost);
    }
    std::sort(ends_.begin(), ends_.end());
    sum_up(begins_);
    sum_up(ends_);
    tries_.clear();
    tries_.push_back(0);
    tries_.push_back(target - size);
    for (const Block& block : blocks) {
      tries_.push_back(block.top);
      tries_.push_back(block.offset - size);
    }
    std::int64_t best = -1;
    double best_cost = 0;
    for (std::int64_t offset : tries_) {
      if (instance_.has_alignment) offset -= offset % instance_.alignment[object];
      if (offset < 0 || offset + size > target) continue;
      const double cost = (below(begins_, offset + size) - below(ends_, offset + 1)) *
                          (1 + 0.1 * std::uniform_real_distribution<>()(random_));
      if (best >= 0 && cost >= best_cost) continue;
      best = offset;
      best_cost = cost;
    }
    return best;
  }

  double cost_of(std::uint32_t other) const {
    if (instance_.fixed_offset[other] != kNoOffset) return 1e18;
    return static_cast<double>(trouble_[other]);
  }

  using Weights = std::vector<std::pair<std::int64_t, double>>;

  static void sum_up(Weights& weights) {
    double sum = 0;
    for (auto& [at, weight] : weights)
      weight = sum += weight;
  }

  // The sum of the weights at heights less than `height`.
  static double below(const Weights& sums, std::int64_t height) {
    const auto end = std::lower_bound(sums.begin(), sums.end(), std::pair(height, -1.0));
    return end == sums.begin() ? 0 : std::prev(end)->second;
  }

  const Instance& instance_;
  const LocalSearchOptions& options_;
  std::vector<std::int64_t>& best_;
  std::int64_t top_ = 0;
  Layout layout_;
  std::vector<std::uint32_t> trouble_;  // how often an object found no hole
  std::vector<std::pair<std::int64_t, std::uint32_t>> waiting_;  // a heap, largest first
  std::vector<std::uint32_t> changed_;                           // since the best layout
  std::vector<std::uint32_t> ejected_;
  Weights begins_, ends_;
  std::vector<std::int64_t> tries_;
  std::mt19937_64 random_;
  std::int64_t steps_ = 0;
  bool expired_ = false;
};

}  // namespace

std::int64_t improve_layout(const Instance& instance, std::vector<std::int64_t>& offsets,
                            const LocalSearchOptions& options) {
  return EjectionSearch(instance, offsets, options).run();
}

}  // namespace drgpum

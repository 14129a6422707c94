// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/portfolio.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "offline/plan/exact_search.h"
#include "offline/plan/greedy.h"
#include "offline/plan/local_search.h"
#include "offline/plan/sub_instance.h"

namespace drgpum {
namespace {

using Clock = WorkClock;
using WallClock = std::chrono::steady_clock;  // for whoever waits

constexpr std::size_t kExactObjects = 4000;  // beyond, one descent of the exact search is too slow
constexpr std::size_t kManyObjects = 200'000;
constexpr auto kTellEvery = std::chrono::milliseconds(100);

struct GreedyPass {
  GreedyOrder order;
  Fit fit;
  const char* name;
};

// The ones most likely to be good stand first: the others give up as soon as they are worse.
constexpr std::array kPasses = {
    GreedyPass{GreedyOrder::kHotBirth, Fit::kFirst,
               "hot objects by size, others by birth, first fit"},
    GreedyPass{GreedyOrder::kSections, Fit::kBest, "most sections first, best fit"},
    GreedyPass{GreedyOrder::kSize, Fit::kFirst, "largest first, first fit"},
    GreedyPass{GreedyOrder::kHotSize, Fit::kFirst, "hottest first, first fit"},
    GreedyPass{GreedyOrder::kPeak, Fit::kFirst, "highest peak first, first fit"},
    GreedyPass{GreedyOrder::kSizeLength, Fit::kBest, "largest and longest first, best fit"},
    GreedyPass{GreedyOrder::kSizeLength, Fit::kFirst, "largest and longest first, first fit"},
    GreedyPass{GreedyOrder::kSize, Fit::kBest, "largest first, best fit"},
    GreedyPass{GreedyOrder::kArea, Fit::kFirst, "largest area first, first fit"},
    GreedyPass{GreedyOrder::kArea, Fit::kBest, "largest area first, best fit"},
    GreedyPass{GreedyOrder::kLength, Fit::kBest, "longest first, best fit"},
    GreedyPass{GreedyOrder::kLength, Fit::kFirst, "longest first, first fit"},
    GreedyPass{GreedyOrder::kSections, Fit::kFirst, "most sections first, first fit"},
    GreedyPass{GreedyOrder::kBirth, Fit::kBest, "by birth, best fit"},
    GreedyPass{GreedyOrder::kBirth, Fit::kFirst, "by birth, first fit"},
};

// Rules of the exact search, taken in turn; the ones that solve most stand first.
constexpr std::array kRules = {
    SearchOrder{SearchOrder::Value::kLength, SearchOrder::Place::kFewestChoices},
    SearchOrder{SearchOrder::Value::kSize, SearchOrder::Place::kFewestChoices},
    SearchOrder{SearchOrder::Value::kArea, SearchOrder::Place::kFewestChoices},
    SearchOrder{SearchOrder::Value::kLength, SearchOrder::Place::kLeastSlack},
    SearchOrder{SearchOrder::Value::kRandom, SearchOrder::Place::kFewestChoices},
    SearchOrder{SearchOrder::Value::kLength, SearchOrder::Place::kLowest},
};

class Portfolio {
 public:
  Portfolio(const Instance& instance, const PoolOptions& options)
      : instance_(instance), options_(options), start_(WallClock::now()) {
    const std::chrono::duration<double> limit(std::min(options.time_limit_s, 1e9));
    deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(limit);
    if (options.nodes >= 0) deadline_ = Clock::time_point::max();
    result_.lower_bound = instance.load;
    result_.footprint = INT64_MAX;
  }

  PortfolioResult run() {
    first_pass();
    if (result_.method.empty()) return std::move(result_);
    const bool small = instance_.count() <= kExactObjects && !instance_.has_fixed;
    if (options_.nodes >= 0) {
      if (small) without_clock();
      return std::move(result_);
    }
    if (small && !done()) search_everything(Clock::now() + std::chrono::milliseconds(200), 500);
    if (instance_.count() <= kManyObjects) other_passes();
    if (!instance_.has_fixed && instance_.count() <= kManyObjects) search_core();
    improve(small ? 20'000 : INT64_MAX);
    if (small) search_everything(deadline_, 2000);
    improve(INT64_MAX);
    return std::move(result_);
  }

 private:
  bool stopped() {
    tell();
    return Clock::now() > deadline_ || (options_.interrupted && options_.interrupted->load());
  }
  SearchLimits limits(std::int64_t nodes, Clock::time_point until) {
    return {nodes, until, [this] { return stopped(); }};
  }
  std::int64_t goal() const { return std::max(options_.capacity, result_.lower_bound); }
  bool done() { return result_.footprint <= goal() || stopped(); }

  void offer(const std::vector<std::int64_t>& offsets, std::int64_t footprint, const char* method) {
    if (footprint >= result_.footprint) return;
    result_.offsets = offsets;
    result_.footprint = footprint;
    result_.method = method;
  }

  // Now and then, whether or not there is news: whoever waits sees that it goes on.
  void tell() {
    if (!options_.progress) return;
    const WallClock::time_point now = WallClock::now();
    if (now - told_ < kTellEvery) return;
    told_ = now;
    const bool none = result_.footprint == INT64_MAX;
    options_.progress(none ? -1 : result_.footprint, result_.lower_bound,
                      std::chrono::duration<double>(now - start_).count());
  }

  Layout fixed_layout() const {
    Layout layout(instance_);
    for (std::uint32_t b = 0; b < instance_.count(); ++b)
      if (instance_.fixed_offset[b] != kNoOffset) layout.place(b, instance_.fixed_offset[b]);
    return layout;
  }

  void pass(const GreedyPass& with, const GreedyLimits& limits) {
    Layout layout = fixed_layout();
    const auto footprint =
        place_in_order(instance_, layout, greedy_order(instance_, with.order), with.fit, limits);
    if (footprint) offer(layout.offsets(), *footprint, with.name);
  }

  // Always ends, unless told to give up, so it is the one that is likely to be good: on very many
  // objects also quick.
  void first_pass() {
    const std::chrono::duration<double> most(options_.give_up_s);
    const Clock::time_point start = Clock::now();
    pass(kPasses[first_index()], {INT64_MAX, [&] {
                                    tell();
                                    return options_.give_up_s >= 0 && Clock::now() - start > most;
                                  }});
  }
  std::size_t first_index() const { return instance_.count() <= 50'000 ? 1 : 0; }

  void other_passes() {
    for (std::size_t i = 0; i < kPasses.size() && !done(); ++i)
      if (i != first_index()) pass(kPasses[i], {result_.footprint, [this] { return stopped(); }});
  }

  void without_clock() {
    other_passes();
    if (!done()) search_at(goal(), options_.nodes, deadline_);
  }

  // Solves the objects that live through at least a share of the load exactly, then fills in the
  // rest. Wins where a narrow peak decides and the rest has room.
  void search_core() {
    for (const double share : {0.97, 0.95, 0.9, 0.8}) {
      if (done()) return;
      const SubInstance core = hot_part(instance_, share);
      if (core.objects.size() > kExactObjects || core.objects.size() == instance_.count()) continue;
      ExactSearch search(core.instance, goal(), options_.seed);
      for (const SearchOrder& rule : kRules) {
        if (done()) return;
        const auto budget = static_cast<std::int64_t>(5 * core.objects.size());
        if (search.run(rule, limits(budget, deadline_)) != SearchOutcome::kSolved) continue;
        fill_around(core, search.offsets());
      }
    }
  }

  void fill_around(const SubInstance& core, const std::vector<std::int64_t>& offsets) {
    Layout layout(instance_);
    for (std::size_t i = 0; i < core.objects.size(); ++i)
      layout.place(core.objects[i], offsets[i]);
    const auto footprint =
        place_in_order(instance_, layout, greedy_order(instance_, GreedyOrder::kSize), Fit::kFirst,
                       {result_.footprint, [this] { return stopped(); }});
    if (footprint)
      offer(layout.offsets(), *footprint, "exact search of the core, rest by size, first fit");
  }

  // Narrows down on the least capacity that can be solved: the goal itself first, then, as long as
  // the search gives up, half-way to the best plan. A capacity that was asked for is the only goal.
  void search_everything(Clock::time_point until, std::int64_t nodes) {
    until = std::min(until, deadline_);
    double share = 0;  // of the way from the goal to the best plan
    while (!done() && Clock::now() < until) {
      const std::int64_t room = result_.footprint - 1 - goal();
      const std::int64_t capacity =
          goal() + static_cast<std::int64_t>(static_cast<double>(room) * share);
      const SearchOutcome outcome = search_at(capacity, nodes, until);
      if (outcome == SearchOutcome::kInfeasible && refuted(capacity)) return;
      if (outcome != SearchOutcome::kGaveUp) continue;
      share = options_.capacity >= 0 || share > 0.9 ? 0 : (1 + share) / 2;
      if (share == 0) nodes += nodes / 2;
    }
  }

  // True when no better plan than the best can exist, or none within the capacity asked for.
  bool refuted(std::int64_t capacity) {
    result_.lower_bound = std::max(result_.lower_bound, capacity + 1);
    return options_.capacity >= 0 || result_.footprint <= result_.lower_bound;
  }

  SearchOutcome search_at(std::int64_t capacity, std::int64_t nodes, Clock::time_point until) {
    if (search_ == nullptr || searched_ != capacity) {
      search_ = std::make_unique<ExactSearch>(instance_, capacity, options_.seed);
      searched_ = capacity;
    }
    for (const SearchOrder& rule : kRules) {
      if (stopped()) break;
      const SearchOutcome outcome = search_->run(rule, limits(nodes, until));
      if (outcome == SearchOutcome::kSolved) offer_found(search_->offsets(), "exact search");
      if (outcome != SearchOutcome::kGaveUp) return outcome;
    }
    return SearchOutcome::kGaveUp;
  }

  void offer_found(const std::vector<std::int64_t>& offsets, const char* method) {
    std::int64_t footprint = 0;
    for (std::uint32_t b = 0; b < instance_.count(); ++b)
      if (instance_.size[b] > 0) footprint = std::max(footprint, offsets[b] + instance_.size[b]);
    offer(offsets, footprint, method);
  }

  void improve(std::int64_t steps) {
    if (done()) return;
    LocalSearchOptions options;
    options.seed = options_.seed;
    options.max_steps = steps;
    options.deadline = deadline_;
    options.target = goal();
    options.stop = [this] { return stopped(); };
    std::vector<std::int64_t> offsets = result_.offsets;
    const std::int64_t footprint = improve_layout(instance_, offsets, options);
    offer(offsets, footprint, "ejection search");
  }

  const Instance& instance_;
  const PoolOptions& options_;
  WallClock::time_point start_;
  Clock::time_point deadline_;
  WallClock::time_point told_;
  PortfolioResult result_;
  std::unique_ptr<ExactSearch> search_;
  std::int64_t searched_ = -1;
};

}  // namespace

PortfolioResult run_portfolio(const Instance& instance, const PoolOptions& options) {
  return Portfolio(instance, options).run();
}

}  // namespace drgpum

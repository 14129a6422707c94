// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/autoswap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "offline/plan/bayes.h"
#include "offline/plan/check_swap.h"
#include "offline/plan/stall_estimate.h"
#include "offline/plan/swap_bound.h"

namespace drgpum {
namespace {

// One number for both parts of a cost: bytes that do not fit weigh as much as copying them in and
// out a hundred times.
double as_number(const SwapProblem& problem, const SwapCost& cost) {
  const double ns_per_byte = problem.link.out_ns_per_byte + problem.link.in_ns_per_byte;
  return static_cast<double>(cost.overhead_ns) +
         100 * ns_per_byte * static_cast<double>(cost.excess_bytes);
}

bool stopped(const SwapOptions& options) {
  return options.interrupted != nullptr && options.interrupted->load();
}

// With everything away that can be: the load that no choice gets below. Bytes.
std::int64_t floor_of(const SwapProblem& problem) {
  std::vector<std::int64_t> load = problem.load;
  for (const SwapCandidate& candidate : problem.candidates)
    for (std::int32_t e = candidate.from + 1; e < candidate.to; ++e)
      load[static_cast<std::size_t>(e % problem.period)] -= candidate.size;
  return *std::max_element(load.begin(), load.end());
}

// Searches over sets of candidates by switching one, or one against another, with annealing.
class ChoiceSearch {
 public:
  ChoiceSearch(const SwapProblem& problem, SwapPlayer& player, std::vector<std::uint32_t> among,
               std::int64_t limit, const SwapOptions& options)
      : problem_(problem),
        player_(player),
        among_(std::move(among)),
        limit_(limit),
        options_(options),
        random_(options.seed) {}

  std::vector<std::uint32_t> run(const std::vector<std::uint32_t>& from, int steps) {
    chosen_ = from;
    double current = value();
    best_ = chosen_;
    best_value_ = current;
    if (among_.empty()) return best_;
    const double first_heat = 0.004 * static_cast<double>(problem_.duration_ns);
    for (int step = 0; step < steps && best_value_ >= 1; ++step) {
      if (stopped(options_)) break;
      if (options_.progress && step % 64 == 0)
        options_.progress(limit_, player_.cost(best_, limit_));
      const double heat = first_heat * std::pow(0.002, static_cast<double>(step) / steps);
      const std::vector<std::uint32_t> before = chosen_;
      change();
      const double next = value();
      if (next <= current || chance() < std::exp((current - next) / heat)) {
        current = next;
        keep_if_best(next);
      } else {
        chosen_ = before;
      }
    }
    return best_;
  }

 private:
  double chance() { return std::uniform_real_distribution<double>()(random_); }

  // Below 1 when nothing stalls; then fewer bytes moved are better.
  double value() {
    double bytes = 0;
    for (const std::uint32_t i : chosen_)
      bytes += static_cast<double>(problem_.candidates[i].size);
    const double share = bytes / (1 + 1000 * static_cast<double>(problem_.peak_bytes));
    return as_number(problem_, player_.cost(chosen_, limit_)) + share;
  }

  void keep_if_best(double next) {
    if (next >= best_value_) return;
    best_value_ = next;
    best_ = chosen_;
  }

  void change() {
    const auto dice = random_() % 10;
    if (dice < 4 || chosen_.empty())
      toggle(among_[random_() % among_.size()]);
    else if (dice < 6)
      toggle(chosen_[random_() % chosen_.size()]);
    else {
      toggle(chosen_[random_() % chosen_.size()]);
      toggle(among_[random_() % among_.size()]);
    }
  }

  void toggle(std::uint32_t candidate) {
    const auto at = std::find(chosen_.begin(), chosen_.end(), candidate);
    if (at == chosen_.end()) {
      chosen_.push_back(candidate);
    } else {
      *at = chosen_.back();
      chosen_.pop_back();
    }
  }

  const SwapProblem& problem_;
  SwapPlayer& player_;
  const std::vector<std::uint32_t> among_;
  const std::int64_t limit_;
  const SwapOptions& options_;
  std::mt19937_64 random_;
  std::vector<std::uint32_t> chosen_, best_;
  double best_value_ = 0;
};

std::array<std::vector<double>, 4> normalised_scores(const SwapProblem& problem,
                                                     std::span<const std::uint32_t> among) {
  auto scores = swap_scores(problem, among);
  normalise(scores);
  return scores;
}

// What several limits of one problem share.
class SwapPlanner {
 public:
  SwapPlanner(const SwapProblem& problem, const SwapOptions& options)
      : problem_(problem),
        options_(options),
        player_(problem),
        at_peak_(peak_candidates(problem)),
        scores_(normalised_scores(problem, at_peak_)),
        selection_(problem, at_peak_, scores_),
        estimate_(problem, at_peak_) {
    all_.resize(problem.candidates.size());
    std::iota(all_.begin(), all_.end(), 0u);
    bound_ = zero_stall_bound(problem, all_);
    double bytes = 0;
    for (const std::uint32_t i : at_peak_)
      bytes += static_cast<double>(problem.candidates[i].size);
    for (const std::uint32_t i : at_peak_)
      share_root_.push_back(std::sqrt(static_cast<double>(problem.candidates[i].size) / bytes));
  }

  SwapPlan plan(std::int64_t limit, const std::vector<std::uint32_t>& hint, int steps) {
    SwapPlan plan;
    plan.zero_stall_bound_bytes = bound_;
    plan.weights = best_weights(limit);
    plan.chosen = selection_.select(plan.weights, limit);
    plan.by_scores = player_.cost(plan.chosen, limit);
    if (options_.mode == SwapMode::kBest) improve(plan, limit, hint, steps);
    plan.schedule = player_.play(plan.chosen, limit);
    plan.feasible = plan.schedule.cost.excess_bytes == 0 && check_swaps(problem_, plan.schedule);
    return plan;
  }

  std::int64_t bound() const { return bound_; }

 private:
  SwapWeights best_weights(std::int64_t limit) {
    BayesOptions bayes;
    bayes.evaluations = options_.evaluations;
    bayes.seed = options_.seed;
    for (std::size_t i = 0; i < 4; ++i) {
      Weights unit(4, 0.0);
      unit[i] = 1;
      bayes.first.push_back(unit);
    }
    const auto value = [&](const Weights& w) {
      return weighted_cost(player_, problem_, selection_, {w[0], w[1], w[2], w[3]}, limit);
    };
    bayes.guess = [&](const Weights& w) { return guess({w[0], w[1], w[2], w[3]}, limit); };
    const BayesResult found = minimise(4, value, bayes);
    return {found.best[0], found.best[1], found.best[2], found.best[3]};
  }

  // Which candidates a weighting selects, each with the root of its share of the bytes: distances
  // then grow with the bytes that are chosen otherwise.
  BayesGuess guess(const SwapWeights& weights, std::int64_t limit) const {
    const std::vector<std::uint32_t> places = selection_.places(weights, limit);
    BayesGuess guess;
    guess.features.assign(at_peak_.size(), 0);
    for (const std::uint32_t place : places)
      guess.features[place] = share_root_[place];
    guess.estimate = estimate_.of(places, limit);
    return guess;
  }

  void improve(SwapPlan& plan, std::int64_t limit, const std::vector<std::uint32_t>& hint,
               int steps) {
    if (!hint.empty() && player_.cost(hint, limit) < plan.by_scores) plan.chosen = hint;
    ChoiceSearch search(problem_, player_, useful(limit), limit, options_);
    plan.chosen = search.run(plan.chosen, steps);
  }

  // Candidates that are away at some event whose load is above the limit.
  std::vector<std::uint32_t> useful(std::int64_t limit) const {
    std::vector<std::int32_t> above{0};
    for (int turn = 0; turn < 2; ++turn)
      for (const std::int64_t load : problem_.load)
        above.push_back(above.back() + (load > limit));
    std::vector<std::uint32_t> found;
    for (const std::uint32_t i : all_) {
      const auto from = static_cast<std::size_t>(problem_.candidates[i].from);
      const auto to =
          std::min(static_cast<std::size_t>(problem_.candidates[i].to), above.size() - 1);
      if (above[to] > above[from]) found.push_back(i);
    }
    return found;
  }

  const SwapProblem& problem_;
  const SwapOptions& options_;
  SwapPlayer player_;
  std::vector<std::uint32_t> at_peak_, all_;
  std::array<std::vector<double>, 4> scores_;
  SwapSelection selection_;
  StallEstimate estimate_;
  std::vector<double> share_root_;  // of each at the peak, in their bytes
  std::int64_t bound_ = 0;
};

}  // namespace

double weighted_cost(SwapPlayer& player, const SwapProblem& problem,
                     const SwapSelection& selection, const SwapWeights& weights,
                     std::int64_t limit) {
  return as_number(problem, player.cost(selection.select(weights, limit), limit));
}

SwapPlan plan_swaps(const SwapProblem& problem, std::int64_t limit, const SwapOptions& options) {
  return SwapPlanner(problem, options).plan(limit, {}, options.steps);
}

std::vector<SwapPlan> sweep_limits(const SwapProblem& problem, std::span<const std::int64_t> limits,
                                   const SwapOptions& options) {
  SwapPlanner planner(problem, options);
  const int steps = std::max(options.steps / std::max(static_cast<int>(limits.size()), 1), 1);
  std::vector<SwapPlan> plans;
  std::vector<std::uint32_t> hint;
  for (const std::int64_t limit : limits) {
    plans.push_back(planner.plan(limit, hint, steps));
    hint = plans.back().chosen;
    if (!plans.back().feasible || stopped(options)) break;
  }
  return plans;
}

std::vector<SwapPlan> sweep_limits(const SwapProblem& problem, int count,
                                   const SwapOptions& options) {
  const std::int64_t floor = floor_of(problem);
  std::vector<std::int64_t> limits;
  for (int i = 1; i <= count; ++i)
    limits.push_back(problem.peak_bytes - (problem.peak_bytes - floor) / (count + 1) * i);
  return sweep_limits(problem, limits, options);
}

SwapPlan plan_without_stalls(const SwapProblem& problem, const SwapOptions& options) {
  SwapPlanner planner(problem, options);
  SwapPlan best = planner.plan(problem.peak_bytes, {}, 0);
  std::int64_t low = std::max(planner.bound(), floor_of(problem)) - 1;  // no plan, or none is known
  std::int64_t high = problem.peak_bytes;
  while (high - low > problem.peak_bytes / 1024 + 1 && !stopped(options)) {
    const std::int64_t limit = low + (high - low) / 2;
    SwapPlan plan = planner.plan(limit, best.chosen, options.steps);
    const bool good = plan.feasible && plan.schedule.cost.overhead_ns == 0;
    if (good) best = std::move(plan);
    (good ? high : low) = limit;
  }
  return best;
}

}  // namespace drgpum

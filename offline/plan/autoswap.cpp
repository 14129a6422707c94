// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/autoswap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

#include "offline/plan/bayes.h"
#include "offline/plan/check_swap.h"
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

// Searches over sets of candidates by switching one, or one against another, with annealing.
class ChoiceSearch {
 public:
  ChoiceSearch(const SwapProblem& problem, SwapPlayer& player, std::vector<std::uint32_t> among,
               std::int64_t limit, const SwapOptions& options)
      : problem_(problem),
        player_(player),
        among_(std::move(among)),
        limit_(limit),
        interrupted_(options.interrupted),
        random_(options.seed) {}

  std::vector<std::uint32_t> run(const std::vector<std::uint32_t>& from, int steps) {
    chosen_ = from;
    double current = value();
    best_ = chosen_;
    best_value_ = current;
    if (among_.empty()) return best_;
    const double first_heat = 0.004 * static_cast<double>(problem_.duration_ns);
    for (int step = 0; step < steps && best_value_ >= 1; ++step) {
      if (interrupted_ != nullptr && interrupted_->load()) break;
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
  const std::atomic<bool>* interrupted_;
  std::mt19937_64 random_;
  std::vector<std::uint32_t> chosen_, best_;
  double best_value_ = 0;
};

// What several limits of one problem share.
class SwapPlanner {
 public:
  SwapPlanner(const SwapProblem& problem, const SwapOptions& options)
      : problem_(problem),
        options_(options),
        player_(problem),
        at_peak_(peak_candidates(problem)),
        scores_(swap_scores(problem, at_peak_)) {
    normalise(scores_);
    all_.resize(problem.candidates.size());
    std::iota(all_.begin(), all_.end(), 0u);
    bound_ = zero_stall_bound(problem, all_);
  }

  SwapPlan plan(std::int64_t limit, const std::vector<std::uint32_t>& hint, int steps) {
    SwapPlan plan;
    plan.zero_stall_bound_bytes = bound_;
    plan.weights = best_weights(limit);
    plan.chosen = select_swaps(problem_, at_peak_, scores_, plan.weights, limit);
    plan.by_scores = player_.cost(plan.chosen, limit);
    if (options_.mode == SwapMode::kBest) improve(plan, limit, hint, steps);
    plan.schedule = player_.play(plan.chosen, limit);
    plan.feasible = plan.schedule.cost.excess_bytes == 0 && check_swaps(problem_, plan.schedule);
    return plan;
  }

  // With everything away that can be: the load that no choice gets below. Bytes.
  std::int64_t floor() const {
    std::vector<std::int64_t> load = problem_.load;
    for (const SwapCandidate& candidate : problem_.candidates)
      for (std::int32_t e = candidate.from + 1; e < candidate.to; ++e)
        load[static_cast<std::size_t>(e % problem_.period)] -= candidate.size;
    return *std::max_element(load.begin(), load.end());
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
      return weighted_cost(player_, problem_, at_peak_, scores_, {w[0], w[1], w[2], w[3]}, limit);
    };
    bayes.features = [&](const Weights& w) { return selected(w, limit); };
    const BayesResult found = minimise(4, value, bayes);
    return {found.best[0], found.best[1], found.best[2], found.best[3]};
  }

  // Which candidates a weighting selects, each with the root of its share of the bytes: distances
  // then grow with the bytes that are chosen otherwise.
  std::vector<double> selected(const Weights& w, std::int64_t limit) const {
    double bytes = 0;
    for (const std::uint32_t i : at_peak_)
      bytes += static_cast<double>(problem_.candidates[i].size);
    std::vector<double> features(at_peak_.size(), 0);
    for (const std::uint32_t i :
         select_swaps(problem_, at_peak_, scores_, {w[0], w[1], w[2], w[3]}, limit)) {
      const auto place = std::lower_bound(at_peak_.begin(), at_peak_.end(), i) - at_peak_.begin();
      features[static_cast<std::size_t>(place)] =
          std::sqrt(static_cast<double>(problem_.candidates[i].size) / bytes);
    }
    return features;
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
  std::int64_t bound_ = 0;
};

}  // namespace

double weighted_cost(SwapPlayer& player, const SwapProblem& problem,
                     std::span<const std::uint32_t> among,
                     const std::array<std::vector<double>, 4>& normalised,
                     const SwapWeights& weights, std::int64_t limit) {
  return as_number(problem,
                   player.cost(select_swaps(problem, among, normalised, weights, limit), limit));
}

SwapPlan plan_swaps(const SwapProblem& problem, std::int64_t limit, const SwapOptions& options) {
  return SwapPlanner(problem, options).plan(limit, {}, options.steps);
}

std::vector<SwapPlan> sweep_limits(const SwapProblem& problem, int count,
                                   const SwapOptions& options) {
  SwapPlanner planner(problem, options);
  const std::int64_t floor = planner.floor();
  std::vector<SwapPlan> plans;
  std::vector<std::uint32_t> hint;
  for (int i = 1; i <= count; ++i) {
    const std::int64_t limit = problem.peak_bytes - (problem.peak_bytes - floor) / (count + 1) * i;
    plans.push_back(planner.plan(limit, hint, std::max(options.steps / count, 1)));
    hint = plans.back().chosen;
    if (!plans.back().feasible || stopped(options)) break;
  }
  return plans;
}

SwapPlan plan_without_stalls(const SwapProblem& problem, const SwapOptions& options) {
  SwapPlanner planner(problem, options);
  SwapPlan best = planner.plan(problem.peak_bytes, {}, 0);
  std::int64_t low = std::max(planner.bound(), planner.floor()) - 1;  // no plan, or none is known
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

namespace {

struct ResidencyChange {
  std::int64_t time;
  int rank;  // at one instant: copies out end, then events in their order, then copies in start
  std::size_t order;
  std::uint32_t instance;
  bool begins;
};

std::vector<ResidencyChange> residency_changes(const SwapProblem& problem,
                                               const SwapSchedule& schedule) {
  std::vector<ResidencyChange> changes;
  for (std::uint32_t i = 0; i < problem.instances.size(); ++i)
    if (problem.instances[i].live_at_start) changes.push_back({-2, 0, i, i, true});
  for (std::size_t e = 0; e < problem.events.size(); ++e)
    if (problem.events[e].bytes != 0)
      changes.push_back(
          {schedule.event_ns[e], 1, e, problem.events[e].instance, problem.events[e].bytes > 0});
  for (const SwapTimes& swap : schedule.swaps) {
    const bool leaves = swap.absence.from >= 0 && swap.out_end != 0;
    const bool at_all = swap.absence.from < 0 || leaves;
    if (at_all) changes.push_back({leaves ? swap.out_end : -1, 0, 0, swap.absence.instance, false});
    if (swap.in_start != kNeverNs)
      changes.push_back({swap.in_start, 2, 0, swap.absence.instance, true});
  }
  std::sort(changes.begin(), changes.end(), [](const ResidencyChange& a, const ResidencyChange& b) {
    return std::tie(a.time, a.rank, a.order) < std::tie(b.time, b.rank, b.order);
  });
  return changes;
}

}  // namespace

Problem residency_problem(const SwapProblem& problem, const Problem& source,
                          const SwapSchedule& schedule) {
  Problem stays;
  stays.source = source.source;
  const std::vector<ResidencyChange> changes = residency_changes(problem, schedule);
  std::vector<std::int64_t> since(problem.instances.size(), -1);
  const auto end_stay = [&](std::uint32_t instance, std::int64_t at) {
    if (since[instance] < 0) return;
    PlanObject stay;
    stay.id = source.objects[problem.instances[instance].object].id + "@" +
              std::to_string(stays.objects.size());
    stay.life = {since[instance], at};
    stay.size = problem.instances[instance].size;
    if (at > since[instance]) stays.objects.push_back(std::move(stay));
    since[instance] = -1;
  };
  for (std::int64_t i = 0; i < std::ssize(changes); ++i) {
    const ResidencyChange& change = changes[static_cast<std::size_t>(i)];
    if (change.begins)
      since[change.instance] = i;
    else
      end_stay(change.instance, i);
  }
  for (std::uint32_t i = 0; i < since.size(); ++i)
    end_stay(i, std::ssize(changes));
  return stays;
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/swap_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace drgpum {
namespace {

// The load of one iteration as it repeats; ranges of events may wrap around its end.
class CircularLoad {
 public:
  explicit CircularLoad(const std::vector<std::int64_t>& load)
      : load_(load), before_(load.size() + 1) {
    add_up();
  }

  void lower(std::int64_t from, std::int64_t to, std::int64_t bytes) {
    const std::int64_t period = std::ssize(load_);
    const std::int64_t first = from % period;
    const std::int64_t last = first + std::min(to - from, period);
    lower_within(first, std::min(last, period), bytes);
    lower_within(0, last - period, bytes);
  }

  // Makes sum() see what lower() has done.
  void add_up() { std::partial_sum(load_.begin(), load_.end(), before_.begin() + 1); }

  double sum(std::int64_t from, std::int64_t to) const {
    return static_cast<double>(sum_before(to) - sum_before(from));
  }

 private:
  void lower_within(std::int64_t first, std::int64_t last, std::int64_t bytes) {
    for (std::int64_t e = first; e < last; ++e)
      load_[static_cast<std::size_t>(e)] -= bytes;
  }

  std::int64_t sum_before(std::int64_t event) const {
    const std::int64_t period = std::ssize(load_);
    return event / period * before_.back() + before_[static_cast<std::size_t>(event % period)];
  }

  std::vector<std::int64_t> load_;
  std::vector<std::int64_t> before_;
};

double net_absence(const SwapProblem& problem, const SwapCandidate& candidate) {
  const std::int64_t turns = candidate.to / problem.period;
  const std::int64_t away = turns * problem.duration_ns +
                            problem.time_of(candidate.to % problem.period) -
                            problem.time_of(candidate.from);
  return static_cast<double>(away - problem.link.out_ns(candidate.size) -
                             problem.link.in_ns(candidate.size));
}

std::vector<double> submodular(const SwapProblem& problem, std::span<const std::uint32_t> among) {
  CircularLoad load(problem.load);
  std::vector<double> score(among.size(), 0);
  std::vector<std::size_t> left(among.size());
  std::iota(left.begin(), left.end(), 0u);
  while (!left.empty()) {
    std::size_t best = 0;
    double best_gain = -HUGE_VAL;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const SwapCandidate& candidate = problem.candidates[among[left[i]]];
      const double gain = load.sum(candidate.from, candidate.to);
      if (gain <= best_gain) continue;
      best = i;
      best_gain = gain;
    }
    const SwapCandidate& candidate = problem.candidates[among[left[best]]];
    score[left[best]] = best_gain;
    load.lower(candidate.from, candidate.to, candidate.size);
    load.add_up();
    left.erase(left.begin() + static_cast<std::ptrdiff_t>(best));
  }
  return score;
}

}  // namespace

std::vector<std::uint32_t> peak_candidates(const SwapProblem& problem) {
  std::vector<std::uint32_t> among;
  for (std::uint32_t i = 0; i < problem.candidates.size(); ++i)
    if (problem.candidates[i].spans_peak) among.push_back(i);
  return among;
}

std::array<std::vector<double>, 4> swap_scores(const SwapProblem& problem,
                                               std::span<const std::uint32_t> among) {
  auto [aoa, doa] = absence_scores(problem, among);
  std::vector<double> wdoa;
  const CircularLoad load(problem.load);
  for (const std::uint32_t i : among)
    wdoa.push_back(load.sum(problem.candidates[i].from, problem.candidates[i].to));
  return {std::move(aoa), std::move(doa), std::move(wdoa), submodular(problem, among)};
}

std::array<std::vector<double>, 2> absence_scores(const SwapProblem& problem,
                                                  std::span<const std::uint32_t> among) {
  std::array<std::vector<double>, 2> scores;
  for (const std::uint32_t i : among) {
    const SwapCandidate& candidate = problem.candidates[i];
    const double net = net_absence(problem, candidate);
    const auto size = static_cast<double>(candidate.size);
    scores[0].push_back(net >= 0 ? net * size : net / size);
    scores[1].push_back(net);
  }
  return scores;
}

void normalise(std::array<std::vector<double>, 4>& scores) {
  for (std::vector<double>& row : scores) {
    const auto n = static_cast<double>(std::max<std::size_t>(row.size(), 1));
    const double mean = std::accumulate(row.begin(), row.end(), 0.0) / n;
    double variance = 0;
    for (const double x : row)
      variance += (x - mean) * (x - mean) / n;
    for (double& x : row)
      x = variance > 0 ? (x - mean) / std::sqrt(variance) : 0;
  }
}

SwapSelection::SwapSelection(const SwapProblem& problem, std::span<const std::uint32_t> among,
                             const std::array<std::vector<double>, 4>& normalised)
    : problem_(problem), among_(among), normalised_(normalised) {
  std::vector<char> cut(static_cast<std::size_t>(problem.period), 0);
  for (const std::uint32_t i : among)
    for (const std::int32_t at : {problem.candidates[i].from + 1, problem.candidates[i].to})
      cut[static_cast<std::size_t>(at % problem.period)] = 1;
  std::vector<std::size_t> of_event;
  of_event.reserve(cut.size());
  for (std::size_t e = 0; e < cut.size(); ++e) {
    if (e == 0 || cut[e] != 0) load_.push_back(problem.load[e]);
    load_.back() = std::max(load_.back(), problem.load[e]);
    of_event.push_back(load_.size() - 1);
  }
  for (const std::uint32_t i : among)
    away_.push_back(stretches_of(problem.candidates[i], of_event));
}

SwapSelection::Stretches SwapSelection::stretches_of(
    const SwapCandidate& candidate, const std::vector<std::size_t>& of_event) const {
  const std::int32_t period = problem_.period;
  const auto between = [&](std::int32_t from, std::int32_t to) {
    if (to <= from || from >= period) return std::pair<std::size_t, std::size_t>(0, 0);
    return std::pair(of_event[static_cast<std::size_t>(from)],
                     of_event[static_cast<std::size_t>(to) - 1] + 1);
  };
  const std::int32_t from = candidate.from + 1;
  const std::int32_t to = std::min(candidate.to, from + period);
  const auto [first, last] = between(from, std::min(to, period));
  const auto [wrapped_first, wrapped_last] = between(std::max(from - period, 0), to - period);
  return {first, last, wrapped_first, wrapped_last};
}

std::vector<std::uint32_t> SwapSelection::places(const SwapWeights& weights,
                                                 std::int64_t limit) const {
  std::vector<std::pair<double, std::uint32_t>> order;
  order.reserve(among_.size());
  for (std::uint32_t i = 0; i < among_.size(); ++i) {
    double score = 0;
    for (std::size_t k = 0; k < weights.size(); ++k)
      score += weights[k] * normalised_[k][i];
    order.emplace_back(-score, i);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::int64_t> load = load_;
  std::vector<std::uint32_t> chosen;
  for (const auto& [score, i] : order) {
    if (*std::max_element(load.begin(), load.end()) <= limit) break;
    const std::int64_t size = problem_.candidates[among_[i]].size;
    for (std::size_t s = away_[i].first; s < away_[i].last; ++s)
      load[s] -= size;
    for (std::size_t s = away_[i].wrapped_first; s < away_[i].wrapped_last; ++s)
      load[s] -= size;
    chosen.push_back(i);
  }
  return chosen;
}

std::vector<std::uint32_t> SwapSelection::select(const SwapWeights& weights,
                                                 std::int64_t limit) const {
  std::vector<std::uint32_t> chosen = places(weights, limit);
  for (std::uint32_t& i : chosen)
    i = among_[i];
  return chosen;
}

}  // namespace drgpum

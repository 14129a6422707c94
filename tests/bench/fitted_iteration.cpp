// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/fitted_iteration.h"

#include <algorithm>
#include <cmath>

#include "offline/plan/iterations.h"
#include "offline/plan/published_swap.h"
#include "offline/plan/swap_bound.h"
#include "offline/plan/swap_scores.h"

namespace drgpum {
namespace {

using testing::TrainingLayer;
using testing::TrainingModel;
using testing::VggFit;

constexpr double kPeakMib = 647.7;
constexpr double kBoundMib = 342.4;
constexpr std::size_t kCandidates = 77;
constexpr std::size_t kWdoa = 2;

double mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

double penalty(double error, double allowed) {
  const double beyond = std::max(std::abs(error) - allowed, 0.0);
  return beyond + beyond * beyond;
}

std::int64_t limit_of(std::size_t row) {
  return std::int64_t{testing::published_vgg_rows()[row].limit_mib} << 20;
}

SwapWeights only(std::size_t score) {
  SwapWeights weights{};
  weights[score] = 1;
  return weights;
}

void append_shares(std::vector<double>& all, const std::vector<double>& work, double ns) {
  double sum = 0;
  for (const double w : work)
    sum += w;
  for (const double w : work)
    all.push_back(ns * w / sum);
}

// Nanoseconds of each layer's passes and update, in the order of an iteration.
std::vector<double> durations(const TrainingModel& model) {
  std::vector<double> forward, backward, update;
  for (const TrainingLayer& layer : model.layers) {
    forward.push_back(layer.work);
    backward.insert(backward.begin(), layer.backward_work);
    if (layer.weight_bytes > 0) update.push_back(static_cast<double>(layer.weight_bytes));
  }
  std::vector<double> all;
  append_shares(all, forward, model.iteration_ns * model.forward_share);
  append_shares(all, backward,
                model.iteration_ns * (1 - model.forward_share - model.update_share));
  append_shares(all, update, model.iteration_ns * model.update_share);
  return all;
}

}  // namespace

FittedIteration::FittedIteration(VggFit& fit) {
  const Problem trace = training_trace(calibrated_vgg(fit), {.iterations = 4});
  const auto found = find_iterations(trace);
  if (!found) return;
  problem_ = *make_swap_problem(trace, found->first, found->last, true, {});
  const std::int64_t more = std::llround(kPeakMib * (1 << 20)) - problem_.peak_bytes;
  fit.library_bytes += more;
  problem_.peak_bytes += more;
  for (std::int64_t& load : problem_.load)
    load += more;
  among_ = peak_candidates(problem_);
  usable_ = fit.library_bytes > 0 && among_.size() == kCandidates;
  number_stages(durations(calibrated_vgg(fit)));
  select_by_loads();
}

// A stage begins with each event that is later than the one before. The iteration was cut anywhere:
// which stage comes first is seen by the times.
void FittedIteration::number_stages(const std::vector<double>& stages) {
  const auto& events = problem_.events;
  stage_.assign(static_cast<std::size_t>(problem_.period), 0);
  for (std::size_t e = 1; e < stage_.size(); ++e)
    stage_[e] = stage_[e - 1] + (events[e].time_ns > events[e - 1].time_ns ? 1 : 0);
  const auto error = [&](std::size_t first) {
    double sum = 0;
    double now = 0;
    for (std::size_t e = 1; e < stage_.size(); ++e) {
      if (stage_[e] > stage_[e - 1]) now += stages[(first + stage_[e - 1]) % stages.size()];
      sum += std::abs(now - static_cast<double>(events[e].time_ns));
    }
    return sum;
  };
  double least = HUGE_VAL;
  for (std::size_t first = 0; first < stages.size(); ++first) {
    const double here = error(first);
    if (here >= least) continue;
    least = here;
    first_stage_ = first;
  }
}

void FittedIteration::select_by_loads() {
  scores_ = swap_scores(problem_, among_);
  const SwapSelection selection(problem_, among_, scores_);
  selected_.resize(testing::published_vgg_rows().size());
  for (std::size_t r = 0; r < selected_.size(); ++r)
    for (std::size_t k = kWdoa; k < scores_.size(); ++k)
      selected_[r][k] = selection.select(only(k), limit_of(r));
}

void FittedIteration::take_times(const VggFit& fit) {
  const std::vector<double> stages = durations(calibrated_vgg(fit));
  std::vector<std::int64_t> starts;
  double now = 0;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    starts.push_back(std::llround(now));
    now += stages[(first_stage_ + s) % stages.size()];
  }
  problem_.duration_ns = std::llround(now);
  const std::size_t period = stage_.size();
  for (std::size_t e = 0; e < problem_.events.size(); ++e)
    problem_.events[e].time_ns =
        static_cast<std::int64_t>(e / period) * problem_.duration_ns + starts[stage_[e % period]];
  const auto by_times = absence_scores(problem_, among_);
  std::copy(by_times.begin(), by_times.end(), scores_.begin());
}

double FittedIteration::percent(std::size_t row, std::size_t score) const {
  const std::int64_t limit = limit_of(row);
  const Selection chosen =
      score >= kWdoa ? selected_[row][score]
                     : SwapSelection(problem_, among_, scores_).select(only(score), limit);
  return 100 * static_cast<double>(published_overhead(problem_, chosen, limit, {})) /
         static_cast<double>(problem_.duration_ns);
}

double FittedIteration::misfit(double near, double enough) const {
  double sum = 0;
  for (std::size_t r = 0; r < selected_.size() && sum <= enough; ++r)
    for (std::size_t k = 0; k < scores_.size(); ++k)
      sum += penalty(percent(r, k) - testing::published_vgg_rows()[r].percent[k], near);
  if (sum > enough) return sum;
  return sum + penalty(0.1 * (mib(zero_stall_bound(problem_, among_)) - kBoundMib), 0.02);
}

double FittedIteration::largest_error() const {
  double largest = 0;
  for (std::size_t r = 0; r < selected_.size(); ++r)
    for (std::size_t k = 0; k < scores_.size(); ++k)
      largest = std::max(
          largest, std::abs(percent(r, k) - testing::published_vgg_rows()[r].percent[k]));
  return largest;
}

}  // namespace drgpum

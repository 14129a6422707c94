// SPDX-License-Identifier: Apache-2.0
// The tables of tests/bench/plans.md that are about swapping.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "offline/plan/autoswap.h"
#include "offline/plan/iterations.h"
#include "offline/plan/layer_baselines.h"
#include "offline/plan/published_swap.h"
#include "offline/plan/residency.h"
#include "offline/plan/smartpool.h"
#include "offline/plan/swap_bound.h"
#include "tests/bench/plan_tables.h"
#include "tests/support/calibrated_vgg.h"
#include "tests/support/training_trace.h"

namespace drgpum {
namespace {

constexpr int kEvaluations = 24;
constexpr int kSeeds = 20;

double mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

double share_of(const SwapProblem& problem, double ns) {
  return 100 * ns / static_cast<double>(problem.duration_ns);
}

double below_peak(const SwapProblem& problem, std::int64_t limit) {
  return 100 - 100.0 * static_cast<double>(limit) / static_cast<double>(problem.peak_bytes);
}

struct Iteration {
  Problem trace;
  Iterations found;
  SwapProblem swap;
};

Iteration iteration_of(const testing::TrainingModel& model) {
  Problem trace = training_trace(model, {.iterations = 5});
  const Iterations found = *find_iterations(trace);
  SwapProblem swap = *make_swap_problem(trace, found.first, found.last, true, {});
  return {std::move(trace), found, std::move(swap)};
}

// The scores of one problem's candidates, and what weightings of them cost.
struct Scored {
  explicit Scored(const SwapProblem& of)
      : problem(of),
        among(peak_candidates(of)),
        scores(normalised(swap_scores(of, among))),
        selection(of, among, scores),
        player(of) {}

  double cost(const SwapWeights& weights, std::int64_t limit) {
    return weighted_cost(player, problem, selection, weights, limit);
  }
  // Selections that come again are not played again.
  double least_of_random(int count, std::int64_t limit, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    std::set<std::vector<std::uint32_t>> seen;
    double least = HUGE_VAL;
    for (int i = 0; i < count; ++i) {
      SwapWeights weights{};
      for (double& w : weights)
        w = uniform(random);
      std::vector<std::uint32_t> selected = selection.select(weights, limit);
      std::sort(selected.begin(), selected.end());
      if (seen.insert(std::move(selected)).second) least = std::min(least, cost(weights, limit));
    }
    return least;
  }

  const SwapProblem& problem;
  std::vector<std::uint32_t> among;
  std::array<std::vector<double>, 4> scores;
  SwapSelection selection;
  SwapPlayer player;

 private:
  static std::array<std::vector<double>, 4> normalised(std::array<std::vector<double>, 4> rows) {
    normalise(rows);
    return rows;
  }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

void published_table(Scored& scored) {
  const SwapProblem& problem = scored.problem;
  std::puts(
      "The authors' scheduler and what it counts, in % of the iteration; in brackets the "
      "difference from the authors' own trace.\n\n| limit MiB | below the peak | DOA | AOA | WDOA | SWDOA "
      "|\n|---|---|---|---|---|---|");
  double largest = 0;
  for (const testing::PublishedRow& row : testing::published_vgg_rows()) {
    const auto limit = static_cast<std::int64_t>(row.limit_mib) << 20;
    std::printf("| %d | %.1f %% |", row.limit_mib, below_peak(problem, limit));
    for (const std::size_t k : {1u, 0u, 2u, 3u}) {
      SwapWeights unit{};
      unit[k] = 1;
      const auto chosen = scored.selection.select(unit, limit);
      const double overhead =
          share_of(problem, static_cast<double>(published_overhead(problem, chosen, limit, {})));
      std::printf(" %.2f (%+.2f) |", overhead, overhead - row.percent[k]);
      largest = std::max(largest, std::abs(overhead - row.percent[k]));
    }
    std::puts("");
  }
  std::printf("\nThe largest difference is %.2f points.\n", largest);
}

// Each row: whether the optimiser's median is never worse than that of random weightings, and
// strictly better where random is more than 10 % above the best weighting known.
void optimiser_table(Scored& scored) {
  const SwapProblem& problem = scored.problem;
  std::printf(
      "\n### Weightings and schedules, played\n\nOverhead in %% of the iteration. Random: the best "
      "of %d weightings; optimiser: %d evaluations; medians over %d seeds. Best known: the least "
      "cost of any weighting among 20,000 random ones and all runs of the optimiser; both choose "
      "weightings, so that is what they can reach. The optimiser chooses what to play by a coarse "
      "estimate of some hundred weightings that it does not play (stall_estimate.h). Own search "
      "chooses swaps freely.\n\n",
      kEvaluations, kEvaluations, kSeeds);
  std::puts(
      "| limit MiB | below the peak | random | optimiser | best known | own search "
      "|\n|---|---|---|---|---|---|");
  int worse = 0;
  int not_better = 0;
  for (int limit_mib = 450; limit_mib >= 280; limit_mib -= 10) {
    const std::int64_t limit = std::int64_t{limit_mib} << 20;
    std::vector<double> random, optimised;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      random.push_back(scored.least_of_random(kEvaluations, limit, seed));
      const SwapPlan plan = plan_swaps(
          problem, limit,
          {.mode = SwapMode::kScores, .evaluations = kEvaluations, .seed = seed});
      optimised.push_back(scored.cost(plan.weights, limit));
    }
    const double known = std::min(*std::min_element(optimised.begin(), optimised.end()),
                                  scored.least_of_random(20'000, limit, 1000));
    const double by_random = median(random);
    const double by_optimiser = median(optimised);
    const bool is_worse = by_optimiser > by_random;
    const bool has_to_be_better = by_random > 1.1 * known;
    worse += is_worse;
    not_better += has_to_be_better && by_optimiser >= by_random;
    const SwapPlan plan = plan_swaps(problem, limit, {});
    std::printf("| %d | %.1f %% | %.2f | %.2f%s | %.2f | %.2f%s |\n", limit_mib,
                below_peak(problem, limit), share_of(problem, by_random),
                share_of(problem, by_optimiser),
                is_worse ? " worse" : has_to_be_better && by_optimiser >= by_random ? " NOT" : "",
                share_of(problem, known),
                share_of(problem, static_cast<double>(plan.schedule.cost.overhead_ns)),
                plan.feasible ? "" : " not kept");
    std::fflush(stdout);
  }
  std::printf(
      "\nThe optimiser is worse than random weightings at %d limits, and not better at %d of those "
      "where random is more than 10 %% above the best known.\n",
      worse, not_better);
}

void vgg_tables() {
  const Iteration it = iteration_of(testing::calibrated_vgg());
  const SwapProblem& problem = it.swap;
  Scored scored(problem);
  std::printf(
      "\n## AutoSwap on the calibrated VGG look-alike\n\nPeak %.1f MiB (the authors' trace: "
      "647.7), iteration %.2f ms (83.97), %zu candidates at the peak (77); swapping only those, no plan "
      "without stalls is below %.1f MiB (342.4).\n\n",
      mib(problem.peak_bytes), static_cast<double>(problem.duration_ns) / 1e6, scored.among.size(),
      mib(zero_stall_bound(problem, scored.among)));
  published_table(scored);
  optimiser_table(scored);
  std::vector<std::int64_t> limits;
  for (int limit_mib = 670; limit_mib >= 280; limit_mib -= 10)
    limits.push_back(std::int64_t{limit_mib} << 20);
  double begin = user_seconds();
  const auto sweep = sweep_limits(problem, limits, {});
  const auto kept = std::count_if(sweep.begin(), sweep.end(),
                                  [](const SwapPlan& plan) { return plan.feasible; });
  std::printf("\nA sweep over %zu limits, 670 to 280 MiB, takes %.3f user s; %td are kept.",
              limits.size(), user_seconds() - begin, kept);
  begin = user_seconds();
  const SwapPlan zero = plan_without_stalls(problem, {});
  std::printf(
      " Without stalls %.1f MiB are reached, %.1f %% below the peak, swapping any object at any "
      "time; no such plan can be below %.1f MiB (%.3f user s).\n",
      mib(zero.schedule.limit_bytes), below_peak(problem, zero.schedule.limit_bytes),
      mib(zero.zero_stall_bound_bytes), user_seconds() - begin);
}

void scaling_table() {
  std::puts(
      "\n## AutoSwap by depth and batch\n\nOverhead in % of the iteration at a reduction of the "
      "peak, VGG look-alikes.\n\n| depth | batch | peak MiB | without stalls | at 40 % | at 50 % | "
      "at 55 % |\n|---|---|---|---|---|---|---|");
  for (const int depth : {11, 16, 19}) {
    for (const int batch : {64, 128, 256}) {
      const Iteration it = iteration_of(testing::vgg_like(depth, batch));
      const SwapProblem& problem = it.swap;
      const SwapPlan zero = plan_without_stalls(problem, {.steps = 1000});
      std::printf("| %d | %d | %.1f | %.1f %% |", depth, batch, mib(problem.peak_bytes),
                  below_peak(problem, zero.schedule.limit_bytes));
      for (const int reduction : {40, 50, 55}) {
        const SwapPlan plan =
            plan_swaps(problem, problem.peak_bytes / 100 * (100 - reduction), {.steps = 2000});
        if (plan.feasible)
          std::printf(" %.2f |",
                      share_of(problem, static_cast<double>(plan.schedule.cost.overhead_ns)));
        else
          std::printf(" not kept |");
      }
      std::puts("");
      std::fflush(stdout);
    }
  }
}

void print_cell(bool kept, double share) {
  if (kept)
    std::printf(" %.2f |", share);
  else
    std::printf(" - |");
}

void comparison_rows(const char* name, const testing::TrainingModel& model) {
  const Iteration it = iteration_of(model);
  const Problem iteration = window_of(it.trace, it.found.first, it.found.last);
  const auto share = [&](std::int64_t ns) { return share_of(it.swap, static_cast<double>(ns)); };
  const auto sublinear = plan_sublinear(iteration);
  for (const int reduction : {10, 20, 30, 35, 40, 45, 50, 55}) {
    const std::int64_t limit = it.swap.peak_bytes / 100 * (100 - reduction);
    std::int64_t recompute = -1;
    for (const LayerPlan& plan : *sublinear)
      if (plan.peak_bytes <= limit && (recompute < 0 || plan.overhead_ns < recompute))
        recompute = plan.overhead_ns;
    const auto geeps = plan_layer_swapping(iteration, {}, limit);
    const auto super = plan_swap_and_recompute(iteration, {}, limit);
    const SwapPlan own = plan_swaps(it.swap, limit, {});
    std::printf("| %s | %d %% | %.1f |", name, reduction, mib(limit));
    print_cell(recompute >= 0, share(recompute));
    print_cell(geeps->feasible, share(geeps->overhead_ns));
    print_cell(super->feasible, share(super->overhead_ns));
    print_cell(own.feasible, share(own.schedule.cost.overhead_ns));
    PoolOptions options;
    options.time_limit_s = 2;
    const auto pool = plan_pool(residency_of(it.swap, it.trace, own.schedule).problem, options);
    if (own.feasible)
      std::printf(" %.1f |\n", mib(pool->footprint));
    else
      std::puts(" - |");
    std::fflush(stdout);
  }
}

void comparison_table() {
  std::puts(
      "\n## Other ways to a smaller peak, on the same iterations\n\nOverhead in % of the iteration "
      "at a limit; `-`: not that low. Recomputation: the cheapest grouping within the limit. "
      "Combined plan: AutoSwap's own search, and the pool that is planned after the swap.\n\n"
      "| look-alike | below the peak | limit MiB | recomputation (memonger) | layer swapping "
      "(GeePS) | conv swapped, rest recomputed (SuperNeurons) | AutoSwap | pool after it, MiB "
      "|\n|---|---|---|---|---|---|---|---|");
  comparison_rows("VGG, calibrated", testing::calibrated_vgg());
  comparison_rows("AlexNet", testing::alexnet_like(128));
  comparison_rows("ResNet", testing::resnet_like(32, 128));
}

}  // namespace

void swap_tables() {
  vgg_tables();
  scaling_table();
  comparison_table();
}

}  // namespace drgpum

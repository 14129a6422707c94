// SPDX-License-Identifier: Apache-2.0
// Writes tests/bench/plans.md to standard output: what the planners reach, in user CPU seconds.
//
// usage: plan_tables DATA_FOLDER [SYNTHETIC.csv...]

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <sys/resource.h>

#include "offline/plan/autoswap.h"
#include "offline/plan/baselines.h"
#include "offline/plan/greedy.h"
#include "offline/plan/iterations.h"
#include "offline/plan/layer_baselines.h"
#include "offline/plan/published_swap.h"
#include "offline/plan/read_csv.h"
#include "offline/plan/smartpool.h"
#include "tests/support/calibrated_vgg.h"
#include "tests/support/training_trace.h"

namespace drgpum {
namespace {

double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

double percent_above(std::int64_t bytes, std::int64_t bound) {
  return 100.0 * static_cast<double>(bytes - bound) / static_cast<double>(bound);
}

// The best of five orders and two fits, one pass each; what "best simple greedy" means.
std::int64_t best_simple_greedy(const Instance& instance) {
  std::int64_t best = INT64_MAX;
  for (const GreedyOrder order : {GreedyOrder::kSize, GreedyOrder::kSizeLength, GreedyOrder::kArea,
                                  GreedyOrder::kLength, GreedyOrder::kBirth}) {
    for (const Fit fit : {Fit::kFirst, Fit::kBest}) {
      Layout layout(instance);
      best = std::min(best,
                      place_in_order(instance, layout, greedy_order(instance, order), fit, {best})
                          .value_or(best));
    }
  }
  return best;
}

// A row of the pool table; the time includes reading the file and the referee.
void pool_row(const std::string& path, std::int64_t capacity, double limit_s, bool compare,
              const char* others) {
  const double begin = user_seconds();
  const auto problem = read_problem_csv(path);
  if (!problem) {
    std::fprintf(stderr, "%s\n", problem.error().message.c_str());
    return;
  }
  PoolOptions options;
  options.capacity = capacity;
  options.time_limit_s = limit_s;
  const auto plan = plan_pool(*problem, options);
  const double seconds = user_seconds() - begin;
  if (!plan) {
    std::fprintf(stderr, "%s\n", plan.error().message.c_str());
    return;
  }
  const Instance instance = make_instance(*problem);
  const std::string greedy =
      compare ? std::to_string(percent_above(best_simple_greedy(instance), plan->load)).substr(0, 6)
              : "-";
  std::printf("| %s | %zu | %lld | %s | %lld | %.4f%s | %s | %.3f | %s |\n",
              path.substr(path.rfind('/') + 1).c_str(), problem->objects.size(),
              static_cast<long long>(plan->load),
              capacity < 0
                  ? "-"
                  : (std::to_string(capacity) + (plan->within_capacity ? " fits" : " NO")).c_str(),
              static_cast<long long>(plan->footprint), percent_above(plan->footprint, plan->load),
              plan->optimal ? " optimal" : "", greedy.c_str(), seconds, others);
  std::fflush(stdout);
}

void pool_tables(const std::string& data, const std::vector<std::string>& synthetic) {
  std::puts(
      "## SmartPool, best mode\n\nOthers: minimalloc at the same capacity, idealloc with the most "
      "restarts, user seconds, as measured in the notes this project started from.\n");
  std::puts(
      "| file | objects | load | capacity | footprint | % above load | best simple greedy, % | "
      "user s | others |\n|---|---|---|---|---|---|---|---|---|");
  const std::array<const char*, 11> minimalloc = {"4.43 s", "3.41 s", "0.61 s", "2.44 s",
                                                  "3.48 s", "4.73 s", "1.08 s", "1.62 s",
                                                  "3.65 s", "0.83 s", "0.56 s"};
  for (std::size_t i = 0; i < minimalloc.size(); ++i)
    pool_row(data + "/" + static_cast<char>('A' + i) + ".1048576.csv", 1 << 20, 30, true,
             (std::string("minimalloc ") + minimalloc[i]).c_str());
  pool_row(data + "/C.1048576.csv", 1039360, 30, false, "minimalloc 0.05 s");
  pool_row(data + "/D.1048576.csv", -1, 40, false,
           "minimalloc 1038336 in 1.5 s, nothing below in 120 s");
  pool_row(data + "/J.1048576.csv", -1, 40, false,
           "minimalloc 1043456 in 0.83 s, nothing below in 120 s");
  pool_row(data + "/resnet50.csv", -1, 60, true,
           "idealloc 0.32 %, 6.1 s; minimalloc at the load 0.27 s");
  pool_row(data + "/G_1.csv", -1, 60, true,
           "idealloc 0.18 %, 3.9 s; minimalloc at the load 1.24 s");
  pool_row(data + "/pangu_2.6B.csv", -1, 60, true, "idealloc 1.75 %, 21.2 s");
  pool_row(data + "/S_1.csv", -1, 30, true, "idealloc 2.93 %, 4.5 s");
  for (const std::string& path : synthetic)
    pool_row(path, -1, 60, false, "idealloc 0.52 %, 3.3 s (1e5); 3.48 %, 105.9 s (1e6)");
}

void baseline_table(const std::string& data) {
  std::puts(
      "\n## Allocators without a plan (simulated), % above the load\n\n| input | CnMem | BFC | "
      "PyTorch | SmartPool faithful | SmartPool best |\n|---|---|---|---|---|---|");
  const auto row = [](const char* name, const Problem& problem) {
    PoolOptions options;
    options.time_limit_s = 8;
    const auto best = plan_pool(problem, options);
    options.mode = PoolMode::kFaithful;
    const auto faithful = plan_pool(problem, options);
    const Baselines b = simulate_baselines(problem);
    std::printf(
        "| %s | %.2f | %.2f | %.2f | %.3f | %.3f |\n", name, percent_above(b.cnmem, best->load),
        percent_above(b.bfc, best->load), percent_above(b.pytorch, best->load),
        percent_above(faithful->footprint, best->load), percent_above(best->footprint, best->load));
  };
  for (const char* name : {"resnet50", "G_1"}) {
    const auto problem = read_problem_csv(data + "/" + name + ".csv");
    if (problem) row(name, *problem);
  }
  row("AlexNet look-alike, 20 iterations",
      training_trace(testing::alexnet_like(128), {.iterations = 20}));
  row("VGG look-alike, 20 iterations",
      training_trace(testing::vgg_like(16, 128), {.iterations = 20}));
  row("ResNet look-alike, 20 iterations",
      training_trace(testing::resnet_like(32, 128), {.iterations = 20}));
}

void iteration_table() {
  std::puts(
      "\n## Iterations\n\n| trace | noise | events | period found | iterations | user s "
      "|\n|---|---|---|---|---|---|");
  const auto row = [](const char* name, const testing::TrainingModel& model, int iterations,
                      double noise) {
    const Problem problem = training_trace(
        model, {.iterations = iterations, .noise = noise, .prologue = 200, .seed = 3});
    const double begin = user_seconds();
    const auto found = find_iterations(problem);
    std::printf("| %s | %.0f %% | %zu | %lld | %lld | %.3f |\n", name, 100 * noise,
                problem.events.size(), found ? static_cast<long long>(found->operations) : 0LL,
                found ? static_cast<long long>(found->count) : 0LL, user_seconds() - begin);
  };
  for (const double noise : {0.0, 0.05}) {
    row("AlexNet-like", testing::alexnet_like(128), 20, noise);
    row("VGG-like", testing::vgg_like(16, 128), 20, noise);
    row("ResNet-like", testing::resnet_like(32, 128), 20, noise);
    row("VGG-like, long", testing::vgg_like(16, 128), 430, noise);
  }
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

double share_of(const SwapProblem& problem, std::int64_t ns) {
  return 100.0 * static_cast<double>(ns) / static_cast<double>(problem.duration_ns);
}

double best_of_random(const SwapProblem& problem, SwapPlayer& player,
                      const std::vector<std::uint32_t>& among,
                      const std::array<std::vector<double>, 4>& scores, std::int64_t limit,
                      std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  double best = HUGE_VAL;
  for (int i = 0; i < 24; ++i) {
    SwapWeights weights{};
    for (double& w : weights)
      w = uniform(random);
    best = std::min(best, weighted_cost(player, problem, among, scores, weights, limit));
  }
  return best;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

void swap_table() {
  const Iteration it = iteration_of(testing::calibrated_vgg());
  const SwapProblem& problem = it.swap;
  const auto among = peak_candidates(problem);
  auto scores = swap_scores(problem, among);
  normalise(scores);
  std::printf(
      "\n## AutoSwap on the calibrated VGG look-alike\n\nPeak %.1f MiB, iteration %.2f ms, %zu "
      "candidates at the peak. As published: the authors' scheduler and what it counts, of the "
      "iteration; in brackets the difference from the authors' own trace.\n\n",
      static_cast<double>(problem.peak_bytes) / (1 << 20),
      static_cast<double>(problem.duration_ns) / 1e6, among.size());
  std::puts(
      "| limit MiB | below the peak | DOA | AOA | WDOA | SWDOA | best weighting, played | own "
      "search, played | random 24, median of 20 | optimiser, median of 20 "
      "|\n|---|---|---|---|---|---|---|---|---|---|");
  SwapPlayer player(problem);
  for (const testing::PublishedRow& row : testing::published_vgg_rows()) {
    const auto limit = static_cast<std::int64_t>(row.limit_mib) << 20;
    std::printf("| %d | %.1f %% |", row.limit_mib,
                100 - 100.0 * static_cast<double>(limit) / static_cast<double>(problem.peak_bytes));
    for (const std::size_t k : {1u, 0u, 2u, 3u}) {
      SwapWeights unit{};
      unit[k] = 1;
      const double overhead = share_of(
          problem, published_overhead(problem, select_swaps(problem, among, scores, unit, limit),
                                      limit, {}));
      std::printf(" %.2f (%+.2f) |", overhead, overhead - row.percent[k]);
    }
    std::vector<double> random, optimised;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      random.push_back(best_of_random(problem, player, among, scores, limit, seed));
      const SwapPlan plan = plan_swaps(problem, limit, {.mode = SwapMode::kScores, .seed = seed});
      optimised.push_back(weighted_cost(player, problem, among, scores, plan.weights, limit));
    }
    const SwapPlan plan = plan_swaps(problem, limit, {});
    const auto shown = [&](double ns) {
      return ns / static_cast<double>(problem.duration_ns) * 100;
    };
    std::printf(" %.2f%s | %.2f%s | %.2f | %.2f |\n", share_of(problem, plan.by_scores.overhead_ns),
                plan.by_scores.excess_bytes > 0 ? " not kept" : "",
                share_of(problem, plan.schedule.cost.overhead_ns), plan.feasible ? "" : " not kept",
                shown(median(random)), shown(median(optimised)));
    std::fflush(stdout);
  }
  double begin = user_seconds();
  const auto sweep = sweep_limits(problem, 40, {});
  std::printf("\nA sweep over 40 limits takes %.3f user s (%zu kept).", user_seconds() - begin,
              sweep.size());
  begin = user_seconds();
  const SwapPlan zero = plan_without_stalls(problem, {});
  std::printf(
      " Without stalls %.1f MiB are reached, %.1f %% below the peak; no plan can be below %.1f MiB "
      "(%.3f user s).\n",
      static_cast<double>(zero.schedule.limit_bytes) / (1 << 20),
      100 - 100.0 * static_cast<double>(zero.schedule.limit_bytes) /
                static_cast<double>(problem.peak_bytes),
      static_cast<double>(zero.zero_stall_bound_bytes) / (1 << 20), user_seconds() - begin);
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
      std::printf("| %d | %d | %.1f | %.1f %% |", depth, batch,
                  static_cast<double>(problem.peak_bytes) / (1 << 20),
                  100 - 100.0 * static_cast<double>(zero.schedule.limit_bytes) /
                            static_cast<double>(problem.peak_bytes));
      for (const int reduction : {40, 50, 55}) {
        const SwapPlan plan =
            plan_swaps(problem, problem.peak_bytes / 100 * (100 - reduction), {.steps = 2000});
        if (plan.feasible)
          std::printf(" %.2f |", share_of(problem, plan.schedule.cost.overhead_ns));
        else
          std::printf(" not kept |");
      }
      std::puts("");
      std::fflush(stdout);
    }
  }
}

void comparison_table() {
  const Iteration it = iteration_of(testing::calibrated_vgg());
  const Problem iteration = window_of(it.trace, it.found.first, it.found.last);
  const double duration = static_cast<double>(it.swap.duration_ns);
  std::puts(
      "\n## Other ways to a smaller peak, on the same iteration\n\nOverhead in % of the iteration "
      "at a limit; `-`: not that low. Recomputation: the cheapest grouping within the limit. Pool: "
      "what a pool planned after the swap needs.\n\n| limit MiB | recomputation (memonger) | layer "
      "swapping (GeePS) | conv swapped, rest recomputed (SuperNeurons) | AutoSwap, own search | "
      "pool MiB |\n|---|---|---|---|---|---|");
  const auto sublinear = plan_sublinear(iteration);
  for (const int mib : {560, 500, 450, 420, 400, 380, 360, 320, 280}) {
    const std::int64_t limit = std::int64_t{mib} << 20;
    std::int64_t recompute = -1;
    for (const LayerPlan& plan : *sublinear)
      if (plan.peak_bytes <= limit && (recompute < 0 || plan.overhead_ns < recompute))
        recompute = plan.overhead_ns;
    const auto geeps = plan_layer_swapping(iteration, {}, limit);
    const auto super = plan_swap_and_recompute(iteration, {}, limit);
    const SwapPlan own = plan_swaps(it.swap, limit, {});
    PoolOptions options;
    options.time_limit_s = 4;
    const auto pool = plan_pool(residency_problem(it.swap, it.trace, own.schedule), options);
    const auto cell = [&](bool good, std::int64_t ns) {
      if (good)
        std::printf(" %.2f |", 100.0 * static_cast<double>(ns) / duration);
      else
        std::printf(" - |");
    };
    std::printf("| %d |", mib);
    cell(recompute >= 0, recompute);
    cell(geeps->feasible, geeps->overhead_ns);
    cell(super->feasible, super->overhead_ns);
    cell(own.feasible, own.schedule.cost.overhead_ns);
    std::printf(" %.1f |\n", static_cast<double>(pool->footprint) / (1 << 20));
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace drgpum

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: plan_tables DATA_FOLDER [SYNTHETIC.csv...]\n");
    return 2;
  }
  std::puts(
      "# What the planners reach\n\nWritten by tests/bench/write_plans.sh; times are user CPU "
      "seconds of one core, release build, reading and refereeing included.\n");
  drgpum::pool_tables(argv[1], std::vector<std::string>(argv + 2, argv + argc));
  drgpum::baseline_table(argv[1]);
  drgpum::iteration_table();
  drgpum::swap_table();
  drgpum::scaling_table();
  drgpum::comparison_table();
  return 0;
}

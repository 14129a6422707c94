// SPDX-License-Identifier: Apache-2.0
// Writes tests/bench/plans.md to standard output: what the planners reach, in user CPU seconds.
//
// usage: plan_tables DATA_FOLDER [SYNTHETIC.csv...]

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "offline/plan/baselines.h"
#include "offline/plan/greedy.h"
#include "offline/plan/iterations.h"
#include "offline/plan/read_csv.h"
#include "offline/plan/smartpool.h"
#include "tests/bench/plan_tables.h"
#include "tests/support/training_trace.h"

namespace drgpum {

double user_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

namespace {

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

struct PoolRow {
  std::string path = {};
  std::int64_t capacity = -1;  // bytes
  double limit_s = 9;
  bool compare = true;  // with the simple greedy planners
  std::string others = {};
};

// Prints a row and returns its seconds; they include reading the file and the referee.
std::optional<double> plan_row(const PoolRow& row) {
  const double begin = user_seconds();
  const auto problem = read_problem_csv(row.path);
  if (!problem) {
    std::fprintf(stderr, "%s\n", problem.error().message.c_str());
    return std::nullopt;
  }
  PoolOptions options;
  options.capacity = row.capacity;
  options.time_limit_s = row.limit_s;
  const auto plan = plan_pool(*problem, options);
  const double seconds = user_seconds() - begin;
  if (!plan) {
    std::fprintf(stderr, "%s\n", plan.error().message.c_str());
    return std::nullopt;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const std::string greedy =
      row.compare ? std::to_string(percent_above(best_simple_greedy(make_instance(*problem)),
                                                 plan->load))
                        .substr(0, 6)
                  : "-";
  std::printf("| %s | %zu | %lld | %s | %lld | %.4f%s | %s | %.3f | %.0f | %s |\n",
              row.path.substr(row.path.rfind('/') + 1).c_str(), problem->objects.size(),
              static_cast<long long>(plan->load),
              row.capacity < 0 ? "-"
                               : (std::to_string(row.capacity) +
                                  (plan->within_capacity ? " fits" : " NO"))
                                     .c_str(),
              static_cast<long long>(plan->footprint), percent_above(plan->footprint, plan->load),
              plan->optimal ? " optimal" : "", greedy.c_str(), seconds,
              static_cast<double>(usage.ru_maxrss) / 1024, row.others.c_str());
  std::fflush(stdout);
  return seconds;
}

// In a process of its own, so that the peak of its memory is its own too. 0 when it failed.
double pool_row(const PoolRow& row) {
  std::fflush(stdout);
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    const double seconds = plan_row(row).value_or(0);
    const bool told = write(ends[1], &seconds, sizeof seconds) == sizeof seconds;
    _exit(told ? 0 : 1);
  }
  close(ends[1]);
  double seconds = 0;
  if (child < 0 || read(ends[0], &seconds, sizeof seconds) != sizeof seconds) seconds = 0;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return seconds;
}

void pool_tables(const std::string& data, const std::vector<std::string>& synthetic) {
  std::puts(
      "## SmartPool, best mode\n\nOthers: minimalloc at the same capacity, idealloc with the most "
      "restarts, user seconds, as measured in the notes this project started from.\n");
  std::puts(
      "| file | objects | load | capacity | footprint | % above load | best simple greedy, % | "
      "user s | peak MiB | others |\n|---|---|---|---|---|---|---|---|---|---|");
  constexpr std::array minimalloc = {"4.43 s", "3.41 s", "0.61 s", "2.44 s", "3.48 s", "4.73 s",
                                     "1.08 s", "1.62 s", "3.65 s", "0.83 s", "0.56 s"};
  double challenging = 0;
  for (std::size_t i = 0; i < minimalloc.size(); ++i)
    challenging += pool_row({.path = data + "/" + static_cast<char>('A' + i) + ".1048576.csv",
                             .capacity = 1 << 20,
                             .others = std::string("minimalloc ") + minimalloc[i]});
  const std::string c = data + "/C.1048576.csv";
  pool_row({.path = c, .capacity = 1039360, .compare = false, .others = "minimalloc 0.05 s"});
  pool_row({.path = data + "/D.1048576.csv",
            .compare = false,
            .others = "minimalloc 1038336 in 1.5 s, nothing below in 120 s"});
  pool_row({.path = data + "/J.1048576.csv",
            .compare = false,
            .others = "minimalloc 1043456 in 0.83 s, nothing below in 120 s"});
  pool_row({.path = data + "/resnet50.csv",
            .others = "idealloc 0.32 %, 6.1 s; minimalloc at the load 0.27 s"});
  pool_row({.path = data + "/G_1.csv",
            .others = "idealloc 0.18 %, 3.9 s; minimalloc at the load 1.24 s"});
  pool_row({.path = data + "/pangu_2.6B.csv", .others = "idealloc 1.75 %, 21.2 s"});
  pool_row({.path = data + "/S_1.csv", .others = "idealloc 2.93 %, 4.5 s"});
  for (const std::string& path : synthetic)
    pool_row({.path = path,
              .compare = false,
              .others = "idealloc 0.52 %, 3.3 s (1e5); 3.48 %, 105.9 s (1e6)"});
  std::printf("\nA to K at 1048576 together: %.3f user s (minimalloc 26.8 s).\n", challenging);
}

void baseline_table(const std::string& data) {
  std::puts(
      "\n## Allocators without a plan (simulated), % above the load\n\n| input | CnMem | BFC | "
      "PyTorch | SmartPool faithful | SmartPool best |\n|---|---|---|---|---|---|");
  const auto row = [](const char* name, const Problem& problem) {
    PoolOptions options;
    options.time_limit_s = 3;
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
  drgpum::swap_tables();
  return 0;
}

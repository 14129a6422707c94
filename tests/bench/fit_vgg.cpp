// SPDX-License-Identifier: Apache-2.0
// Fits the look-alike of tests/support/calibrated_vgg.h to the published figures: changes a few
// factors at random, keeps what is not worse, and among the near ones those whose factors are the
// smaller. Starts from the fit that is compiled in and prints what it has to be replaced by.
//
// usage: fit_vgg SECONDS [SEED]

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>

#include "offline/plan/iterations.h"
#include "offline/plan/published_swap.h"
#include "offline/plan/swap_bound.h"
#include "offline/plan/swap_scores.h"
#include "tests/support/calibrated_vgg.h"

namespace drgpum {
namespace {

using testing::VggFit;

constexpr double kPeakMib = 647.7;
constexpr double kBoundMib = 342.4;
constexpr double kNear = 1.4;  // points: well within the 1.5 that are asked for
constexpr int kWidest = 150;   // hundredths of a logarithm: a factor of at most 4.5

double mib(std::int64_t bytes) {
  return static_cast<double>(bytes) / (1 << 20);
}

double squared_beyond(double error, double allowed) {
  const double beyond = std::max(std::abs(error) - allowed, 0.0);
  return beyond * beyond;
}

// How far a fit is from the published figures; 0: near enough everywhere.
double misfit(const VggFit& fit) {
  const Problem trace = training_trace(testing::calibrated_vgg(fit), {.iterations = 4});
  const auto found = find_iterations(trace);
  if (!found) return HUGE_VAL;
  const SwapProblem problem = *make_swap_problem(trace, found->first, found->last, true, {});
  const auto among = peak_candidates(problem);
  auto scores = swap_scores(problem, among);
  normalise(scores);
  const SwapSelection selection(problem, among, scores);
  double sum = squared_beyond(mib(problem.peak_bytes) - kPeakMib, 0.05) +
               squared_beyond(mib(zero_stall_bound(problem, among)) - kBoundMib, 0.2) +
               squared_beyond(static_cast<double>(among.size()) - 77, 0);
  for (const testing::PublishedRow& row : testing::published_vgg_rows()) {
    const std::int64_t limit = std::int64_t{row.limit_mib} << 20;
    for (std::size_t k = 0; k < 4; ++k) {
      SwapWeights unit{};
      unit[k] = 1;
      const auto overhead = static_cast<double>(
          published_overhead(problem, selection.select(unit, limit), limit, {}));
      sum += squared_beyond(
          100 * overhead / static_cast<double>(problem.duration_ns) - row.percent[k], kNear);
    }
  }
  return sum;
}

// The rarer a layer strays from what its work suggests, the better: worth little against a misfit.
double strangeness(const VggFit& fit) {
  double sum = 0;
  for (const auto* factors : {&fit.forward, &fit.backward})
    for (const int factor : *factors)
      sum += factor * factor;
  return 1e-8 * sum;
}

class Fitter {
 public:
  Fitter(std::uint64_t seed) : random_(seed) {}

  VggFit changed(VggFit fit) {
    const int changes = 1 << (random_() % 4);
    for (int i = 0; i < changes; ++i)
      change(fit);
    return fit;
  }

 private:
  double step(double size) { return size * std::normal_distribution<double>()(random_); }

  void change(VggFit& fit) {
    const auto what = random_() % 112;
    if (what < 100) {
      int& factor = what < 50 ? fit.forward[what] : fit.backward[what - 50];
      factor = std::clamp(factor + static_cast<int>(std::lround(step(30))), -kWidest, kWidest);
    } else if (what == 100) {
      fit.forward_share = std::clamp(rounded(fit.forward_share + step(0.01)), 0.3, 0.6);
    } else if (what == 101) {
      fit.update_share = std::clamp(rounded(fit.update_share + step(0.005)), 0.02, 0.1);
    } else if (what == 102) {
      fit.forward_power = std::clamp(rounded(fit.forward_power + step(0.02)), 0.5, 1.5);
    } else if (what >= 104) {
      change_sizes(fit, what - 104);
    } else {
      fit.backward_power = std::clamp(rounded(fit.backward_power + step(0.02)), 0.5, 1.5);
    }
  }

  // The peak hardly changes by them.
  void change_sizes(VggFit& fit, std::uint64_t what) {
    const auto bytes = static_cast<std::int64_t>(std::lround(step(150))) * 1024;
    if (what < 5) {
      fit.workspace[what] =
          std::clamp(fit.workspace[what] + static_cast<int>(std::lround(step(15))), 0, 150);
    } else if (what == 5) {
      fit.forward_fill = std::clamp(rounded(fit.forward_fill + step(0.03)), 0.3, 0.95);
    } else if (fit.library_bytes + bytes > 0 && fit.dense_workspace_bytes - bytes > 0) {
      fit.library_bytes += bytes;
      fit.dense_workspace_bytes -= what == 6 ? bytes : 0;
    }
  }

  static double rounded(double value) { return std::round(value * 1e4) / 1e4; }

  std::mt19937_64 random_;
};

void print(const VggFit& fit) {
  std::printf(
      "constexpr VggFit kFit = {\n    .batch = %lld,\n    .dense = %lld,\n"
      "    .dense_workspace_bytes = %lld,\n    .library_bytes = %lld,\n    .forward_share = %g,\n"
      "    .update_share = %g,\n    .forward_fill = %g,\n    .forward_power = %g,\n"
      "    .backward_power = %g,\n    .workspace = {%d, %d, %d, %d, %d},\n",
      static_cast<long long>(fit.batch), static_cast<long long>(fit.dense),
      static_cast<long long>(fit.dense_workspace_bytes), static_cast<long long>(fit.library_bytes),
      fit.forward_share, fit.update_share, fit.forward_fill, fit.forward_power, fit.backward_power,
      fit.workspace[0], fit.workspace[1], fit.workspace[2], fit.workspace[3], fit.workspace[4]);
  for (const auto* factors : {&fit.forward, &fit.backward}) {
    std::printf("    .%s = {", factors == &fit.forward ? "forward" : "backward");
    for (std::size_t l = 0; l < factors->size(); ++l)
      std::printf("%s%d", l == 0 ? "" : l % 16 == 0 ? ",\n        " : ", ", (*factors)[l]);
    std::printf("}%s\n", factors == &fit.forward ? "," : "};");
  }
}

}  // namespace
}  // namespace drgpum

int main(int argc, char** argv) {
  using namespace drgpum;
  if (argc < 2) {
    std::fprintf(stderr, "usage: fit_vgg SECONDS [SEED]\n");
    return 2;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  Fitter fitter(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0);
  VggFit best = testing::calibrated_vgg_fit();
  double least = misfit(best) + strangeness(best);
  int tried = 0;
  for (; std::chrono::steady_clock::now() < end; ++tried) {
    const VggFit next = fitter.changed(best);
    const double here = misfit(next) + strangeness(next);
    if (here > least) continue;
    best = next;
    least = here;
  }
  print(best);
  std::printf("// misfit %.4f, strangeness %.4f, %d fits tried\n", misfit(best), strangeness(best),
              tried);
  return 0;
}

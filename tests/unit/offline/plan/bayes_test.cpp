// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/bayes.h"

#include <algorithm>
#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace drgpum {
namespace {

// Distance of a direction from a fixed one, in steps: flat almost everywhere, like a ranking's
// cost.
double steps_from_goal(const Weights& w) {
  const Weights goal = {0.5, 0.5, -0.5, 0.5};
  double squared = 0;
  for (std::size_t i = 0; i < w.size(); ++i)
    squared += (w[i] - goal[i]) * (w[i] - goal[i]);
  return std::floor(10 * std::sqrt(squared));
}

double best_of_random(std::uint64_t seed, int evaluations) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  double best = HUGE_VAL;
  for (int i = 0; i < evaluations; ++i) {
    Weights w(4);
    double squared = 0;
    for (double& x : w) {
      x = uniform(random);
      squared += x * x;
    }
    for (double& x : w)
      x /= std::sqrt(squared);
    best = std::min(best, steps_from_goal(w));
  }
  return best;
}

TEST(Bayes, ComesNearerThanAsManyRandomWeights) {
  int nearer = 0;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    BayesOptions options;
    options.seed = seed;
    options.good_enough = -1;
    nearer += minimise(4, steps_from_goal, options).value < best_of_random(seed, 24);
  }
  EXPECT_GE(nearer, 15);
}

TEST(Bayes, StopsAtAGoodEnoughValueAndAtItsNumberOfEvaluations) {
  int calls = 0;
  BayesOptions options;
  options.first = {{1, 0}, {0, 1}};
  options.evaluations = 9;
  const auto constant = [&](const Weights&) { return ++calls, 1.0; };
  EXPECT_EQ(minimise(2, constant, options).evaluations, 9);
  EXPECT_EQ(calls, 9);
  options.good_enough = 1;
  const BayesResult first = minimise(2, constant, options);
  EXPECT_EQ(first.evaluations, 1);
  EXPECT_EQ(first.best, (Weights{1, 0}));
}

}  // namespace
}  // namespace drgpum

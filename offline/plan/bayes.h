// SPDX-License-Identifier: Apache-2.0
#pragma once
// Minimises a costly function of a few weights by Bayesian optimisation.

#include <cstdint>
#include <functional>
#include <vector>

namespace drgpum {

using Weights = std::vector<double>;

// What is known of a point before it is evaluated, for next to nothing.
struct BayesGuess {
  // What its value really depends on, as a point in a space where near points have near values.
  // Points with equal features are not evaluated twice.
  std::vector<double> features;
  double estimate = 0;  // of its value
};

struct BayesOptions {
  int evaluations = 24;
  std::uint64_t seed = 0;
  std::vector<Weights> first;  // evaluated before anything else
  double good_enough = 0;      // stops at a value not above this
  std::function<BayesGuess(const Weights&)> guess = {};  // the direction, and no estimate, without
};

struct BayesResult {
  Weights best;
  double value = 0;
  int evaluations = 0;
};

// Values are at least 0. A Gaussian process models their logarithms less those of the estimates;
// its kernel is the sum of two Matern 5/2 kernels, over the features and over the weights'
// directions, with length scales chosen by likelihood from a few. The next point comes from a pool
// of directions drawn before, to which some near the best few are added each time: in turn the one
// with the largest expected improvement and the one with the least expected value, but hardly any
// whose estimate two evaluated ones share.
BayesResult minimise(int dimensions, const std::function<double(const Weights&)>& value,
                     const BayesOptions& options);

}  // namespace drgpum

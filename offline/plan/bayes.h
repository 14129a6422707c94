// SPDX-License-Identifier: Apache-2.0
#pragma once
// Minimises a costly function of a few weights by Bayesian optimisation.

#include <cstdint>
#include <functional>
#include <vector>

namespace drgpum {

using Weights = std::vector<double>;

struct BayesOptions {
  int evaluations = 24;
  std::uint64_t seed = 0;
  std::vector<Weights> first;  // evaluated before anything else
  double good_enough = 0;      // stops at a value not above this
  // What a value really depends on, as a point in a space where near points have near values; the
  // weights' direction where nothing is given. Points with equal features are not evaluated twice.
  std::function<std::vector<double>(const Weights&)> features = {};
};

struct BayesResult {
  Weights best;
  double value = 0;
  int evaluations = 0;
};

// A Gaussian process with a Matern 5/2 kernel over the features models the values seen; the next
// point is the one of many drawn with the largest expected improvement, half of them near the best
// so far. Length scale and noise are chosen by likelihood from a few. Weights lie in [-1, 1].
BayesResult minimise(int dimensions, const std::function<double(const Weights&)>& value,
                     const BayesOptions& options);

}  // namespace drgpum

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
  // Weights with one key have one value: a point whose key was seen is not evaluated again.
  std::function<std::uint64_t(const Weights&)> key = {};
};

struct BayesResult {
  Weights best;
  double value = 0;
  int evaluations = 0;
};

// A Gaussian process with a Matern 5/2 kernel over the weights' direction (only their order of
// magnitude to one another matters to a ranking) models the values seen; the next point is the one
// of many drawn with the largest expected improvement, half of them near the best so far. Length
// scale and noise are chosen by likelihood from a few. Weights lie in [-1, 1].
BayesResult minimise(int dimensions, const std::function<double(const Weights&)>& value,
                     const BayesOptions& options);

}  // namespace drgpum

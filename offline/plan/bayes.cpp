// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/bayes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <random>
#include <utility>

namespace drgpum {
namespace {

double dot(const Weights& a, const Weights& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

Weights direction(Weights w) {
  const double length = std::sqrt(dot(w, w));
  if (length > 0)
    for (double& x : w)
      x /= length;
  return w;
}

double matern52(const Weights& a, const Weights& b, double scale) {
  double squared = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    squared += (a[i] - b[i]) * (a[i] - b[i]);
  const double r = std::sqrt(5 * squared) / scale;
  return (1 + r + r * r / 3) * std::exp(-r);
}

// Values are shifted to mean 0 and scaled to deviation 1 before they are modelled.
class GaussianProcess {
 public:
  GaussianProcess(const std::vector<Weights>& points, std::vector<double> values)
      : points_(points), values_(std::move(values)) {
    double best = -HUGE_VAL;
    for (const double scale : {0.15, 0.3, 0.6, 1.2}) {
      for (const double noise : {1e-4, 1e-2, 1e-1}) {
        const double likelihood = fit(scale, noise);
        if (likelihood <= best) continue;
        best = likelihood;
        scale_ = scale;
        noise_ = noise;
      }
    }
    fit(scale_, noise_);
  }

  // Mean and standard deviation at a point.
  std::pair<double, double> at(const Weights& point) const {
    const std::size_t n = points_.size();
    std::vector<double> k(n);
    for (std::size_t i = 0; i < n; ++i)
      k[i] = matern52(points_[i], point, scale_);
    const double mean = dot(k, alpha_);
    solve_lower(k);
    return {mean, std::sqrt(std::max(1 - dot(k, k), 1e-12))};
  }

 private:
  double& l(std::size_t i, std::size_t j) { return cholesky_[i * points_.size() + j]; }
  double l(std::size_t i, std::size_t j) const { return cholesky_[i * points_.size() + j]; }

  // Factorises the kernel matrix; returns the log of the marginal likelihood, up to a constant.
  double fit(double scale, double noise) {
    const std::size_t n = points_.size();
    cholesky_.assign(n * n, 0);
    double log_determinant = 0;
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = matern52(points_[i], points_[j], scale) + (i == j ? noise : 0);
        for (std::size_t k = 0; k < j; ++k)
          sum -= l(i, k) * l(j, k);
        l(i, j) = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / l(j, j);
      }
      log_determinant += std::log(l(i, i));
    }
    alpha_ = values_;
    solve_lower(alpha_);
    const double fit_term = dot(alpha_, alpha_) / 2;
    solve_upper(alpha_);
    return -fit_term - log_determinant;
  }

  void solve_lower(std::vector<double>& x) const {
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        x[i] -= l(i, j) * x[j];
      x[i] /= l(i, i);
    }
  }
  void solve_upper(std::vector<double>& x) const {
    for (std::size_t i = x.size(); i-- > 0;) {
      for (std::size_t j = i + 1; j < x.size(); ++j)
        x[i] -= l(j, i) * x[j];
      x[i] /= l(i, i);
    }
  }

  const std::vector<Weights>& points_;
  std::vector<double> values_;
  double scale_ = 0;
  double noise_ = 0;
  std::vector<double> cholesky_;
  std::vector<double> alpha_;
};

double expected_improvement(double best, double mean, double deviation) {
  const double z = (best - mean) / deviation;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double below = std::erfc(-z / std::numbers::sqrt2) / 2;
  return (best - mean) * below + deviation * density;
}

class Optimiser {
 public:
  Optimiser(int dimensions, const std::function<double(const Weights&)>& value,
            const BayesOptions& options)
      : dimensions_(static_cast<std::size_t>(dimensions)),
        value_(value),
        options_(options),
        random_(options.seed) {}

  BayesResult run() {
    for (const Weights& point : options_.first)
      if (!done()) evaluate(point);
    while (!done())
      evaluate(points_.empty() ? anywhere() : most_promising());
    return {points_[best_], values_[best_], static_cast<int>(points_.size())};
  }

 private:
  static constexpr int kDraws = 400;
  static constexpr int kCostlyDraws = 60;   // where features have to be computed for each

  bool done() const {
    return std::ssize(points_) >= std::max(options_.evaluations, 1) ||
           (!values_.empty() && values_[best_] <= options_.good_enough);
  }

  void evaluate(const Weights& point) {
    points_.push_back(direction(point));
    values_.push_back(value_(points_.back()));
    features_.push_back(features_of(points_.back()));
    if (values_.back() < values_[best_]) best_ = values_.size() - 1;
  }

  std::vector<double> features_of(const Weights& w) const {
    return options_.features ? options_.features(w) : w;
  }

  Weights anywhere() {
    std::normal_distribution<double> normal;
    Weights w(dimensions_);
    for (double& x : w)
      x = normal(random_);
    return direction(w);
  }

  Weights near_best() {
    constexpr std::array kSteps = {0.03, 0.1, 0.3};
    std::normal_distribution<double> normal(0, kSteps[random_() % kSteps.size()]);
    Weights w = points_[best_];
    for (double& x : w)
      x += normal(random_);
    return direction(w);
  }

  Weights most_promising() {
    double mean = 0;
    for (const double v : values_)
      mean += v / static_cast<double>(values_.size());
    double variance = 0;
    for (const double v : values_)
      variance += (v - mean) * (v - mean) / static_cast<double>(values_.size());
    const double deviation = variance > 0 ? std::sqrt(variance) : 1;
    std::vector<double> scaled;
    for (const double v : values_)
      scaled.push_back((v - mean) / deviation);
    const GaussianProcess process(features_, scaled);
    Weights best = anywhere();
    double most = -1;
    for (int i = 0; i < (options_.features ? kCostlyDraws : kDraws); ++i) {
      Weights w = i % 2 == 0 ? anywhere() : near_best();
      const std::vector<double> features = features_of(w);
      if (std::find(features_.begin(), features_.end(), features) != features_.end()) continue;
      const auto [expected, doubt] = process.at(features);
      const double gain = expected_improvement(scaled[best_], expected, doubt);
      if (gain <= most) continue;
      most = gain;
      best = std::move(w);
    }
    return best;
  }

  const std::size_t dimensions_;
  const std::function<double(const Weights&)>& value_;
  const BayesOptions& options_;
  std::mt19937_64 random_;
  std::vector<Weights> points_;
  std::vector<std::vector<double>> features_;  // of the points
  std::vector<double> values_;
  std::size_t best_ = 0;
};

}  // namespace

BayesResult minimise(int dimensions, const std::function<double(const Weights&)>& value,
                     const BayesOptions& options) {
  return Optimiser(dimensions, value, options).run();
}

}  // namespace drgpum

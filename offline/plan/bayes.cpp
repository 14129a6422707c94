// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/bayes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <random>
#include <set>
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

double squared_distance(const Weights& a, const Weights& b) {
  double squared = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    squared += (a[i] - b[i]) * (a[i] - b[i]);
  return squared;
}

double matern52(double squared, double scale) {
  const double r = std::sqrt(5 * squared) / scale;
  return (1 + r + r * r / 3) * std::exp(-r);
}

// Squared distances between points, or of one from all: in their features and in their directions.
struct Distances {
  std::vector<double> features;
  std::vector<double> directions;
};

// The sum of two kernels: points with near features have near values, and far apart there is still
// a trend over the directions.
class GaussianProcess {
 public:
  // distances[i]: of point i from those before it and itself.
  GaussianProcess(const std::vector<Distances>& distances, std::vector<double> values)
      : distances_(distances),
        values_(std::move(values)),
        cholesky_(values_.size() * values_.size()) {
    double best = -HUGE_VAL;
    Scales chosen{};
    for (const double features : {0.2, 0.5, 1.2}) {
      for (const double directions : {0.5, 1.0, 2.0}) {
        scales_ = {features, directions};
        const double likelihood = fit();
        if (likelihood <= best) continue;
        best = likelihood;
        chosen = scales_;
      }
    }
    scales_ = chosen;
    fit();
  }

  // Mean and standard deviation at a point, by its distances from the others.
  std::pair<double, double> at(const Distances& distances) const {
    std::vector<double> k(values_.size());
    for (std::size_t i = 0; i < k.size(); ++i)
      k[i] = kernel(distances, i);
    const double mean = dot(k, alpha_);
    solve_lower(k);
    return {mean, std::sqrt(std::max(1 - dot(k, k), 1e-12))};
  }

 private:
  static constexpr double kNoise = 1e-2;
  struct Scales {
    double features, directions;
  };

  double kernel(const Distances& distances, std::size_t i) const {
    return (matern52(distances.features[i], scales_.features) +
            matern52(distances.directions[i], scales_.directions)) /
           2;
  }

  double& l(std::size_t i, std::size_t j) { return cholesky_[i * values_.size() + j]; }
  double l(std::size_t i, std::size_t j) const { return cholesky_[i * values_.size() + j]; }

  // Factorises the kernel matrix; returns the log of the marginal likelihood, up to a constant.
  double fit() {
    double log_determinant = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = kernel(distances_[i], j) + (i == j ? kNoise : 0);
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

  const std::vector<Distances>& distances_;
  std::vector<double> values_;
  Scales scales_{};
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
      if (!done()) evaluate(guessed(direction(point)));
    if (!done())
      for (int i = 0; i < kPool; ++i)
        draw(anywhere());
    while (!done())
      evaluate(points_.empty() ? guessed(anywhere()) : most_promising());
    const std::size_t best = order_.front();
    return {points_[best].weights, values_[best], static_cast<int>(points_.size())};
  }

 private:
  static constexpr int kPool = 300;
  static constexpr int kNear = 24;           // drawn near the best few before each evaluation
  static constexpr std::size_t kElite = 3;   // the best few
  static constexpr std::size_t kRated = 40;  // of the pool: those with the least estimates, and as
                                             // many others

  struct Point {
    Weights weights;
    BayesGuess guess;
  };

  bool done() const {
    return std::ssize(points_) >= std::max(options_.evaluations, 1) ||
           (!values_.empty() && values_[order_.front()] <= options_.good_enough);
  }

  Point guessed(Weights w) const {
    BayesGuess guess = options_.guess ? options_.guess(w) : BayesGuess{w, 0};
    return {std::move(w), std::move(guess)};
  }

  // Into the pool, unless its features are there or evaluated.
  void draw(Weights w) {
    Point point = guessed(std::move(w));
    if (known_.insert(point.guess.features).second) pool_.push_back(std::move(point));
  }

  void evaluate(Point point) {
    values_.push_back(value_(point.weights));
    known_.insert(point.guess.features);
    ++tried_[point.guess.estimate];
    points_.push_back(std::move(point));
    distances_.push_back(distances_from(points_.back()));
    const std::size_t last = values_.size() - 1;
    order_.insert(
        std::upper_bound(order_.begin(), order_.end(), last,
                         [&](std::size_t a, std::size_t b) { return values_[a] < values_[b]; }),
        last);
  }

  Distances distances_from(const Point& point) const {
    Distances distances;
    for (const Point& other : points_) {
      distances.features.push_back(squared_distance(point.guess.features, other.guess.features));
      distances.directions.push_back(squared_distance(point.weights, other.weights));
    }
    return distances;
  }

  Weights anywhere() {
    std::normal_distribution<double> normal;
    Weights w(dimensions_);
    for (double& x : w)
      x = normal(random_);
    return direction(w);
  }

  Weights near_a_good_one() {
    constexpr std::array kSteps = {0.02, 0.06, 0.2, 0.6};
    std::normal_distribution<double> normal(0, kSteps[random_() % kSteps.size()]);
    Weights w = points_[order_[random_() % std::min(kElite, order_.size())]].weights;
    for (double& x : w)
      x += normal(random_);
    return direction(w);
  }

  // On a logarithmic scale: a cost that is a hundred times the others (a limit that is not kept)
  // would hide all differences between them.
  double scaled(double value) const { return std::log(std::max(value, 0.0) + floor_); }

  // What the estimates leave to explain, shifted to mean 0 and scaled to deviation 1.
  std::vector<double> residuals() {
    std::vector<double> left;
    for (std::size_t i = 0; i < points_.size(); ++i)
      left.push_back(scaled(values_[i]) - scaled(points_[i].guess.estimate));
    const auto n = static_cast<double>(left.size());
    mean_ = std::accumulate(left.begin(), left.end(), 0.0) / n;
    double variance = 0;
    for (double& x : left) {
      x -= mean_;
      variance += x * x / n;
    }
    deviation_ = std::max(std::sqrt(variance), 1e-3);
    for (double& x : left)
      x /= deviation_;
    return left;
  }

  // Points with one estimate mostly have one value: two of them tell enough.
  bool is_told(const Point& point) const {
    const auto seen = tried_.find(point.guess.estimate);
    return options_.guess && seen != tried_.end() && seen->second >= 2;
  }

  // The least estimates first, then some others; what is told already only where nothing else is
  // left. Returns how many.
  std::size_t choose_what_to_rate() {
    const auto told = std::partition(pool_.begin(), pool_.end(),
                                     [this](const Point& point) { return !is_told(point); });
    const auto end = told == pool_.begin() ? pool_.end() : told;
    const auto size = static_cast<std::size_t>(end - pool_.begin());
    const std::size_t least = std::min(kRated, size);
    std::partial_sort(pool_.begin(), pool_.begin() + static_cast<std::ptrdiff_t>(least), end,
                      [](const Point& a, const Point& b) {
                        return a.guess.estimate < b.guess.estimate;
                      });
    const std::size_t rated = std::min(2 * kRated, size);
    for (std::size_t i = least; i < rated; ++i)
      std::swap(pool_[i], pool_[i + random_() % (size - i)]);
    return rated;
  }

  Point most_promising() {
    floor_ = std::max(1e-3 * values_[order_[order_.size() / 2]], 1e-9);
    const GaussianProcess process(distances_, residuals());
    for (int i = 0; i < kNear; ++i)
      draw(near_a_good_one());
    if (pool_.empty()) return guessed(anywhere());
    const std::size_t rated = choose_what_to_rate();
    const double least = scaled(values_[order_.front()]);
    const bool improve = points_.size() % 2 == 0;
    std::size_t best = 0;
    double most = -HUGE_VAL;
    for (std::size_t i = 0; i < rated; ++i) {
      const auto [residual, doubt] = process.at(distances_from(pool_[i]));
      const double expected = scaled(pool_[i].guess.estimate) + mean_ + deviation_ * residual;
      const double gain =
          improve ? expected_improvement(least, expected, deviation_ * doubt) : -expected;
      if (gain <= most) continue;
      most = gain;
      best = i;
    }
    std::swap(pool_[best], pool_.back());
    Point point = std::move(pool_.back());
    pool_.pop_back();
    return point;
  }

  const std::size_t dimensions_;
  const std::function<double(const Weights&)>& value_;
  const BayesOptions& options_;
  std::mt19937_64 random_;
  std::vector<Point> points_;              // evaluated
  std::vector<double> values_;             // of the points
  std::vector<std::size_t> order_;         // of the points, by value
  std::vector<Distances> distances_;       // of each point from those before it and itself
  std::vector<Point> pool_;                // not evaluated
  std::set<std::vector<double>> known_;    // features of both
  std::map<double, int> tried_;            // evaluated points by estimate
  double floor_ = 1;                       // added before logarithms are taken
  double mean_ = 0;                        // of the residuals
  double deviation_ = 1;
};

}  // namespace

BayesResult minimise(int dimensions, const std::function<double(const Weights&)>& value,
                     const BayesOptions& options) {
  return Optimiser(dimensions, value, options).run();
}

}  // namespace drgpum

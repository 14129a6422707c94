// SPDX-License-Identifier: Apache-2.0
#include "tests/support/calibrated_vgg.h"

#include <cmath>

namespace drgpum::testing {
namespace {

// Written by tests/bench/fit_vgg.
constexpr VggFit kFit = {
    .batch = 102,
    .dense = 512,
    .library_bytes = 6613067,
    .forward_share = 0.4929,
    .update_share = 0.25,
    .forward_fill = 0.1793,
    .forward_cost = {1.7005, 4.8889, 1.095},
    .backward_cost = {2.3323, 0.0221, 3.5102},
    .workspace = {0, 108, 20, 62, 81},
    .forward = {27, -52, -83, 150, -15, -44, -101, -86, -87, 150, -70, -93, 3, -104, 4, -46,
        -137, 30, -101, -61, -110, 92, 58, 92, -103, 132, -113, 75, 80, -8, 88, 54,
        -150, -28, -3, 32, -97, -101, -62, -19, 15, 116, 59, -150, 134, 150, -86, -51,
        -111, -131},
    .backward = {-141, -120, -21, -150, -150, -150, 44, 19, 21, 62, 16, 22, -150, -41, 81, 150,
        101, 133, 139, 150, 96, 137, 7, -62, 88, -78, -115, -150, -137, -140, -107, -103,
        73, 137, 78, 150, 83, -76, 150, 20, 15, 7, -40, 18, 150, 97, 38, -14,
        -33, -31}};

constexpr std::array<PublishedRow, 9> kPublished = {{
    {450, {2.52, 0, 0, 0}},
    {440, {2.52, 1.53, 3.02, 0.10}},
    {430, {0.62, 0.96, 0.53, 0.96}},
    {420, {2.93, 1.93, 1.50, 1.93}},
    {400, {5.51, 3.34, 2.60, 3.34}},
    {380, {7.01, 5.05, 6.48, 5.05}},
    {360, {7.61, 8.44, 8.44, 8.44}},
    {320, {10.55, 12.05, 12.05, 12.05}},
    {280, {16.59, 14.40, 12.97, 14.40}},
}};

// A kernel for filters of 3 x 3 that computes tiles of 2 x 2 holds them as 4 x 4.
constexpr std::int64_t kTransformed = 16;
constexpr std::int64_t kFilter = 9;

double cost(const TrainingLayer& layer, const LayerCost& of, int factor) {
  constexpr double kMib = 1 << 20;
  const double units = 1 + (layer.kind == TrainingLayer::Kind::kConv ? of.conv : 0) +
                       of.weight_mib * static_cast<double>(layer.weight_bytes) / kMib +
                       of.output_mib * static_cast<double>(layer.output_bytes) / kMib;
  return units * std::exp(factor / 100.0);
}

}  // namespace

const VggFit& calibrated_vgg_fit() {
  return kFit;
}

TrainingModel calibrated_vgg(const VggFit& fit) {
  TrainingModel model = vgg_like(16, fit.batch, fit.dense);
  model.iteration_ns = 84e6;
  model.forward_share = fit.forward_share;
  model.update_share = fit.update_share;
  model.forward_fill = fit.forward_fill;
  model.library_bytes = fit.library_bytes;
  model.fresh_gradients = true;
  std::size_t block = 0;
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    TrainingLayer& layer = model.layers[l];
    if (layer.kind == TrainingLayer::Kind::kConv) {
      layer.kept_bytes = layer.weight_bytes / kFilter * kTransformed;
      layer.workspace_bytes = layer.output_bytes / 400 * 4 * fit.workspace[block];
    }
    block += layer.kind == TrainingLayer::Kind::kPool ? 1 : 0;
    layer.work = cost(layer, fit.forward_cost, fit.forward[l]);
    layer.backward_work = cost(layer, fit.backward_cost, fit.backward[l]);
  }
  return model;
}

std::span<const PublishedRow> published_vgg_rows() {
  return kPublished;
}

}  // namespace drgpum::testing

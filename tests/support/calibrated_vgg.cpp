// SPDX-License-Identifier: Apache-2.0
#include "tests/support/calibrated_vgg.h"

#include <cmath>

namespace drgpum::testing {
namespace {

// Written by tests/bench/fit_vgg.
constexpr VggFit kFit = {
    .batch = 136,
    .dense = 1844,
    .dense_workspace_bytes = 4683264,
    .library_bytes = 4592162,
    .forward_share = 0.5177,
    .update_share = 0.0736,
    .forward_fill = 0.833,
    .forward_power = 1.077,
    .backward_power = 0.572,
    .workspace = {0, 103, 89, 4, 46},
    .forward = {-107, 10, 150, 119, 137, 149, 79, 46, 95, -101, 26, -48, 30, -51, -132, -41,
        -10, 150, 67, -135, 119, 16, 141, -109, -128, 81, -150, 150, -53, 79, -124, -122,
        83, -28, -39, -60, 86, 150, 68, 68, -73, -150, 86, 120, 150, 116, -3, 150,
        64, 50},
    .backward = {-76, 70, -11, -20, 150, -20, 67, -125, 71, 121, 150, -135, 65, 134, -59, 77,
        -122, 94, -132, 12, -59, -150, 75, -4, 150, -39, -16, 33, 24, 67, -100, -6,
        -31, -35, -109, -127, -66, -4, -150, 5, -60, -119, 61, -148, -48, 26, 128, 4,
        -132, -29}};

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
  model.statistics_bytes = 2'202'009;  // 2.1 MiB
  std::size_t block = 0;
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    using Kind = TrainingLayer::Kind;
    const Kind kind = model.layers[l].kind;
    if (kind == Kind::kDense) model.layers[l].workspace_bytes = fit.dense_workspace_bytes;
    if (kind == Kind::kConv)
      model.layers[l].workspace_bytes =
          model.layers[l].output_bytes / 400 * 4 * fit.workspace[block];
    block += kind == Kind::kPool ? 1 : 0;
    const double work = model.layers[l].work;
    model.layers[l].work = std::pow(work, fit.forward_power) * std::exp(fit.forward[l] / 100.0);
    model.layers[l].backward_work =
        std::pow(work, fit.backward_power) * std::exp(fit.backward[l] / 100.0);
  }
  return model;
}

std::span<const PublishedRow> published_vgg_rows() {
  return kPublished;
}

}  // namespace drgpum::testing

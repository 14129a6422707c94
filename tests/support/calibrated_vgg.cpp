// SPDX-License-Identifier: Apache-2.0
#include "tests/support/calibrated_vgg.h"

#include <cmath>

namespace drgpum::testing {
namespace {

// Written by tests/bench/fit_vgg.
constexpr VggFit kFit = {
    .batch = 134,
    .dense = 1859,
    .dense_workspace_bytes = 2387456,
    .library_bytes = 13832034,
    .forward_share = 0.5238,
    .update_share = 0.0757,
    .forward_fill = 0.817,
    .forward_power = 1.4176,
    .backward_power = 0.4566,
    .workspace = {2, 6, 98, 0, 144},
    .forward = {149, 46, 14, 110, 35, -53, -78, 21, -57, 13, 108, 49, 47, 21, -36, -36,
        114, 0, 62, -146, -52, 150, -14, 150, 143, -135, 8, 121, 72, 150, -64, -100,
        -112, -150, 150, 31, -2, -150, -32, -26, 66, 104, 116, 112, -24, 74, 123, 40,
        89, 22},
    .backward = {74, 84, 113, -63, 143, -41, 123, 32, 87, 130, 134, 81, 12, 100, -150, -102,
        -125, 92, 29, -90, 26, -118, -125, -85, 114, -150, 44, 136, -119, 20, -150, -55,
        -150, -141, -105, -127, 39, -13, 105, -113, 65, 119, 67, 14, 148, -6, -71, 74,
        -91, -68}};

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

// SPDX-License-Identifier: Apache-2.0
#include "tests/support/calibrated_vgg.h"

#include <cmath>

namespace drgpum::testing {
namespace {

// Per layer, the logarithm of a factor on its time: forward and backward.
constexpr std::array<double, 50> kForward = {
    -0.116553, 0.0888064, 1.5,       0.830888,  1.41267,   0.564472,  -0.0146926, 0.473587,
    -0.542301, 1.208,     1.5,       1.5,       1.38665,   0.974216,  1.27414,    0.360084,
    0.125256,  -0.26754,  0.46985,   -0.500099, -0.377988, -0.747847, -1.40222,   0.435503,
    -1.24108,  0.485867,  0.802055,  -0.902752, 0.0194347, 0.233654,  1.35932,    0.169117,
    1.43807,   -1.143,    -0.989898, -1.353,    0.585405,  0.115462,  -1.25362,   0.284421,
    0.0885421, 1.5,       -1.0423,   -0.303952, -1.32862,  0.170889,  -1.39527,   1.26769,
    1.36835,   -0.680899};
constexpr std::array<double, 50> kBackward = {
    0.852462,  -1.03409,   1.24368,   -1.09285,  1.5,       -0.0570785, 1.41623,   0.113611,
    1.40067,   -1.08888,   1.5,       -0.490814, 1.02127,   0.645457,   -0.582474, 0.160248,
    0.568363,  1.5,        -1.35225,  -1.5,      -0.565998, 1.5,        0.692143,  0.521067,
    -0.337783, -0.0947292, 1.41589,   0.571735,  -1.23366,  0.874528,   -1.5,      -0.840774,
    -0.919423, 0.302492,   0.545009,  -0.238806, -0.896575, -1.16775,   -0.480938, 0.328507,
    0.0239036, -1.5,       -0.337988, 1.16993,   1.287,     1.5,        1.24383,   1.12998,
    1.07382,   0.346646};

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

TrainingModel calibrated_vgg() {
  TrainingModel model = vgg_like(16, 134, 1926);
  model.iteration_ns = 84e6;
  model.forward_share = 0.515071;
  model.update_share = 0.0791613;
  model.forward_fill = 0.838282;
  model.library_bytes = 13504610;
  model.statistics_bytes = 2'202'009;  // 2.1 MiB
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    const double work = model.layers[l].work;
    model.layers[l].work = std::pow(work, 1.32989) * std::exp(kForward[l]);
    model.layers[l].backward_work = std::pow(work, 0.548289) * std::exp(kBackward[l]);
  }
  return model;
}

std::span<const PublishedRow> published_vgg_rows() {
  return kPublished;
}

}  // namespace drgpum::testing

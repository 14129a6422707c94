// SPDX-License-Identifier: Apache-2.0
#pragma once
// A VGG-like iteration, fitted to what is known of the one that AutoSwap's authors measured.

#include <array>
#include <span>

#include "tests/support/training_trace.h"

namespace drgpum::testing {

// What the time of a layer's pass suggests: 1 for any, more for a convolution and per MiB.
struct LayerCost {
  double conv, weight_mib, output_mib;
};

// A VGG of 16 layers for images of 32 x 32. The authors' trace shows its batch of about 100, the
// transformed filters that live beside each convolution's, and the old gradients that outlive the
// next backward pass. Its layers take the time that their work suggests times a factor: what nobody
// knows about the authors' GPU and libraries is in these factors. They are fitted by a search
// (tests/bench/fit_vgg) so that the authors' scheduler counts about the same overheads on this
// iteration as on theirs.
struct VggFit {
  std::int64_t batch, dense;  // images; channels of the first dense layer
  std::int64_t library_bytes;
  double forward_share, update_share;  // of the iteration's time
  double forward_fill;                 // of the small temporaries
  LayerCost forward_cost, backward_cost;
  std::array<int, 5> workspace;           // of each block's convolutions: % of their output
  std::array<int, 50> forward, backward;  // per layer: 100 times the logarithm of its factor
};
const VggFit& calibrated_vgg_fit();
TrainingModel calibrated_vgg(const VggFit& fit = calibrated_vgg_fit());

// The authors' own figures: overhead in % of the iteration at a limit, for AOA, DOA, WDOA, SWDOA.
struct PublishedRow {
  int limit_mib;
  std::array<double, 4> percent;
};
std::span<const PublishedRow> published_vgg_rows();

}  // namespace drgpum::testing

// SPDX-License-Identifier: Apache-2.0
#pragma once
// A VGG-like iteration, fitted to what is known of the one that AutoSwap's authors measured.

#include <array>
#include <span>

#include "tests/support/training_trace.h"

namespace drgpum::testing {

// Sizes, order and shares of time are fitted, so that the authors' scheduler counts about the same
// overheads on it as on their own trace.
TrainingModel calibrated_vgg();

// The authors' own figures: overhead in % of the iteration at a limit, for AOA, DOA, WDOA, SWDOA.
struct PublishedRow {
  int limit_mib;
  std::array<double, 4> percent;
};
std::span<const PublishedRow> published_vgg_rows();

}  // namespace drgpum::testing

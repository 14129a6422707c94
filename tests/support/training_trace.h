// SPDX-License-Identifier: Apache-2.0
#pragma once
// Training runs that look like real ones: allocations, frees, reads and writes with times.

#include <cstdint>
#include <string>
#include <vector>

#include "offline/plan/problem.h"

namespace drgpum::testing {

struct TrainingLayer {
  std::string name;
  enum class Kind : std::uint8_t { kConv, kNorm, kRelu, kPool, kDense, kAdd, kDropout } kind;
  std::int64_t output_bytes = 0;  // of the whole batch
  std::int64_t weight_bytes = 0;
  std::int64_t workspace_bytes = 0;  // only while the layer computes
  std::int64_t kept_bytes = 0;       // lives throughout: the weights as each pass transforms them
  double work = 0;                   // relative time of the forward pass
  double backward_work = 0;          // relative time of the backward pass
  std::int32_t skip_from = -1;       // kAdd: the layer whose output is the second input
};

struct TrainingModel {
  std::vector<TrainingLayer> layers;
  std::int64_t input_bytes = 0;
  std::int64_t library_bytes = 0;     // held by libraries throughout, never touched by the program
  std::int64_t statistics_bytes = 0;  // read where an iteration begins, written where it ends
  double iteration_ns = 0;
  // Each backward pass allocates its gradients and frees those of the pass before when it ends.
  // Otherwise gradients live throughout.
  bool fresh_gradients = false;
  double forward_share = 0.34;  // of the iteration's time
  double update_share = 0.05;
  std::int32_t operations = 0;  // allocations and frees per iteration: small temporaries fill up
  double forward_fill = 0.4;    // share of those temporaries that the forward pass makes
};

// Networks for images of 32 x 32, float, on `batch` images.
TrainingModel alexnet_like(std::int64_t batch);  // 188 operations an iteration
TrainingModel vgg_like(int depth, std::int64_t batch,
                       std::int64_t dense = 512);          // 11, 13, 16, 19; 16 has 1,020
TrainingModel resnet_like(int depth, std::int64_t batch);  // 6n+2; 32 has 1,268

struct TrainingRun {
  int iterations = 1;
  double noise = 0;        // share of the operations whose size differs, per iteration
  int prologue = 0;        // allocations before the first iteration that never come again
  int evaluate_every = 0;  // a forward pass without training after so many iterations
  bool marks = false;      // `iteration` events
  std::uint64_t seed = 0;
};

// Weights, their gradients and their momenta live throughout; outputs from the forward to the
// backward pass of the layer that reads them.
Problem training_trace(const TrainingModel& model, const TrainingRun& run);

// The same as an event table.
std::string events_as_csv(const Problem& problem);

}  // namespace drgpum::testing

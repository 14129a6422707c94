// SPDX-License-Identifier: Apache-2.0
#pragma once
// What others do about memory layer by layer: recompute, swap whole layers, or both. To compare
// with.

#include <cstdint>
#include <vector>

#include "offline/plan/link.h"
#include "offline/plan/problem.h"

namespace drgpum {

// Events [first, last) alone, with what is live at their start allocated at time 0.
Problem window_of(const Problem& problem, std::int64_t first, std::int64_t last);

struct LayerPlan {
  std::int64_t peak_bytes = 0;
  std::int64_t overhead_ns = 0;
  bool feasible = true;  // false: the limit cannot be kept this way
};

// All take one iteration (window_of) whose `layer` events say where each layer begins; the forward
// pass ends in the layer with the highest load. A layer's outputs are what it allocates and leaves.
// kInvalidArgument without at least two layers before that one.

// MXNet-memonger (Chen et al. 2016): the forward layers in groups of about equal number; of each
// group only the last layer's outputs are kept, the others are computed again, group by group, when
// the backward pass first needs one. One plan for each number of groups, from one up.
Result<std::vector<LayerPlan>> plan_sublinear(const Problem& iteration);

// GeePS (Cui et al. 2016): all outputs of the first layers go to the host and come back, as many
// layers as the limit needs. Bytes.
Result<LayerPlan> plan_layer_swapping(const Problem& iteration, const Link& link,
                                      std::int64_t limit);

// SuperNeurons (Wang et al. 2018): the outputs of layers named conv... go to the host and come
// back; those of other layers are computed again from the nearest one before.
Result<LayerPlan> plan_swap_and_recompute(const Problem& iteration, const Link& link,
                                          std::int64_t limit);

}  // namespace drgpum

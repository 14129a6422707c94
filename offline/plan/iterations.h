// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds the iterations of a training run in its allocations and frees.

#include <cstdint>
#include <optional>
#include <vector>

#include "offline/plan/problem.h"

namespace drgpum {

struct Iterations {
  std::int64_t operations = 0;  // allocations and frees per iteration; 0 when marks say where
  std::int64_t count = 0;       // whole iterations found, of the longest stretch
  // Events [first, last) of one iteration from the middle, cut where the fewest bytes are live.
  std::int64_t first = 0;
  std::int64_t last = 0;
};

// `iteration` events decide where there are three or more. Otherwise the period is found among the
// distances between equal short sequences of operations (hashing), each rated by how many
// operations equal the one a period before; the shortest that rates about as well as the best wins.
// Works with noise at both ends, other phases in between and a few operations that differ. Needs
// three iterations of at least four operations. Linear in events.
std::optional<Iterations> find_iterations(const Problem& problem);

// One iteration on a circle: what is allocated in the window and freed in the next one lives from
// its allocation round to its free, as an object with a gap. On the planning axis 0 is the window's
// first event.
struct CircularProblem {
  Problem problem;
  // Per allocation of the window, in order: its object in the problem, or -1 for what lives a whole
  // iteration or longer, which cannot share a place with its successor and stays out of the pool.
  std::vector<std::int32_t> object_of_allocation;
  std::vector<std::int64_t> size_of_allocation;  // bytes
};

CircularProblem circular_problem(const Problem& problem, const Iterations& iterations);

}  // namespace drgpum

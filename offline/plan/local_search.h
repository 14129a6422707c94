// SPDX-License-Identifier: Apache-2.0
#pragma once
// Improves a layout: lowers its top bit by bit, and repairs what then sticks out.

#include <cstdint>
#include <functional>
#include <vector>

#include "offline/plan/instance.h"
#include "offline/plan/work_clock.h"

namespace drgpum {

struct LocalSearchOptions {
  std::uint64_t seed = 0;
  std::int64_t max_steps = INT64_MAX;  // repair steps altogether
  WorkClock::time_point deadline = WorkClock::time_point::max();
  std::int64_t target = 0;          // bytes: good enough, stop there; the load when 0
  std::function<bool()> stop = {};  // looked at now and then; true ends the search
};

// Guided ejection search (after Nagata and Braysy's work on routing): objects that stick out of a
// target capacity are taken out; each is put into a hole if there is one, and otherwise where the
// objects it displaces are least often in trouble; those are taken out in turn. `offsets` holds a
// valid layout and is replaced by each better one. Returns the footprint reached. Deterministic for
// a seed as long as no deadline cuts it short.
std::int64_t improve_layout(const Instance& instance, std::vector<std::int64_t>& offsets,
                            const LocalSearchOptions& options);

}  // namespace drgpum

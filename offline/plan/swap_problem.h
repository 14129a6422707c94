// SPDX-License-Identifier: Apache-2.0
#pragma once
// What AutoSwap plans on: the events of one iteration, repeated, and what could be away meanwhile.

#include <cstdint>
#include <vector>

#include "offline/plan/link.h"
#include "offline/plan/problem.h"

namespace drgpum {

// An event of the unrolled timeline. Times are nanoseconds from its start.
struct SwapEvent {
  std::int64_t time_ns = 0;
  std::int64_t bytes = 0;      // malloc: +size, free: -size, else 0
  std::uint32_t instance = 0;  // which life of which object
  EventKind kind = EventKind::kRead;
  std::int64_t busy_ns = 0;  // an access: its object cannot start to leave before
};

// One life of an object on the unrolled timeline; `object` is an index into the problem's objects.
struct SwapInstance {
  std::uint32_t object = 0;
  std::int64_t size = 0;
  bool live_at_start = false;
};

// A possible swap: an object between two accesses, for every iteration of the timeline at once.
struct SwapCandidate {
  std::uint32_t object = 0;
  std::int64_t size = 0;
  std::int32_t from = 0;  // event of the access before, within [0, period)
  std::int32_t to = 0;    // event of the access after, from < to; at or above the period: it wraps
  EventKind after = EventKind::kRead;  // what `from` is: a read, a write or a layer's end
  bool spans_peak = false;             // away at the highest load
};

// One use of a candidate on the unrolled timeline.
struct Absence {
  std::uint32_t candidate = 0;
  std::uint32_t instance = 0;
  std::int32_t from = -1;  // event; -1: away from the start
  std::int32_t to = 0;     // event; events.size(): never comes back
};

// Iterations repeat, so copies may reach over their borders: the timeline is the iteration three
// times over, and what is reported is the middle one. Without iterations it is the trace once.
struct SwapProblem {
  std::int32_t period = 0;       // events per iteration
  std::int32_t repetitions = 1;  // 3 or 1
  std::int64_t duration_ns = 0;  // of one iteration
  std::vector<SwapEvent> events;
  std::vector<SwapInstance> instances;
  std::vector<SwapCandidate> candidates;
  std::vector<std::vector<Absence>> absences;  // per candidate
  std::vector<std::int64_t> load;  // per event of one iteration: bytes live after it, nothing away
  std::int32_t peak_event = 0;     // within [0, period): where the load is highest
  std::int64_t peak_bytes = 0;
  Link link;

  std::int64_t time_of(std::int32_t event) const;  // nanoseconds; also beyond the timeline's ends
};

struct SwapProblemOptions {
  std::int64_t min_bytes = 1 << 20;  // smaller objects are not swapped
  Link link;
};

// The window is [first, last) of the problem's events; it repeats if `repeats`. kInvalidArgument
// when the problem has no events, no measured times or no accesses.
Result<SwapProblem> make_swap_problem(const Problem& problem, std::int64_t first, std::int64_t last,
                                      bool repeats, const SwapProblemOptions& options);

}  // namespace drgpum

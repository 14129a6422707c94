// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/check_swap.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace drgpum {
namespace {

Error broken(const std::string& what) {
  return {ErrorCode::kInvalidArgument, "the swap plan is wrong: " + what};
}

std::string name(const SwapTimes& swap) {
  return "swap of instance " + std::to_string(swap.absence.instance) + " after event " +
         std::to_string(swap.absence.from);
}

Status check_events(const SwapProblem& problem, const SwapSchedule& schedule) {
  if (schedule.event_ns.size() != problem.events.size()) return broken("not one time per event");
  std::int64_t nominal = 0;
  std::int64_t actual = 0;
  for (std::size_t e = 0; e < problem.events.size(); ++e) {
    const std::int64_t gap = problem.events[e].time_ns - nominal;
    if (schedule.event_ns[e] - actual < gap)
      return broken("event " + std::to_string(e) + " happens " +
                    std::to_string(schedule.event_ns[e] - actual) +
                    " ns after the one before, which takes " + std::to_string(gap));
    nominal = problem.events[e].time_ns;
    actual = schedule.event_ns[e];
  }
  return Ok{};
}

Status check_copies(const SwapProblem& problem, const SwapSchedule& schedule,
                    const SwapTimes& swap) {
  const std::int64_t size = problem.instances[swap.absence.instance].size;
  const auto end = static_cast<std::int32_t>(problem.events.size());
  if (swap.absence.from >= 0) {
    const std::int32_t from = swap.absence.from;
    const std::int64_t takes = std::max(problem.time_of(from + 1) - problem.time_of(from),
                                        problem.events[static_cast<std::size_t>(from)].busy_ns);
    const std::int64_t over = schedule.event_ns[static_cast<std::size_t>(from)] + takes;
    if (swap.out_start < over) return broken(name(swap) + " starts before the access is over");
    if (swap.out_end - swap.out_start < problem.link.out_ns(size))
      return broken(name(swap) + " leaves faster than the link");
  }
  if (swap.absence.to >= end) return Ok{};
  if (swap.in_start < swap.out_end) return broken(name(swap) + " comes back before it has left");
  if (swap.in_end - swap.in_start < problem.link.in_ns(size))
    return broken(name(swap) + " returns faster than the link");
  if (swap.in_end > schedule.event_ns[static_cast<std::size_t>(swap.absence.to)])
    return broken(name(swap) + " is back too late for the access at event " +
                  std::to_string(swap.absence.to));
  return Ok{};
}

Status check_untouched(const SwapProblem& problem, const SwapTimes& swap) {
  const auto end = static_cast<std::int32_t>(problem.events.size());
  for (std::int32_t e = swap.absence.from + 1; e < std::min(swap.absence.to, end); ++e) {
    const SwapEvent& event = problem.events[static_cast<std::size_t>(e)];
    if (event.kind != EventKind::kLayer && event.kind != EventKind::kIteration &&
        event.instance == swap.absence.instance)
      return broken(name(swap) + " is away at its event " + std::to_string(e));
  }
  return Ok{};
}

Status check_serial(std::vector<std::pair<std::int64_t, std::int64_t>> copies, const char* which) {
  std::sort(copies.begin(), copies.end());
  for (std::size_t i = 1; i < copies.size(); ++i)
    if (copies[i].first < copies[i - 1].second)
      return broken(std::string("two copies ") + which + " overlap at " +
                    std::to_string(copies[i].first) + " ns");
  return Ok{};
}

Status check_streams(const SwapSchedule& schedule) {
  std::vector<std::pair<std::int64_t, std::int64_t>> out, in;
  for (const SwapTimes& swap : schedule.swaps) {
    if (swap.absence.from >= 0 && swap.out_start != swap.out_end)
      out.emplace_back(swap.out_start, swap.out_end);
    if (swap.in_start != kNeverNs) in.emplace_back(swap.in_start, swap.in_end);
  }
  RETURN_IF_ERROR(check_serial(std::move(out), "out"));
  return check_serial(std::move(in), "in");
}

// At one instant, copies out end first, then events happen in their order, then copies in start.
struct Change {
  std::int64_t time;
  int rank;
  std::size_t order;
  std::int64_t bytes;
  friend bool operator<(const Change& a, const Change& b) {
    return std::tie(a.time, a.rank, a.order) < std::tie(b.time, b.rank, b.order);
  }
};

std::vector<Change> changes_of(const SwapProblem& problem, const SwapSchedule& schedule) {
  std::vector<Change> changes;
  for (std::size_t e = 0; e < problem.events.size(); ++e)
    if (problem.events[e].bytes != 0)
      changes.push_back({schedule.event_ns[e], 1, e, problem.events[e].bytes});
  for (const SwapTimes& swap : schedule.swaps) {
    const std::int64_t size = problem.instances[swap.absence.instance].size;
    const bool leaves = swap.absence.from >= 0 && swap.out_start != swap.out_end;
    changes.push_back({leaves ? swap.out_end : -1, 0, 0, -size});
    if (swap.in_start != kNeverNs) changes.push_back({swap.in_start, 2, 0, size});
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

Status check_residency(const SwapProblem& problem, const SwapSchedule& schedule) {
  std::int64_t resident = 0;
  for (const SwapInstance& instance : problem.instances)
    if (instance.live_at_start) resident += instance.size;
  std::int64_t peak = 0;
  bool started = false;  // what is away from the start is so before the first instant
  for (const Change& change : changes_of(problem, schedule)) {
    if (!started && change.time >= 0) {
      peak = resident;
      started = true;
    }
    resident += change.bytes;
    if (started) peak = std::max(peak, resident);
    if (started && peak > schedule.limit_bytes)
      return broken(std::to_string(peak) + " bytes are resident at " + std::to_string(change.time) +
                    " ns, the limit is " + std::to_string(schedule.limit_bytes));
  }
  if (std::max(peak, resident) > schedule.peak_bytes)
    return broken("the peak is " + std::to_string(peak) + " bytes, not " +
                  std::to_string(schedule.peak_bytes));
  return Ok{};
}

Status check_overhead(const SwapProblem& problem, const SwapSchedule& schedule) {
  if (problem.repetitions < 2) return Ok{};
  const auto period = static_cast<std::size_t>(problem.period);
  const std::int64_t middle =
      schedule.event_ns[2 * period] - schedule.event_ns[period] - problem.duration_ns;
  if (middle > schedule.cost.overhead_ns)
    return broken("an iteration takes " + std::to_string(middle) + " ns longer, not " +
                  std::to_string(schedule.cost.overhead_ns));
  return Ok{};
}

}  // namespace

Status check_swaps(const SwapProblem& problem, const SwapSchedule& schedule) {
  RETURN_IF_ERROR(check_events(problem, schedule));
  for (const SwapTimes& swap : schedule.swaps) {
    RETURN_IF_ERROR(check_copies(problem, schedule, swap));
    RETURN_IF_ERROR(check_untouched(problem, swap));
  }
  RETURN_IF_ERROR(check_streams(schedule));
  RETURN_IF_ERROR(check_residency(problem, schedule));
  return check_overhead(problem, schedule);
}

}  // namespace drgpum

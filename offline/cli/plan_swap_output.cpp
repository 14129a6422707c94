// SPDX-License-Identifier: Apache-2.0
#include "offline/cli/plan_swap_output.h"

#include "offline/cli/plan_values.h"

namespace drgpum {
namespace {

// What turns the unrolled timeline's nanoseconds into the trace's: the shown iteration starts where
// it did in the trace.
std::int64_t shift_to_trace(const SwapOutcome& swap) {
  if (swap.problem.repetitions == 1) return swap.first_ns;
  return swap.first_ns -
         swap.plan.schedule.event_ns[static_cast<std::size_t>(swap.problem.period)];
}

std::int64_t shifted(std::int64_t ns, std::int64_t shift) {
  return ns == kNeverNs ? -1 : ns + shift;
}

std::string swap_percent(const SwapOutcome& swap, std::int64_t ns) {
  return percent(ns, swap.problem.duration_ns);
}

}  // namespace

// A copy may reach into the next iteration.
std::string listed_swaps_as_json(const SwapOutcome& swap, const Problem& source) {
  const SwapProblem& problem = swap.problem;
  const SwapSchedule& schedule = swap.plan.schedule;
  const std::int32_t from = problem.repetitions > 1 ? problem.period : 0;
  const std::int64_t shift = shift_to_trace(swap);
  std::string json;
  for (const SwapTimes& times : schedule.swaps) {
    if (times.absence.from < from || times.absence.from >= from + problem.period ||
        times.out_end == 0)
      continue;
    const std::uint32_t object = problem.instances[times.absence.instance].object;
    json += (json.empty() ? "\n{\"object\":" : ",\n{\"object\":") +
            quoted(source.objects[object].id) + ',' +
            field_json("out_start_ns", times.out_start + shift) + ',' +
            field_json("out_end_ns", times.out_end + shift) + ',' +
            field_json("in_start_ns", shifted(times.in_start, shift)) + ',' +
            field_json("in_end_ns", shifted(times.in_end, shift)) + ',' +
            field_json("stall_ns", times.stall) + '}';
  }
  return json;
}

std::string listed_stays_as_json(const SwapOutcome& swap, const Problem& source) {
  const std::int64_t shift = shift_to_trace(swap);
  std::string json;
  for (std::size_t i = 0; i < swap.residency.stays.size(); ++i) {
    const Residency::Stay& stay = swap.residency.stays[i];
    json += (json.empty() ? "\n{\"id\":" : ",\n{\"id\":") +
            quoted(source.objects[stay.object].id) + ',' +
            field_json("offset", swap.pool.offsets[i]) + ',' +
            field_json("size", swap.residency.problem.objects[i].size) + ',' +
            field_json("lower", stay.time.lower + shift) + ',' +
            field_json("upper", stay.time.upper + shift) + '}';
  }
  return json;
}

namespace {

std::string known_or_minus_one(std::int64_t ns) {
  return std::to_string(ns == kNeverNs ? -1 : ns);
}

// The whole of what the referee needs: the unrolled timeline (the iteration three times over), its
// stalls as [event, ns], and every use as [instance, event before, event after, out start and end,
// in start and end (-1: never), stall].
std::string schedule_as_json(const SwapOutcome& swap) {
  const SwapProblem& problem = swap.problem;
  const SwapSchedule& schedule = swap.plan.schedule;
  std::string json =
      "\"schedule\":{" + field_json("first_event", swap.first_event) + ',' +
      field_json("last_event", swap.first_event + problem.period) +
      ",\"repeats\":" + (problem.repetitions > 1 ? "true," : "false,") +
      field_json("min_swap_bytes", swap.min_bytes) +
      ",\"out_ns_per_byte\":" + number(problem.link.out_ns_per_byte, "%.17g") +
      ",\"out_latency_ns\":" + number(problem.link.out_latency_ns, "%.17g") +
      ",\"in_ns_per_byte\":" + number(problem.link.in_ns_per_byte, "%.17g") +
      ",\"in_latency_ns\":" + number(problem.link.in_latency_ns, "%.17g") + ",\n\"stalls\":[";
  std::int64_t delay = 0;
  const char* separator = "";
  for (std::size_t e = 0; e < problem.events.size(); ++e) {
    const std::int64_t later = schedule.event_ns[e] - problem.events[e].time_ns;
    if (later == delay) continue;
    json += separator + ('[' + std::to_string(e) + ',') + std::to_string(later - delay) + ']';
    delay = later;
    separator = ",";
  }
  json += "],\n\"uses\":[";
  separator = "\n";
  for (const SwapTimes& times : schedule.swaps) {
    json += separator + ('[' + std::to_string(times.absence.instance));
    for (const std::int64_t value :
         {std::int64_t{times.absence.from}, std::int64_t{times.absence.to}, times.out_start,
          times.out_end})
      json += ',' + std::to_string(value);
    json += ',' + known_or_minus_one(times.in_start) + ',' + known_or_minus_one(times.in_end) +
            ',' + std::to_string(times.stall) + ']';
    separator = ",\n";
  }
  return json + "]}";
}

// An object that comes back may come back elsewhere: one entry for each of its stays.
std::string pool_as_json(const SwapOutcome& swap, const Problem& source) {
  return "\"pool\":{" + field_json("footprint_bytes", swap.pool.footprint) + ',' +
         field_json("load_bytes", swap.pool.load) +
         ",\"optimal\":" + (swap.pool.optimal ? "true" : "false") + ",\"objects\":[" +
         listed_stays_as_json(swap, source) + "]}";
}

std::string weights_as_json(const SwapWeights& weights) {
  std::string json = "\"weights\":{";
  for (std::size_t i = 0; i < kSwapScores.size(); ++i)
    json += std::string(i == 0 ? "\"" : ",\"") + std::string(kSwapScores[i]) +
            "\":" + number(weights[i], "%.6g");
  return json + '}';
}

std::string curve_as_json(const SwapOutcome& swap) {
  std::string json = "\"curve\":[";
  for (const SwapPoint& point : swap.curve)
    json += (json.back() == '[' ? "{" : ",{") + field_json("limit_bytes", point.limit_bytes) + ',' +
            field_json("overhead_ns", point.overhead_ns) + '}';
  return json + ']';
}

}  // namespace

std::string swap_as_text(const SwapOutcome& swap) {
  const SwapSchedule& schedule = swap.plan.schedule;
  const std::int64_t peak = swap.problem.peak_bytes;
  std::string text = "swapping\n  limit     " + shown_bytes(schedule.limit_bytes) + ", " +
                     percent(peak - schedule.limit_bytes, peak) + " below the peak of " +
                     shown_bytes(peak);
  text += swap.plan.feasible ? "\n" : ", CANNOT BE KEPT\n";
  text += "  overhead  " +
          number(static_cast<double>(schedule.cost.overhead_ns) / 1e6, "%.3f ms, ") +
          swap_percent(swap, schedule.cost.overhead_ns) + " of the iteration\n";
  text += "  bound     " + shown_bytes(swap.plan.zero_stall_bound_bytes) +
          ", no plan without stalls has a lower peak\n";
  text += "  pinned    " + shown_bytes(schedule.pinned_bytes) + " of host memory\n";
  text += "  pool      " + shown_bytes(swap.pool.footprint) + " planned for what stays" +
          (swap.pool.optimal ? ", optimal\n" : "\n");
  if (!swap.curve.empty()) text += "  limit MiB : overhead\n";
  for (const SwapPoint& point : swap.curve)
    text += "  " + number(static_cast<double>(point.limit_bytes) / (1 << 20), "%9.1f : ") +
            swap_percent(swap, point.overhead_ns) + '\n';
  return text;
}

std::string swap_as_json(const SwapOutcome& swap, const Problem& source) {
  const SwapSchedule& schedule = swap.plan.schedule;
  const double share = swap.problem.duration_ns == 0
                           ? 0
                           : 100.0 * static_cast<double>(schedule.cost.overhead_ns) /
                                 static_cast<double>(swap.problem.duration_ns);
  return ",\n\"autoswap\":{" + field_json("limit_bytes", schedule.limit_bytes) + ',' +
         field_json("peak_bytes", schedule.peak_bytes) + ',' +
         field_json("overhead_ns", schedule.cost.overhead_ns) +
         ",\"overhead_percent\":" + number(share, "%.6g") + ',' +
         field_json("zero_stall_bound_bytes", swap.plan.zero_stall_bound_bytes) + ',' +
         field_json("pinned_bytes", schedule.pinned_bytes) + ',' +
         field_json("pool_bytes", swap.pool.footprint) +
         ",\"feasible\":" + (swap.plan.feasible ? "true" : "false") + ',' +
         field_json("iteration_ns", swap.problem.duration_ns) + ',' +
         field_json("unlimited_peak_bytes", swap.problem.peak_bytes) + ',' +
         weights_as_json(swap.plan.weights) + ',' + curve_as_json(swap) + ",\n\"swaps\":[" +
         listed_swaps_as_json(swap, source) + "],\n" + pool_as_json(swap, source) + ",\n" +
         schedule_as_json(swap) + '}';
}

std::string iteration_as_json(const IterationOutcome& iteration) {
  const PoolPlan& pool = iteration.pool;
  std::string json =
      ",\n\"iteration\":{" + field_json("operations", iteration.iterations.operations) + ',' +
      field_json("count", iteration.iterations.count) + ',' +
      field_json("footprint_bytes", pool.footprint) + ',' + field_json("load_bytes", pool.load) +
      ",\"optimal\":" + (pool.optimal ? "true" : "false") + ",\"lookup\":[";
  const CircularProblem& circle = iteration.circle;
  for (std::size_t i = 0; i < circle.object_of_allocation.size(); ++i) {
    const std::int32_t object = circle.object_of_allocation[i];
    json += (i == 0 ? "\n{" : ",\n{") + field_json("size", circle.size_of_allocation[i]) +
            ",\"offset\":" +
            (object < 0 ? "null" : std::to_string(pool.offsets[static_cast<std::size_t>(object)])) +
            '}';
  }
  return json + "]}";
}

std::string iteration_as_text(const IterationOutcome& iteration) {
  std::string text = "iterations  " + std::to_string(iteration.iterations.count);
  if (iteration.iterations.operations > 0)
    text += " of " + std::to_string(iteration.iterations.operations) + " allocations and frees";
  return text + ", one needs " + shown_bytes(iteration.pool.footprint) +
         (iteration.pool.optimal ? ", optimal\n" : "\n");
}

}  // namespace drgpum

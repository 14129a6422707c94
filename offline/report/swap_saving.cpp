// SPDX-License-Identifier: Apache-2.0
#include "offline/report/swap_saving.h"

#include "offline/plan/autoswap.h"
#include "offline/plan/iterations.h"

namespace drgpum {
namespace {

constexpr std::size_t kMostEvents = 100'000;   // of an iteration
constexpr std::size_t kMostCandidates = 2000;
constexpr int kSteps = 200;

std::uint64_t bytes(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

}  // namespace

std::optional<SwapSaving> swap_saving(const Problem& problem) {
  const std::optional<Iterations> found = find_iterations(problem);
  const std::int64_t first = found ? found->first : 0;
  const std::int64_t last = found ? found->last : std::ssize(problem.events);
  if (bytes(last - first) > kMostEvents) return std::nullopt;
  const auto swaps = make_swap_problem(problem, first, last, found.has_value(), {});
  if (!swaps || swaps->candidates.empty() || swaps->candidates.size() > kMostCandidates)
    return std::nullopt;
  SwapOptions options;
  options.steps = kSteps;
  const SwapPlan plan = plan_without_stalls(*swaps, options);
  if (!plan.feasible) return std::nullopt;
  SwapSaving saving;
  saving.unlimited_peak_bytes = bytes(swaps->peak_bytes);
  saving.limit_bytes = bytes(plan.schedule.limit_bytes);
  saving.peak_bytes = bytes(plan.schedule.peak_bytes);
  saving.overhead_ns = bytes(plan.schedule.cost.overhead_ns);
  saving.overhead_percent = swaps->duration_ns == 0
                                ? 0
                                : 100.0 * static_cast<double>(plan.schedule.cost.overhead_ns) /
                                      static_cast<double>(swaps->duration_ns);
  saving.zero_stall_bound_bytes = bytes(plan.zero_stall_bound_bytes);
  saving.pinned_bytes = bytes(plan.schedule.pinned_bytes);
  return saving;
}

}  // namespace drgpum

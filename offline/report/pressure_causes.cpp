// SPDX-License-Identifier: Apache-2.0
// What grows from iteration to iteration, and why an allocation failed.
#include <algorithm>
#include <unordered_map>

#include "offline/plan/iterations.h"
#include "offline/report/memory_pressure.h"
#include "offline/report/pool_saving.h"

namespace drgpum {
namespace {

constexpr std::size_t kJudgedBlocks = 100'000;  // the last; growth goes on to the end
constexpr std::size_t kMostGrowth = 10;
constexpr std::size_t kMostSites = 5;
constexpr std::size_t kLeastIterations = 4;

std::vector<std::uint32_t> last_blocks(const Evidence& evidence, std::uint16_t device) {
  std::vector<std::uint32_t> blocks;
  for (std::uint32_t o = 0; o < evidence.objects.size(); ++o)
    if (evidence.objects[o].device == device && is_block(evidence, evidence.objects[o]))
      blocks.push_back(o);
  if (blocks.size() > kJudgedBlocks)
    blocks.erase(blocks.begin(), blocks.end() - static_cast<std::ptrdiff_t>(kJudgedBlocks));
  return blocks;
}

// Allocations and frees of the blocks, in order; [i] of `apis` is the call of event i.
Problem operations_of(const Evidence& evidence, const std::vector<std::uint32_t>& blocks,
                      std::vector<std::uint32_t>& apis) {
  struct Operation {
    std::uint32_t api;
    std::uint32_t object;
    EventKind kind;
  };
  Problem problem;
  std::vector<Operation> operations;
  for (const std::uint32_t o : blocks) {
    const Object& object = evidence.objects[o];
    const auto index = static_cast<std::uint32_t>(problem.objects.size());
    PlanObject plan;
    plan.size = static_cast<std::int64_t>(std::min<std::uint64_t>(object.size, INT64_MAX / 2));
    problem.objects.push_back(std::move(plan));
    operations.push_back({object.alloc, index, EventKind::kMalloc});
    if (object.ended) operations.push_back({object.end, index, EventKind::kFree});
  }
  std::stable_sort(operations.begin(), operations.end(),
                   [](const Operation& a, const Operation& b) { return a.api < b.api; });
  for (const Operation& one : operations) {
    problem.events.push_back({static_cast<std::int64_t>(one.api), one.object, one.kind});
    apis.push_back(one.api);
  }
  return problem;
}

// The calls at which iterations begin, by marks or by the rhythm of the allocations.
std::vector<std::uint32_t> iteration_begins(const Evidence& evidence,
                                            const std::vector<std::uint32_t>& blocks) {
  if (evidence.iteration_marks.size() >= kLeastIterations) return evidence.iteration_marks;
  std::vector<std::uint32_t> apis;
  const Problem problem = operations_of(evidence, blocks, apis);
  const std::optional<Iterations> found = find_iterations(problem);
  std::vector<std::uint32_t> begins;
  if (!found || found->operations <= 0) return begins;
  const std::int64_t before = found->first / found->operations;
  for (std::int64_t at = found->first - before * found->operations; at < std::ssize(apis);
       at += found->operations)
    begins.push_back(apis[static_cast<std::size_t>(at)]);
  return begins;
}

// A path whose live bytes never fall and mostly rise over the later two thirds of the iterations.
std::optional<Growth> judged(const std::vector<std::int64_t>& live, std::uint32_t api) {
  const std::size_t first = live.size() / 3;
  std::size_t rises = 0;
  for (std::size_t k = first + 1; k < live.size(); ++k) {
    if (live[k] < live[k - 1]) return std::nullopt;
    rises += live[k] > live[k - 1];
  }
  const std::size_t steps = live.size() - first - 1;
  if (rises * 3 < steps * 2 || rises < 2) return std::nullopt;
  return Growth{api, live.size() - first, static_cast<std::uint64_t>(live[first]),
                static_cast<std::uint64_t>(live.back())};
}

std::vector<SiteBytes> live_sites(const Evidence& evidence, std::uint16_t device,
                                  std::uint32_t api) {
  std::unordered_map<std::uint32_t, SiteBytes> sites;
  for (const Object& object : evidence.objects) {
    const bool live = object.device == device && object.alloc <= api && api < object.end;
    if (!live || !is_block(evidence, object)) continue;
    SiteBytes& site = sites[evidence.apis[object.alloc].call_path];
    site.api = object.alloc;
    site.bytes += object.size;
    ++site.blocks;
  }
  std::vector<SiteBytes> listed;
  for (const auto& [path, site] : sites)
    listed.push_back(site);
  std::sort(listed.begin(), listed.end(), [](const SiteBytes& a, const SiteBytes& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.api < b.api;
  });
  if (listed.size() > kMostSites) listed.resize(kMostSites);
  return listed;
}

// All blocks until the failure in one pool, with the one that failed.
std::optional<QuickPlan> planned_pool(const Evidence& evidence, std::uint16_t device,
                                           const FailedAllocation& failed) {
  Problem problem;
  problem.source = evidence.path;
  const auto add = [&](std::uint64_t size, std::int64_t lower, std::int64_t upper) {
    PlanObject object;
    object.id = std::to_string(problem.objects.size());
    object.life = {lower, upper};
    object.size = static_cast<std::int64_t>(size);
    object.alignment = 512;
    problem.objects.push_back(std::move(object));
  };
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 50;
  for (const Object& object : evidence.objects) {
    if (object.device != device || object.alloc > failed.api || object.alloc >= object.end) continue;
    if (!is_block(evidence, object) || object.size == 0 || object.size > kLargest) continue;
    add(object.size, object.alloc, std::min(object.end, failed.api + 1));
    if (problem.objects.size() > kMaxPooledObjects) return std::nullopt;
  }
  if (failed.requested == 0 || failed.requested > kLargest) return std::nullopt;
  add(failed.requested, failed.api, std::int64_t{failed.api} + 1);
  return quick_plan(problem);
}

}  // namespace

std::vector<Growth> growth_of(const Evidence& evidence, std::uint16_t device,
                              std::uint64_t& iterations) {
  const std::vector<std::uint32_t> blocks = last_blocks(evidence, device);
  const std::vector<std::uint32_t> begins = iteration_begins(evidence, blocks);
  std::vector<Growth> growth;
  if (begins.size() < kLeastIterations) return growth;
  iterations = std::max<std::uint64_t>(iterations, begins.size());
  struct Path {
    std::vector<std::int64_t> change;  // by iteration
    std::uint32_t api = 0;
  };
  std::unordered_map<std::uint32_t, Path> paths;
  const auto first_at = [&](std::uint32_t api) {
    return static_cast<std::size_t>(std::lower_bound(begins.begin(), begins.end(), api) -
                                    begins.begin());
  };
  for (const std::uint32_t o : blocks) {
    const Object& object = evidence.objects[o];
    const std::size_t from = first_at(object.alloc);
    const std::size_t to = first_at(object.end);
    if (from == to) continue;  // gone before the next iteration begins
    Path& path = paths[evidence.apis[object.alloc].call_path];
    path.change.resize(begins.size() + 1);
    path.change[from] += static_cast<std::int64_t>(object.size);
    path.change[to] -= static_cast<std::int64_t>(object.size);
    path.api = object.alloc;
  }
  for (auto& [id, path] : paths) {
    for (std::size_t k = 1; k < begins.size(); ++k)
      path.change[k] += path.change[k - 1];
    path.change.pop_back();
    if (const auto one = judged(path.change, path.api)) growth.push_back(*one);
  }
  std::sort(growth.begin(), growth.end(), [](const Growth& a, const Growth& b) {
    const std::uint64_t x = a.last_bytes - a.first_bytes;
    const std::uint64_t y = b.last_bytes - b.first_bytes;
    return x != y ? x > y : a.api < b.api;
  });
  if (growth.size() > kMostGrowth) growth.resize(kMostGrowth);
  return growth;
}

FailurePressure explain_failure(const Evidence& evidence, const FailedAllocation& failed,
                                std::uint16_t device) {
  FailurePressure result;
  result.api = failed.api;
  result.requested_bytes = failed.requested;
  result.device_free_bytes = failed.device_free;
  result.moment = moment_at(evidence, device, failed.api);
  result.live = live_sites(evidence, device, failed.api);
  if (const auto plan = planned_pool(evidence, device, failed)) {
    result.planned_bytes = plan->saving.footprint_bytes;
    result.planned_by = plan->saving.planner;
  }
  const std::uint64_t requested = failed.requested;
  const std::uint64_t unused = result.moment.free_bytes() + failed.device_free.value_or(0);
  if (result.moment.largest_hole_bytes >= requested)
    result.cause = FailureCause::kReserve;
  else if (unused >= requested)
    result.cause = FailureCause::kFragmentation;
  else if (unused + result.moment.pending_bytes >= requested)
    result.cause = FailureCause::kPending;
  return result;
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/residency.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>

namespace drgpum {
namespace {

struct Change {
  std::int64_t time;
  int rank;  // at one instant: copies out end, then events in their order, then copies in start
  std::size_t order;
  std::uint32_t instance;
  bool begins;
};

std::vector<Change> changes_of(const SwapProblem& problem, const SwapSchedule& schedule) {
  std::vector<Change> changes;
  std::vector<char> here(problem.instances.size());  // at the start
  for (std::uint32_t i = 0; i < problem.instances.size(); ++i)
    here[i] = problem.instances[i].live_at_start;
  for (const SwapTimes& swap : schedule.swaps)
    if (swap.absence.from < 0) here[swap.absence.instance] = 0;
  for (std::uint32_t i = 0; i < problem.instances.size(); ++i)
    if (here[i] != 0) changes.push_back({-1, 0, i, i, true});
  for (std::size_t e = 0; e < problem.events.size(); ++e)
    if (problem.events[e].bytes != 0)
      changes.push_back(
          {schedule.event_ns[e], 1, e, problem.events[e].instance, problem.events[e].bytes > 0});
  for (const SwapTimes& swap : schedule.swaps) {
    if (swap.absence.from >= 0 && swap.out_end != 0)
      changes.push_back({swap.out_end, 0, 0, swap.absence.instance, false});
    if (swap.in_start != kNeverNs)
      changes.push_back({swap.in_start, 2, 0, swap.absence.instance, true});
  }
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::tie(a.time, a.rank, a.order) < std::tie(b.time, b.rank, b.order);
  });
  return changes;
}

class ResidencyBuilder {
 public:
  ResidencyBuilder(const SwapProblem& problem, const Problem& source)
      : problem_(problem), source_(source), since_(problem.instances.size()) {
    residency_.problem.source = source.source;
  }

  Residency build(const std::vector<Change>& changes, std::int64_t end_ns) {
    Moment now;
    for (const Change& change : changes) {
      now = {now.rank + 1, std::max<std::int64_t>(change.time, 0)};
      if (change.begins)
        since_[change.instance] = now;
      else
        end_stay(change.instance, now);
    }
    now = {now.rank + 1, std::max(now.time, end_ns)};
    for (std::uint32_t i = 0; i < since_.size(); ++i)
      end_stay(i, now);
    return std::move(residency_);
  }

 private:
  struct Moment {
    std::int64_t rank = -1;
    std::int64_t time = 0;
  };

  void end_stay(std::uint32_t instance, const Moment& until) {
    const Moment since = std::exchange(since_[instance], {});
    if (since.rank < 0 || until.rank <= since.rank) return;
    const SwapInstance& what = problem_.instances[instance];
    PlanObject stay;
    stay.id = source_.objects[what.object].id + "@" + std::to_string(residency_.stays.size());
    stay.life = {since.rank, until.rank};
    stay.size = what.size;
    residency_.problem.objects.push_back(std::move(stay));
    residency_.stays.push_back({what.object, {since.time, until.time}});
  }

  const SwapProblem& problem_;
  const Problem& source_;
  std::vector<Moment> since_;  // per instance; rank -1: not on the device
  Residency residency_;
};

}  // namespace

Residency residency_of(const SwapProblem& problem, const Problem& source,
                       const SwapSchedule& schedule) {
  const std::int64_t last_ns = schedule.event_ns.empty() ? 0 : schedule.event_ns.back();
  return ResidencyBuilder(problem, source).build(changes_of(problem, schedule), last_ns);
}

}  // namespace drgpum

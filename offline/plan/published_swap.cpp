// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/published_swap.h"

#include <algorithm>
#include <vector>

namespace drgpum {
namespace {

// Events are counted from the iteration that holds the peak; those of the iteration before are
// negative. Every absence is moved so that it spans the peak.
class StickToLimit {
 public:
  StickToLimit(const SwapProblem& problem, std::int64_t limit, const PublishedLags& lags)
      : problem_(problem),
        limit_(limit),
        lags_(lags),
        peak_(problem.peak_event),
        load_(problem.load) {
    for (int turn = -1; turn < 2; ++turn)
      for (std::int32_t event = 0; event < problem.period; ++event)
        times_.push_back(turn * problem.duration_ns + problem.time_of(event));
  }

  std::int64_t run(std::span<const std::uint32_t> chosen) {
    for (const std::uint32_t i : chosen) {
      const SwapCandidate& candidate = problem_.candidates[i];
      const std::int32_t back = candidate.from > peak_ ? problem_.period : 0;
      absences_.push_back(
          {candidate.from - back, candidate.to - back, 0, candidate.size, candidate.after});
    }
    send_out();
    bring_in();
    return overhead_;
  }

 private:
  struct Away {
    std::int32_t from, to;
    std::int32_t left;  // the event from which on it is away
    std::int64_t size;
    EventKind after;
  };

  std::int64_t time(std::int32_t event) const {
    return times_[static_cast<std::size_t>(event + problem_.period)];
  }
  // The first event of [first, last) at or after an instant, else last.
  std::int32_t first_at(std::int64_t instant, std::int32_t first, std::int32_t last) const {
    const auto begin = times_.begin() + problem_.period;
    return static_cast<std::int32_t>(std::lower_bound(begin + first, begin + last, instant) -
                                     begin);
  }
  std::int32_t within_period(std::int32_t event) const {
    if (event < 0) return event + problem_.period;
    return event < problem_.period ? event : event - problem_.period;
  }
  std::int64_t load(std::int32_t event) const {
    return load_[static_cast<std::size_t>(within_period(event))];
  }
  // The same events of the iterations before and after change too.
  void change(std::int32_t from, std::int32_t to, std::int64_t bytes) {
    const std::int32_t first = within_period(from);
    const std::int32_t last = first + std::min(to - from, problem_.period);
    change_within(first, std::min(last, problem_.period), bytes);
    change_within(0, last - problem_.period, bytes);
  }
  void change_within(std::int32_t first, std::int32_t last, std::int64_t bytes) {
    for (std::int32_t e = first; e < last; ++e)
      load_[static_cast<std::size_t>(e)] += bytes;
  }

  void send_out() {
    std::stable_sort(absences_.begin(), absences_.end(),
                     [](const Away& a, const Away& b) { return a.from < b.from; });
    std::int64_t stream_free = INT64_MIN;
    for (Away& away : absences_) {
      const std::int32_t ready =
          away.from + (away.after == EventKind::kRead ? lags_.after_read : lags_.after_write);
      const std::int64_t end = std::max(time(ready), stream_free) + problem_.link.out_ns(away.size);
      stream_free = end;
      std::int32_t event = first_at(end, std::min(ready, peak_), peak_);
      std::int32_t over = std::min(ready, event);
      while (over <= event && load(over) <= limit_)
        ++over;
      if (over <= event) {
        event = std::max(over - 1, std::min(ready, peak_));
        overhead_ += std::max<std::int64_t>(end - time(event), 0);
      }
      away.left = event;
      change(event, away.to, -away.size);
    }
  }

  void bring_in() {
    std::stable_sort(absences_.begin(), absences_.end(),
                     [](const Away& a, const Away& b) { return a.to > b.to; });
    std::int32_t next = INT32_MAX;
    for (const Away& away : absences_) {
      const std::int32_t need = std::min(away.to, next);
      const std::int64_t start = time(need) - problem_.link.in_ns(away.size);
      const std::int32_t soonest = std::min(need, peak_ + 1);
      std::int32_t event = std::max(first_at(start + 1, soonest, need + 1) - 1, soonest);
      overhead_ += std::max<std::int64_t>(time(event) - start, 0);
      change(event, away.to, away.size);
      std::int32_t last_over = need - 1;
      while (last_over >= event && load(last_over) <= limit_)
        --last_over;
      if (last_over >= event) {
        overhead_ += time(last_over + 1) - time(event);
        change(event, last_over + 1, -away.size);
        event = last_over + 1;
      }
      next = event;
    }
  }

  const SwapProblem& problem_;
  const std::int64_t limit_;
  const PublishedLags& lags_;
  const std::int32_t peak_;
  std::vector<std::int64_t> load_;   // of one iteration
  std::vector<std::int64_t> times_;  // of the iteration before, this one and the next
  std::vector<Away> absences_;
  std::int64_t overhead_ = 0;
};

}  // namespace

std::int64_t published_overhead(const SwapProblem& problem, std::span<const std::uint32_t> chosen,
                                std::int64_t limit, const PublishedLags& lags) {
  return StickToLimit(problem, limit, lags).run(chosen);
}

}  // namespace drgpum

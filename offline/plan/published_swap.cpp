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
      : problem_(problem), limit_(limit), lags_(lags), peak_(problem.peak_event) {
    for (int turn = 0; turn < 3; ++turn)
      load_.insert(load_.end(), problem.load.begin(), problem.load.end());
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
    const std::int32_t turn =
        event >= 0 ? event / problem_.period : -((problem_.period - 1 - event) / problem_.period);
    return turn * problem_.duration_ns + problem_.time_of(event - turn * problem_.period);
  }
  std::int64_t load(std::int32_t event) const {
    return load_[static_cast<std::size_t>(event + problem_.period)];
  }
  // The same events of the iterations before and after change too.
  void change(std::int32_t from, std::int32_t to, std::int64_t bytes) {
    const std::int32_t period = problem_.period;
    to = std::min(to, from + period);
    for (const std::int32_t shift : {0, period, 2 * period}) {
      const std::int32_t last = std::min(to + shift, 3 * period);
      for (std::int32_t e = std::max(from + shift, 0); e < last; ++e)
        load_[static_cast<std::size_t>(e)] += bytes;
    }
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
      std::int32_t event = std::min(ready, peak_);
      while (event < peak_ && time(event) < end)
        ++event;
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
      std::int32_t event = need;
      while (event > peak_ + 1 && time(event) > start)
        --event;
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
  std::vector<std::int64_t> load_;  // of the iteration before, this one and the next
  std::vector<Away> absences_;
  std::int64_t overhead_ = 0;
};

}  // namespace

std::int64_t published_overhead(const SwapProblem& problem, std::span<const std::uint32_t> chosen,
                                std::int64_t limit, const PublishedLags& lags) {
  return StickToLimit(problem, limit, lags).run(chosen);
}

}  // namespace drgpum

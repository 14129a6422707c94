// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/stall_estimate.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace drgpum {
namespace {

// Where more than this part of an iteration passes between two events a stretch ends: what is
// allocated after the pause is not there during it, when copies in may need the room.
constexpr std::int64_t kPauses = 1000;

}  // namespace

StallEstimate::StallEstimate(const SwapProblem& problem, std::span<const std::uint32_t> among)
    : problem_(problem), among_(among), by_from_(among.size()), by_to_(among.size()) {
  std::vector<char> cut(static_cast<std::size_t>(problem.period), 0);
  for (const std::uint32_t i : among)
    for (const std::int32_t at : {problem.candidates[i].from + 1, problem.candidates[i].to})
      cut[static_cast<std::size_t>(at % problem.period)] = 1;
  for (std::int32_t e = 0; e < problem.period; ++e) {
    const auto at = static_cast<std::size_t>(e);
    const std::int64_t now = problem.time_of(e);
    const bool later = e > 0 && now - problem.time_of(e - 1) > problem.duration_ns / kPauses;
    if (e == 0 || cut[at] != 0 || later) stretches_.push_back({e, now, problem.load[at], now});
    if (problem.load[at] <= stretches_.back().load) continue;
    stretches_.back().load = problem.load[at];
    stretches_.back().load_ns = now;
  }
  const auto sort_by = [&](std::vector<std::uint32_t>& places, std::int32_t SwapCandidate::*key) {
    std::iota(places.begin(), places.end(), 0u);
    std::stable_sort(places.begin(), places.end(), [&](std::uint32_t a, std::uint32_t b) {
      return problem.candidates[among[a]].*key < problem.candidates[among[b]].*key;
    });
  };
  sort_by(by_from_, &SwapCandidate::from);
  sort_by(by_to_, &SwapCandidate::to);
}

// One estimate: the uses of the chosen candidates that begin in the iteration before the two, or
// in them.
class StallEstimateRun {
 public:
  StallEstimateRun(const StallEstimate& of, const std::vector<std::uint32_t>& places,
                   std::int64_t limit, bool look_ahead)
      : problem_(of.problem_),
        stretches_(of.stretches_),
        limit_(limit),
        look_ahead_(look_ahead) {
    std::vector<std::int32_t> index(of.among_.size(), -1);
    for (const std::uint32_t place : places)
      index[place] = 0;
    for (const std::int32_t turn : {-1, 0, 1}) {
      for (const std::uint32_t place : of.by_from_)
        if (index[place] >= 0) add(of.problem_.candidates[of.among_[place]], turn);
    }
    for (std::uint32_t i = 0; i < uses_.size(); ++i)
      if (uses_[i].to <= 2 * problem_.period) returns_.push_back(i);
    std::sort(returns_.begin(), returns_.end(),
              [this](std::uint32_t a, std::uint32_t b) { return uses_[a].to < uses_[b].to; });
    std::int64_t next = std::numeric_limits<std::int64_t>::max();
    for (auto i = returns_.rbegin(); i != returns_.rend(); ++i)
      next = uses_[*i].latest_in_ns =
          std::min(next, time_of(uses_[*i].to)) - problem_.link.in_ns(uses_[*i].bytes);
  }

  double run() {
    std::int64_t after_one = 0;
    for (const std::int32_t turn : {0, 1}) {
      after_one = delay_;
      for (std::size_t s = 0; s < stretches_.size(); ++s)
        play(s, turn,
             s + 1 < stretches_.size() ? stretches_[s + 1].begin_ns : problem_.duration_ns);
    }
    return static_cast<double>(delay_ - after_one);
  }

  // Whether the limit was not kept where waiting would not have helped.
  bool over_limit() const { return over_limit_; }

 private:
  struct Use {
    std::int32_t from, to;  // events; those of the iteration before are negative
    std::int64_t bytes;
    std::int64_t out_end_ns = -1;  // -1: not under way
    std::int64_t latest_in_ns = 0;
    std::int64_t in_end_ns = -1;
  };

  void add(const SwapCandidate& candidate, std::int32_t turn) {
    const std::int32_t shift = turn * problem_.period;
    if (candidate.to + shift <= 0) return;
    Use use{candidate.from + shift, candidate.to + shift, candidate.size};
    if (use.from < 0) {  // has left
      use.out_end_ns = 0;
      away_ += use.bytes;
      ++issued_;
      ++out_;
    }
    uses_.push_back(use);
  }

  std::int64_t time_of(std::int32_t event) const {
    const std::int32_t turn = event / problem_.period;
    return turn * problem_.duration_ns + problem_.time_of(event - turn * problem_.period);
  }

  // What is out by `now`.
  void leave(std::int64_t now) {
    for (; out_ < issued_ && uses_[out_].out_end_ns <= now; ++out_)
      away_ += uses_[out_].bytes;
  }

  void play(std::size_t number, std::int32_t turn, std::int64_t end_ns) {
    const StallEstimate::Stretch& stretch = stretches_[number];
    const std::int64_t shift = turn * problem_.duration_ns;
    const std::int32_t event = stretch.event + turn * problem_.period;
    const std::int64_t begin_ns = stretch.begin_ns + shift;
    std::int64_t now = begin_ns + delay_;
    for (; issued_ < uses_.size() && uses_[issued_].from < event; ++issued_) {
      Use& use = uses_[issued_];
      out_free_ = std::max(now, out_free_) + problem_.link.out_ns(use.bytes);
      use.out_end_ns = out_free_;
    }
    leave(now);
    while (returned_ < returns_.size() && uses_[returns_[returned_]].to <= event)
      wait_for(uses_[returns_[returned_++]], now);
    delay_ = now - begin_ns;
    const std::int64_t load_ns = stretch.load_ns + shift;
    now = load_ns + delay_;
    leave(now);
    while (stretch.load - away_ > limit_ && out_ < issued_) {
      now = std::max(now, uses_[out_].out_end_ns);
      leave(now);
    }
    over_limit_ = over_limit_ || stretch.load - away_ > limit_;
    delay_ = now - load_ns;
    bring_in(now, end_ns + shift + delay_, number, turn);
  }

  // The highest until a copy in has to be over, where it has to leave room for that.
  std::int64_t load_until(std::int32_t to, std::size_t number, std::int32_t turn) const {
    std::int64_t load = stretches_[number].load;
    if (!look_ahead_) return load;
    const auto next = [&] {
      number = (number + 1) % stretches_.size();
      turn += number == 0 ? 1 : 0;
      return stretches_[number].event + turn * problem_.period;
    };
    while (next() < to)
      load = std::max(load, stretches_[number].load);
    return load;
  }

  void start(Use& use, std::int64_t now) {
    in_free_ = std::max({now, in_free_, use.out_end_ns}) + problem_.link.in_ns(use.bytes);
    use.in_end_ns = in_free_;
    away_ -= use.bytes;
    ++started_;
  }

  // Copies that are due by then and for which there is room.
  void bring_in(std::int64_t now, std::int64_t until, std::size_t number, std::int32_t turn) {
    while (started_ < returns_.size()) {
      Use& use = uses_[returns_[started_]];
      const std::int64_t due = std::max(use.latest_in_ns + delay_, now);
      if (due > until || use.out_end_ns < 0 || use.out_end_ns > due) return;
      leave(due);
      if (load_until(use.to, number, turn) - away_ + use.bytes > limit_) return;
      start(use, due);
    }
  }

  void wait_for(Use& use, std::int64_t& now) {
    while (use.in_end_ns < 0) {
      Use& next = uses_[returns_[started_]];
      now = std::max(now, next.out_end_ns);
      leave(now);
      start(next, now);
    }
    now = std::max(now, use.in_end_ns);
  }

  const SwapProblem& problem_;
  const std::vector<StallEstimate::Stretch>& stretches_;
  const std::int64_t limit_;
  const bool look_ahead_;
  bool over_limit_ = false;
  std::vector<Use> uses_;               // by `from`
  std::vector<std::uint32_t> returns_;  // into uses_, by `to`
  std::size_t issued_ = 0, out_ = 0;    // of uses_
  std::size_t started_ = 0, returned_ = 0;  // of returns_
  std::int64_t away_ = 0;               // bytes
  std::int64_t delay_ = 0;
  std::int64_t out_free_ = 0, in_free_ = 0;
};

double StallEstimate::of(const std::vector<std::uint32_t>& places, std::int64_t limit) const {
  StallEstimateRun plain(*this, places, limit, false);
  const double stalls = plain.run();
  return plain.over_limit() ? StallEstimateRun(*this, places, limit, true).run() : stalls;
}

}  // namespace drgpum

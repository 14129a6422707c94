// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/swap_schedule.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace drgpum {
namespace {

// The largest sum of sizes on the host: from the start of a copy out to the end of the copy in.
std::int64_t pinned_bytes(const SwapProblem& problem, const std::vector<SwapTimes>& swaps) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;  // (time, bytes); ends sort first
  for (const SwapTimes& swap : swaps) {
    const std::int64_t size = problem.instances[swap.absence.instance].size;
    changes.emplace_back(swap.out_start, size);
    changes.emplace_back(swap.in_end, -size);
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t pinned = 0;
  std::int64_t most = 0;
  for (const auto& [time, bytes] : changes)
    most = std::max(most, pinned += bytes);
  return most;
}

}  // namespace

SwapPlayer::SwapPlayer(const SwapProblem& problem)
    : problem_(problem), use_ending_(problem.events.size(), -1), event_ns_(problem.events.size()) {
  std::vector<std::int64_t> sums{0};  // before event e
  for (const SwapEvent& event : problem.events)
    sums.push_back(sums.back() + event.bytes);
  highest_.push_back(std::move(sums));
  for (std::size_t half = 1; 2 * half <= highest_.front().size(); half *= 2) {
    const auto& row = highest_.back();
    std::vector<std::int64_t> next(row.size() - half);
    for (std::size_t e = 0; e < next.size(); ++e)
      next[e] = std::max(row[e], row[e + half]);
    highest_.push_back(std::move(next));
  }
}

// How much more than now is allocated at most until just before `event`.
std::int64_t SwapPlayer::rise_until(std::int32_t event) const {
  if (event <= event_) return 0;
  const auto from = static_cast<std::size_t>(event_);
  const auto width = static_cast<std::size_t>(event - event_) + 1;
  const auto& row = highest_[static_cast<std::size_t>(std::bit_width(width)) - 1];
  const std::int64_t highest = std::max(row[from], row[from + width - std::bit_floor(width)]);
  return highest - highest_.front()[from];
}

bool SwapPlayer::has_room(const Use& use) const {
  const std::int64_t reserve = look_ahead_ ? rise_until(use.absence.to) : 0;
  return resident_ + use.bytes + reserve <= limit_;
}

void SwapPlayer::prepare(const std::vector<std::uint32_t>& chosen, std::int64_t limit) {
  for (const Use& use : uses_)
    if (use.absence.to < std::ssize(use_ending_))
      use_ending_[static_cast<std::size_t>(use.absence.to)] = -1;
  uses_.clear();
  by_return_.clear();
  for (const std::uint32_t candidate : chosen) {
    const std::int64_t size = problem_.candidates[candidate].size;
    for (const Absence& absence : problem_.absences[candidate])
      uses_.push_back({absence, size, problem_.link.out_ns(size), problem_.link.in_ns(size), 0, 0,
                       0, kNeverNs, kNeverNs, 0});
  }
  std::sort(uses_.begin(), uses_.end(), [](const Use& a, const Use& b) {
    return std::pair(a.absence.from, a.absence.candidate) <
           std::pair(b.absence.from, b.absence.candidate);
  });
  const auto end = static_cast<std::int32_t>(problem_.events.size());
  for (std::uint32_t i = 0; i < uses_.size(); ++i) {
    if (uses_[i].absence.to >= end) continue;
    by_return_.push_back(i);
    use_ending_[static_cast<std::size_t>(uses_[i].absence.to)] = static_cast<std::int32_t>(i);
  }
  std::sort(by_return_.begin(), by_return_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return uses_[a].absence.to < uses_[b].absence.to;
  });
  std::int64_t next = kNeverNs;
  for (std::size_t i = by_return_.size(); i-- > 0;) {
    Use& use = uses_[by_return_[i]];
    next = use.latest_in = std::min(next, problem_.time_of(use.absence.to)) - use.in_ns;
  }
  limit_ = limit;
}

void SwapPlayer::run(bool look_ahead) {
  look_ahead_ = look_ahead;
  event_ = 0;
  for (Use& use : uses_) {
    use.out_start = use.out_end = use.stall = 0;
    use.in_start = use.in_end = kNeverNs;
  }
  now_ = delay_ = resident_ = peak_ = excess_ = out_free_ = in_free_ = 0;
  issued_outs_ = finished_outs_ = started_ins_ = 0;

  std::int64_t at_start = 0;
  for (const SwapInstance& instance : problem_.instances)
    if (instance.live_at_start) at_start += instance.size;
  for (; issued_outs_ < uses_.size() && uses_[issued_outs_].absence.from < 0; ++issued_outs_)
    at_start -= uses_[issued_outs_].bytes;
  finished_outs_ = issued_outs_;
  add_resident(at_start);
  for (std::int32_t event = 0; event < std::ssize(problem_.events); ++event)
    handle(event);
  advance_to(problem_.time_of(static_cast<std::int32_t>(problem_.events.size())) + delay_);
}

void SwapPlayer::add_resident(std::int64_t bytes) {
  resident_ += bytes;
  peak_ = std::max(peak_, resident_);
  excess_ = std::max(excess_, resident_ - limit_);
}

void SwapPlayer::handle(std::int32_t event) {
  event_ = event;
  const auto at = static_cast<std::size_t>(event);
  const SwapEvent& what = problem_.events[at];
  advance_to(what.time_ns + delay_);
  issue_outs_before(event);
  if (use_ending_[at] >= 0) wait_for(uses_[static_cast<std::size_t>(use_ending_[at])]);
  if (what.bytes > 0) wait_for_room(what.bytes);
  add_resident(what.bytes);
  event_ns_[at] = now_;
}

void SwapPlayer::issue_outs_before(std::int32_t event) {
  for (; issued_outs_ < uses_.size() && uses_[issued_outs_].absence.from < event; ++issued_outs_) {
    Use& use = uses_[issued_outs_];
    const auto from = static_cast<std::size_t>(use.absence.from);
    const std::int64_t over = event_ns_[from] + problem_.events[from].busy_ns;
    use.out_start = std::max({now_, out_free_, over});
    out_free_ = use.out_end = use.out_start + use.out_ns;
  }
}

std::int64_t SwapPlayer::next_out_end() const {
  return finished_outs_ < issued_outs_ ? uses_[finished_outs_].out_end : kNeverNs;
}

void SwapPlayer::finish_next_out() {
  resident_ -= uses_[finished_outs_++].bytes;
}

void SwapPlayer::finish_outs() {
  while (next_out_end() <= now_)
    finish_next_out();
}

// Starts the next copy in at `earliest` or when its stream and its bytes are ready, if that is by
// `until` and there is room then. Ends copies out on the way.
bool SwapPlayer::try_start_in(std::int64_t earliest, std::int64_t until) {
  Use& use = uses_[by_return_[started_ins_]];
  if (use.absence.from >= 0 && use.out_end == 0) return false;
  const std::int64_t start = std::max({earliest, in_free_, use.out_end});
  if (start > until) return false;
  while (next_out_end() <= start)
    finish_next_out();
  std::int64_t at = start;
  while (!has_room(use) && next_out_end() <= until) {
    at = next_out_end();
    finish_next_out();
  }
  if (!has_room(use)) return false;
  start_in(use, at);
  return true;
}

void SwapPlayer::start_in(Use& use, std::int64_t at) {
  add_resident(use.bytes);
  use.in_start = at;
  in_free_ = use.in_end = at + use.in_ns;
  ++started_ins_;
}

void SwapPlayer::advance_to(std::int64_t until) {
  while (started_ins_ < by_return_.size()) {
    const std::int64_t due = uses_[by_return_[started_ins_]].latest_in + delay_;
    if (due > until || !try_start_in(std::max(due, now_), until)) break;
  }
  now_ = until;
  finish_outs();
}

void SwapPlayer::wait_for(Use& use) {
  const std::int64_t arrived = now_;
  while (use.in_start == kNeverNs) {
    if (try_start_in(now_, now_)) continue;
    Use& next = uses_[by_return_[started_ins_]];
    const std::int64_t ready = std::max(in_free_, next.out_end);
    if (ready > now_)
      now_ = ready;
    else if (next_out_end() != kNeverNs)
      now_ = std::max(now_, next_out_end());
    else
      start_in(next, now_);  // nothing will ever make room: counted as excess
    finish_outs();
  }
  now_ = std::max(now_, use.in_end);
  finish_outs();
  use.stall = now_ - arrived;
  delay_ += use.stall;
}

void SwapPlayer::wait_for_room(std::int64_t bytes) {
  while (resident_ + bytes > limit_ && next_out_end() != kNeverNs) {
    const std::int64_t end = std::max(now_, next_out_end());
    delay_ += end - now_;
    now_ = end;
    finish_outs();
  }
}

SwapCost SwapPlayer::cost_of_run() const {
  const std::int64_t end = now_;
  if (problem_.repetitions == 1) return {excess_, delay_};
  const auto second = static_cast<std::size_t>(problem_.period);
  const std::int64_t middle = event_ns_[2 * second] - event_ns_[second];
  const std::int64_t last = end - event_ns_[2 * second];
  return {excess_, std::max(middle, last) - problem_.duration_ns};
}

SwapCost SwapPlayer::cost(const std::vector<std::uint32_t>& chosen, std::int64_t limit) {
  prepare(chosen, limit);
  return run_best();
}

SwapCost SwapPlayer::run_best() {
  run(false);
  const SwapCost plain = cost_of_run();
  if (plain.excess_bytes == 0) return plain;
  run(true);
  const SwapCost careful = cost_of_run();
  if (careful <= plain) return careful;
  run(false);
  return plain;
}

SwapSchedule SwapPlayer::play(const std::vector<std::uint32_t>& chosen, std::int64_t limit) {
  SwapSchedule schedule;
  schedule.limit_bytes = limit;
  schedule.cost = cost(chosen, limit);
  schedule.peak_bytes = peak_;
  for (const Use& use : uses_) {
    const bool never_leaves = use.absence.from >= 0 && use.out_end == 0;  // the timeline ends first
    if (never_leaves) continue;
    schedule.swaps.push_back(
        {use.absence, use.out_start, use.out_end, use.in_start, use.in_end, use.stall});
  }
  schedule.event_ns = event_ns_;
  schedule.pinned_bytes = pinned_bytes(problem_, schedule.swaps);
  return schedule;
}

}  // namespace drgpum

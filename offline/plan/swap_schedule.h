// SPDX-License-Identifier: Apache-2.0
#pragma once
// Plays a choice of swaps: two serial copy streams, a limit, and the stalls that come of it.

#include <compare>
#include <cstdint>
#include <limits>
#include <vector>

#include "offline/plan/swap_problem.h"

namespace drgpum {

inline constexpr std::int64_t kNeverNs = std::numeric_limits<std::int64_t>::max();

// What a choice of swaps costs; smaller is better, and a plan needs excess_bytes == 0.
struct SwapCost {
  std::int64_t excess_bytes = 0;  // above the limit where waiting would not have helped
  std::int64_t overhead_ns = 0;   // stalls of one iteration in the steady state
  friend auto operator<=>(const SwapCost&, const SwapCost&) = default;
};

struct SwapTimes {  // nanoseconds on the unrolled timeline, stalls included
  Absence absence;
  std::int64_t out_start = 0, out_end = 0;              // both 0 when away from the start
  std::int64_t in_start = kNeverNs, in_end = kNeverNs;  // kNeverNs when it never comes back
  std::int64_t stall = 0;                               // how long the access waited for it
};

struct SwapSchedule {
  std::int64_t limit_bytes = 0;
  SwapCost cost;
  std::int64_t peak_bytes = 0;         // the largest resident load
  std::int64_t pinned_bytes = 0;       // the largest sum of sizes on the host, copies included
  std::vector<SwapTimes> swaps;        // every use, by the access before
  std::vector<std::int64_t> event_ns;  // when each event happens
};

// Copies out start, in the order of their accesses, as soon as the event after the access is due
// and the access is over.
// Copies in start as late as they can without a stall, in the order of the accesses that need them,
// and wait for room below the limit. An allocation waits for room, an access for its object. Where
// that runs into a limit that cannot be kept, it is played again with copies in that leave room for
// the allocations until their access. Linear in events and swaps.
class SwapPlayer {
 public:
  explicit SwapPlayer(const SwapProblem& problem);

  // `chosen`: indices of candidates. `limit`: bytes.
  SwapCost cost(const std::vector<std::uint32_t>& chosen, std::int64_t limit);
  SwapSchedule play(const std::vector<std::uint32_t>& chosen, std::int64_t limit);

 private:
  struct Use {
    Absence absence;
    std::int64_t bytes;
    std::int64_t out_ns, in_ns;  // how long the copies take
    std::int64_t latest_in;      // nominal time at which the copy in has to start
    std::int64_t out_start, out_end, in_start, in_end, stall;
  };

  void prepare(const std::vector<std::uint32_t>& chosen, std::int64_t limit);
  void run(bool look_ahead);
  SwapCost run_best();
  bool has_room(const Use& use) const;
  std::int64_t rise_until(std::int32_t event) const;
  void handle(std::int32_t event);
  void issue_outs_before(std::int32_t event);
  void advance_to(std::int64_t until);
  bool try_start_in(std::int64_t earliest, std::int64_t until);
  void start_in(Use& use, std::int64_t at);
  void wait_for_room(std::int64_t bytes);
  void wait_for(Use& use);
  void finish_next_out();
  void finish_outs();
  std::int64_t next_out_end() const;
  void add_resident(std::int64_t bytes);
  SwapCost cost_of_run() const;

  const SwapProblem& problem_;
  std::vector<Use> uses_;                 // by `from`
  std::vector<std::uint32_t> by_return_;  // those that come back, indices into uses_, by `to`
  std::vector<std::int32_t> use_ending_;  // per event: the use whose access it is, or -1
  std::int64_t limit_ = 0;
  std::int64_t now_ = 0;    // actual time
  std::int64_t delay_ = 0;  // actual less nominal time
  std::int64_t resident_ = 0;
  std::int64_t peak_ = 0;
  std::int64_t excess_ = 0;
  std::int64_t out_free_ = 0, in_free_ = 0;  // when each stream is idle
  std::size_t issued_outs_ = 0;
  std::size_t finished_outs_ = 0;
  std::size_t started_ins_ = 0;
  std::vector<std::int64_t> event_ns_;
  std::int32_t event_ = 0;  // the event that is next
  bool look_ahead_ = false;
  // Row k: the largest sum of bytes allocated so far, over 2^k events from each.
  std::vector<std::vector<std::int64_t>> highest_;
};

}  // namespace drgpum

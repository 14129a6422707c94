// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which calls are certain to be over when another begins.

#include <cstdint>
#include <span>
#include <vector>

#include "offline/order/edges.h"

namespace drgpum {

// Happens-before queries by chain decomposition. Each call has a place in one chain (a stream, a
// host thread, a branch of a graph) and a clock: for every chain, the last call in it that happens
// before. A call that adds nothing to its chain predecessor's clock shares it; clocks are kept in
// blocks of 8 chains, and blocks that did not change are shared as well.
//
// With N calls, E edges, C chains and J calls that wait for something new (synchronisations, event
// waits, host calls between work): built in O(N + E + J·C/8 + changed blocks) time; memory
// 8·N + J·(4·C/8) + 32·changed blocks bytes. A query takes O(1).
// Source: chain decomposition, Jagadish 1990; vector clocks, Fidge and Mattern 1988.
class HappensBefore {
 public:
  explicit HappensBefore(const Evidence& evidence);

  // Whether a path leads from call `a` to call `b`. False for a == b and for marks.
  bool before(std::uint32_t a, std::uint32_t b) const {
    if (a >= b || chain_[a] == kNone || chain_[b] == kNone) return false;
    return chain_[a] == chain_[b] || entry(clock_[b], chain_[a]) > a;
  }

  // The first call (with `launches_only`, the first launch), if it lies below `limit`, that every
  // call in `from` happens before and that is issued after all of them; kNone when there is none.
  // O(C·log N).
  std::uint32_t first_after(std::span<const std::uint32_t> from, std::uint32_t limit,
                            bool launches_only) const;
  // From which call on memory that `from` used last is free whatever overlaps: the first call after
  // them, below `limit`, such that no call of any stream issued from there to `limit` may run beside
  // them. A free put there waits for `from` itself, and no stream waits that would not have waited
  // anyway. kNone when there is none. O(C·log N).
  std::uint32_t released_after(std::span<const std::uint32_t> from, std::uint32_t limit) const;
  // The last launch that happens before `to` and is issued at or after `from`; else kNone.
  std::uint32_t last_launch_before(std::uint32_t to, std::uint32_t from) const;

  // Of the launches issued in [begin, end) whose accesses are not known, the first in each chain,
  // or the last: any of them may use any object. O(C·log N).
  std::vector<std::uint32_t> first_unseen_per_chain(std::uint32_t begin, std::uint32_t end) const;
  std::vector<std::uint32_t> last_unseen_per_chain(std::uint32_t begin, std::uint32_t end) const;

  std::uint32_t chain_of(std::uint32_t api) const { return chain_[api]; }
  std::uint32_t chain_count() const { return static_cast<std::uint32_t>(calls_.size()); }
  std::size_t clock_count() const { return clock_begin_.size() - 1; }
  std::size_t memory_bytes() const;

 private:
  static constexpr std::uint32_t kBlock = 8;
  static constexpr std::uint32_t kIndexed = 256;
  struct Block {
    std::uint32_t last[kBlock] = {};  // index + 1 of the last call before; 0: none
  };

  std::uint32_t entry(std::uint32_t clock, std::uint32_t chain) const {
    const std::uint64_t at = clock_begin_[clock] + chain / kBlock;
    return at < clock_begin_[clock + 1] ? blocks_[clock_blocks_[at]].last[chain % kBlock] : 0;
  }
  using Calls = std::vector<std::uint32_t>;
  using Place = Calls::const_iterator;
  // The first call of a chain that is issued at or after `call`.
  Place from_call(const std::vector<Calls>& chains, std::size_t chain, std::uint32_t call) const;
  // The first place in [first, last) that may not run beside `from` any more.
  Place over_in(Place first, Place last, std::span<const std::uint32_t> from) const;
  void index_chains();
  bool may_run_beside(std::span<const std::uint32_t> from, std::uint32_t call) const;
  std::uint32_t first_over(const std::vector<Calls>& chains,
                           std::span<const std::uint32_t> from, std::uint32_t begin,
                           std::uint32_t limit) const;
  void gather_unseen(const Evidence& evidence);
  std::uint32_t clock_for(const OrderSweep::Step& step);
  void begin_draft(std::uint32_t base);
  Block& drafted(std::uint32_t block);
  void join(std::uint32_t from);
  std::uint32_t store_draft();

  std::vector<std::uint32_t> chain_;         // by API
  std::vector<std::uint32_t> clock_;         // by API
  std::vector<std::uint64_t> clock_begin_;   // by clock, and one more: into clock_blocks_
  std::vector<std::uint32_t> clock_blocks_;  // into blocks_; block 0 is all zero
  std::vector<Block> blocks_;
  std::vector<std::vector<std::uint32_t>> calls_;     // by chain, rising
  std::vector<bool> is_host_;                         // by chain
  std::vector<std::vector<std::uint32_t>> launches_;  // by chain, rising
  std::vector<std::vector<std::uint32_t>> unseen_;    // by chain that has any, rising
  // By chain, then by block of kIndexed calls: how many of the chain's calls (launches) are issued
  // before the block. Empty where there are many chains.
  std::vector<std::vector<std::uint32_t>> calls_before_;
  std::vector<std::vector<std::uint32_t>> launches_before_;
  // The clock being made: its blocks, and those of them that are not the base's any more.
  std::vector<std::uint32_t> draft_ids_;
  std::vector<Block> draft_;
  std::vector<std::uint32_t> changed_;
};

}  // namespace drgpum

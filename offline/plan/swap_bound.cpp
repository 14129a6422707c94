// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/swap_bound.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace drgpum {
namespace {

// What could be away at an instant: the bytes each stream can move in the item's window.
struct Item {
  std::int64_t before;  // between its access and the instant
  std::int64_t after;   // between the instant and its next access
  std::int64_t bytes;
};

std::vector<std::size_t> order_by(const std::vector<Item>& items, std::int64_t Item::*key) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return items[a].*key < items[b].*key; });
  return order;
}

// Items in windows of at most w share a stream for w: with the windows sorted, a chain of edges,
// each of which carries all narrower ones. The most that flows through both chains is the least
// cut. Below a cut a second one in the same chain separates nothing more, so a cut is at most one
// edge of each chain, and the items that neither separates: every pair of edges is tried.
std::int64_t most_away(const std::vector<Item>& items) {
  const std::size_t n = items.size();
  const std::vector<std::size_t> before = order_by(items, &Item::before);
  const std::vector<std::size_t> after = order_by(items, &Item::after);
  std::vector<std::size_t> rank(n);
  std::vector<std::int64_t> cut(n + 1, 0);  // [j]: the second chain's edge below which j items are
  for (std::size_t j = 0; j < n; ++j) {
    rank[after[j]] = j;
    cut[j + 1] = items[after[j]].after;
  }
  std::int64_t least = INT64_MAX;
  for (std::size_t i = n + 1; i-- > 0;) {  // the first chain's edge below which i items are
    const std::int64_t first = i == 0 ? 0 : items[before[i - 1]].before;
    least = std::min(least, first + *std::min_element(cut.begin(), cut.end()));
    if (i == 0) break;
    const std::size_t next = before[i - 1];  // not separated there any more
    for (std::size_t j = 0; j <= rank[next]; ++j)
      cut[j] += items[next].bytes;
  }
  return least;
}

// What a simple choice can have away: a lower bound of most_away, narrowest windows first.
std::int64_t surely_away(std::vector<Item> items) {
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) {
    return std::min(a.before, a.after) < std::min(b.before, b.after);
  });
  std::int64_t away = 0;
  std::int64_t widest = 0;  // every window so far is at most this
  for (const Item& item : items) {
    widest = std::min(item.before, item.after);
    away += std::min(item.bytes, std::max<std::int64_t>(widest - away, 0));
  }
  return away;
}

class InstantBound {
 public:
  InstantBound(const SwapProblem& problem, std::span<const std::uint32_t> among)
      : problem_(problem), among_(among) {}

  std::vector<Item> items_at(std::int32_t event) const {
    std::vector<Item> items;
    for (const std::uint32_t i : among_) {
      const SwapCandidate& candidate = problem_.candidates[i];
      for (std::int32_t turn = 0; turn < std::min(problem_.repetitions, 2); ++turn) {
        const std::int32_t at = event + turn * problem_.period;
        if (candidate.from < at && at < candidate.to) items.push_back(item_of(candidate, at));
      }
    }
    return items;
  }

  // One event for each stretch in which no candidate begins or ends: that with the largest load;
  // largest loads first.
  std::vector<std::int32_t> instants() const {
    std::vector<bool> cut(static_cast<std::size_t>(problem_.period), false);
    for (const std::uint32_t i : among_) {
      const SwapCandidate& candidate = problem_.candidates[i];
      for (const std::int32_t at : {candidate.from + 1, candidate.to})
        cut[static_cast<std::size_t>(at % problem_.period)] = true;
    }
    std::vector<std::int32_t> events;
    for (std::int32_t e = 0; e < problem_.period; ++e) {
      if (events.empty() || cut[static_cast<std::size_t>(e)])
        events.push_back(e);
      else if (load(e) > load(events.back()))
        events.back() = e;
    }
    std::sort(events.begin(), events.end(),
              [this](std::int32_t a, std::int32_t b) { return load(a) > load(b); });
    return events;
  }

  std::int64_t load(std::int32_t event) const {
    return problem_.load[static_cast<std::size_t>(event)];
  }

 private:
  Item item_of(const SwapCandidate& candidate, std::int32_t at) const {
    const auto moved = [this](std::int32_t from, std::int32_t to, double ns_per_byte) {
      const std::int64_t ns = std::max<std::int64_t>(time_of(to) - time_of(from), 0);
      return static_cast<std::int64_t>(std::ceil(static_cast<double>(ns) / ns_per_byte));
    };
    return {moved(candidate.from + 1, at, problem_.link.out_ns_per_byte),
            moved(at, candidate.to, problem_.link.in_ns_per_byte), candidate.size};
  }

  std::int64_t time_of(std::int32_t event) const {
    const std::int32_t turn = event / problem_.period;
    return turn * problem_.duration_ns + problem_.time_of(event % problem_.period);
  }

  const SwapProblem& problem_;
  std::span<const std::uint32_t> among_;
};

}  // namespace

std::int64_t zero_stall_bound(const SwapProblem& problem, std::span<const std::uint32_t> among) {
  const InstantBound instant(problem, among);
  std::int64_t bound = 0;
  for (const std::int32_t event : instant.instants()) {
    const std::int64_t load = instant.load(event);
    if (load <= bound) break;
    const std::vector<Item> items = instant.items_at(event);
    if (load - surely_away(items) > bound) bound = std::max(bound, load - most_away(items));
  }
  return bound;
}

}  // namespace drgpum

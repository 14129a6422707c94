// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/swap_bound.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <queue>
#include <vector>

namespace drgpum {
namespace {

// Dinic's maximum flow on a small graph.
class FlowGraph {
 public:
  explicit FlowGraph(std::size_t nodes) : out_(nodes), level_(nodes), next_(nodes) {}

  void add(std::size_t from, std::size_t to, std::int64_t capacity) {
    out_[from].push_back(edges_.size());
    edges_.push_back({to, capacity});
    out_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
  }

  std::int64_t maximum(std::size_t source, std::size_t sink) {
    std::int64_t total = 0;
    while (label(source, sink)) {
      std::fill(next_.begin(), next_.end(), 0u);
      while (const std::int64_t pushed = push(source, sink, INT64_MAX))
        total += pushed;
    }
    return total;
  }

 private:
  struct Edge {
    std::size_t to;
    std::int64_t room;
  };

  bool label(std::size_t source, std::size_t sink) {
    std::fill(level_.begin(), level_.end(), -1);
    level_[source] = 0;
    std::queue<std::size_t> open({source});
    while (!open.empty()) {
      const std::size_t node = open.front();
      open.pop();
      for (const std::size_t e : out_[node]) {
        if (edges_[e].room == 0 || level_[edges_[e].to] >= 0) continue;
        level_[edges_[e].to] = level_[node] + 1;
        open.push(edges_[e].to);
      }
    }
    return level_[sink] >= 0;
  }

  std::int64_t push(std::size_t node, std::size_t sink, std::int64_t most) {
    if (node == sink) return most;
    for (std::size_t& i = next_[node]; i < out_[node].size(); ++i) {
      const std::size_t e = out_[node][i];
      if (edges_[e].room == 0 || level_[edges_[e].to] != level_[node] + 1) continue;
      const std::int64_t pushed = push(edges_[e].to, sink, std::min(most, edges_[e].room));
      if (pushed == 0) continue;
      edges_[e].room -= pushed;
      edges_[e ^ 1].room += pushed;
      return pushed;
    }
    return 0;
  }

  std::vector<Edge> edges_;
  std::vector<std::vector<std::size_t>> out_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;
};

// What could be away at an instant: the bytes each stream can move in the item's window.
struct Item {
  std::int64_t before;  // between its access and the instant
  std::int64_t after;   // between the instant and its next access
  std::int64_t bytes;
};

std::vector<std::size_t> ranks_by(const std::vector<Item>& items, std::int64_t Item::*key) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return items[a].*key < items[b].*key; });
  std::vector<std::size_t> rank(items.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    rank[order[i]] = i;
  return rank;
}

// Items in windows of at most w share a stream for w: with the windows sorted, a chain of edges,
// each of which carries all narrower ones.
std::int64_t most_away(const std::vector<Item>& items) {
  const std::size_t n = items.size();
  if (n == 0) return 0;
  const std::vector<std::size_t> before = ranks_by(items, &Item::before);
  const std::vector<std::size_t> after = ranks_by(items, &Item::after);
  const std::size_t source = 2 * n;
  const std::size_t sink = 2 * n + 1;
  FlowGraph graph(2 * n + 2);
  for (std::size_t i = 0; i < n; ++i) {
    graph.add(before[i] + 1 == n ? source : before[i] + 1, before[i], items[i].before);
    graph.add(n + after[i], after[i] + 1 == n ? sink : n + after[i] + 1, items[i].after);
    graph.add(before[i], n + after[i], items[i].bytes);
  }
  return graph.maximum(source, sink);
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
    std::vector<Item> items = instant.items_at(event);
    if (load - surely_away(items) > bound) bound = std::max(bound, load - most_away(items));
  }
  return bound;
}

}  // namespace drgpum

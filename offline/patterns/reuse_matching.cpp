// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/reuse_matching.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace drgpum {
namespace {

constexpr std::uint32_t kFree = 0xffffffffu;
constexpr std::size_t kAsked = 16;  // hosts that a guest asks for their order

// The largest host that a guest of `size` fills well enough.
std::uint64_t largest_host(std::uint64_t size, double fit) {
  const double limit = std::floor(static_cast<double>(size) / fit);
  return limit >= 1.8e19 ? UINT64_MAX : static_cast<std::uint64_t>(limit);
}

// Hosts in order of size, each with the time it is freed; the latest freed of a range of sizes.
// A slot of 0 holds nobody.
class LatestFreed {
 public:
  explicit LatestFreed(std::size_t count) {
    while (leaves_ < count)
      leaves_ *= 2;
    best_.assign(2 * leaves_, 0);
  }
  void set(std::size_t slot, std::uint32_t end) {
    for (best_[slot += leaves_] = end; slot > 1;) {
      slot /= 2;
      best_[slot] = std::max(best_[2 * slot], best_[2 * slot + 1]);
    }
  }
  // The first slot in [begin, end) of the largest value, and the value; 0 when there is none.
  std::pair<std::size_t, std::uint32_t> find(std::size_t begin, std::size_t end) const {
    std::uint32_t best = 0;
    std::size_t at = 0;
    const auto offer = [&](std::size_t node) {
      if (best_[node] > best) best = best_[node], at = node;
    };
    std::vector<std::size_t> right;
    std::size_t l = begin + leaves_;
    std::size_t r = end + leaves_;
    for (; l < r; l /= 2, r /= 2) {
      if (l & 1) offer(l++);
      if (r & 1) right.push_back(--r);
    }
    for (auto node = right.rbegin(); node != right.rend(); ++node)
      offer(*node);
    while (best != 0 && at < leaves_)
      at = best_[2 * at] == best ? 2 * at : 2 * at + 1;
    return {best == 0 ? 0 : at - leaves_, best};
  }

 private:
  std::size_t leaves_ = 1;
  std::vector<std::uint32_t> best_;
};

class Matcher {
 public:
  Matcher(std::span<const ReuseCandidate> candidates, double fit)
      : c_(candidates),
        fit_(fit),
        host_of_(c_.size(), kFree),
        guest_of_(c_.size(), kFree),
        is_settled_(c_.size(), false) {}

  // An empty `is_ordered` lets every pair pass.
  void greedy(const IsOrdered& is_ordered);
  void augment(const IsOrdered& is_ordered);
  // Later steps leave the pairs made so far alone.
  void settle_pairs() {
    for (std::uint32_t host = 0; host < c_.size(); ++host)
      is_settled_[host] = guest_of_[host] != kFree;
  }
  std::vector<ReusePair> pairs() const {
    std::vector<ReusePair> result;
    for (std::uint32_t guest = 0; guest < c_.size(); ++guest)
      if (host_of_[guest] != kFree) result.push_back({host_of_[guest], guest});
    return result;
  }

 private:
  template <typename Less>
  std::vector<std::uint32_t> sorted(Less less) const {
    std::vector<std::uint32_t> places(c_.size());
    std::iota(places.begin(), places.end(), 0u);
    std::sort(places.begin(), places.end(), less);
    return places;
  }
  bool find_host(std::uint32_t guest, std::vector<std::uint32_t>& open,
                 const IsOrdered& is_ordered);
  bool pairs_up(std::uint32_t host, std::uint32_t guest, const IsOrdered& is_ordered) const {
    return can_reuse(c_[host], c_[guest], fit_) && (!is_ordered || is_ordered(host, guest));
  }

  std::span<const ReuseCandidate> c_;
  double fit_;
  std::vector<std::uint32_t> host_of_;   // by guest
  std::vector<std::uint32_t> guest_of_;  // by host
  std::vector<bool> is_settled_;         // by host
};

void Matcher::greedy(const IsOrdered& is_ordered) {
  const auto by_first = sorted([&](std::uint32_t a, std::uint32_t b) {
    return c_[a].first != c_[b].first ? c_[a].first < c_[b].first : a < b;
  });
  const auto by_last = sorted([&](std::uint32_t a, std::uint32_t b) {
    return c_[a].last != c_[b].last ? c_[a].last < c_[b].last : a < b;
  });
  const auto by_size = sorted([&](std::uint32_t a, std::uint32_t b) {
    return c_[a].size != c_[b].size ? c_[a].size < c_[b].size : a < b;
  });
  std::vector<std::uint32_t> slot(c_.size());
  for (std::uint32_t i = 0; i < by_size.size(); ++i)
    slot[by_size[i]] = i;

  LatestFreed hosts(c_.size());
  std::size_t done = 0;
  std::vector<std::size_t> refused;
  for (const std::uint32_t guest : by_first) {
    const ReuseCandidate& b = c_[guest];
    for (; done < by_last.size() && c_[by_last[done]].last < b.first; ++done)
      if (guest_of_[by_last[done]] == kFree && c_[by_last[done]].can_host)
        hosts.set(slot[by_last[done]], c_[by_last[done]].end);
    if (host_of_[guest] != kFree) continue;
    const auto smallest = std::lower_bound(
        by_size.begin(), by_size.end(), b.size,
        [&](std::uint32_t place, std::uint64_t size) { return c_[place].size < size; });
    const auto largest = std::upper_bound(
        smallest, by_size.end(), largest_host(b.size, fit_),
        [&](std::uint64_t size, std::uint32_t place) { return size < c_[place].size; });
    refused.clear();
    while (refused.size() < kAsked) {
      const auto [at, end] = hosts.find(static_cast<std::size_t>(smallest - by_size.begin()),
                                        static_cast<std::size_t>(largest - by_size.begin()));
      if (end <= b.alloc) break;
      hosts.set(at, 0);
      if (is_ordered && !is_ordered(by_size[at], guest)) {
        refused.push_back(at);
        continue;
      }
      host_of_[guest] = by_size[at];
      guest_of_[by_size[at]] = guest;
      break;
    }
    for (const std::size_t at : refused)
      hosts.set(at, c_[by_size[at]].end);
  }
}

// One step of Kuhn's algorithm, depth first. Hosts leave `open` when they are visited; after a
// failure no augmenting path will ever lead through them, so they stay out.
bool Matcher::find_host(std::uint32_t root, std::vector<std::uint32_t>& open,
                        const IsOrdered& is_ordered) {
  struct Frame {
    std::uint32_t guest = 0;
    std::size_t next = 0;
    std::uint32_t via = kFree;  // host whose guest this is
  };
  std::vector<Frame> path{{root, 0, kFree}};
  while (!path.empty()) {
    Frame& frame = path.back();
    while (frame.next < open.size() && !pairs_up(open[frame.next], frame.guest, is_ordered))
      ++frame.next;
    if (frame.next >= open.size()) {
      path.pop_back();
      continue;
    }
    const std::uint32_t host = open[frame.next];
    const std::size_t at = frame.next;
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
    for (Frame& other : path)
      if (other.next > at) --other.next;
    if (guest_of_[host] != kFree) {
      path.push_back({guest_of_[host], 0, host});
      continue;
    }
    std::uint32_t taken = host;
    for (auto f = path.rbegin(); f != path.rend(); ++f) {
      host_of_[f->guest] = taken;
      guest_of_[taken] = f->guest;
      taken = f->via;
    }
    return true;
  }
  return false;
}

void Matcher::augment(const IsOrdered& is_ordered) {
  const auto hosts = sorted([&](std::uint32_t a, std::uint32_t b) {
    if (c_[a].end != c_[b].end) return c_[a].end > c_[b].end;
    return c_[a].size != c_[b].size ? c_[a].size < c_[b].size : a < b;
  });
  std::vector<std::uint32_t> guests = sorted([&](std::uint32_t a, std::uint32_t b) {
    if (c_[a].size != c_[b].size) return c_[a].size > c_[b].size;
    return c_[a].first != c_[b].first ? c_[a].first < c_[b].first : a < b;
  });
  std::vector<std::uint32_t> alive;
  for (const std::uint32_t host : hosts)
    if (!is_settled_[host] && c_[host].can_host) alive.push_back(host);
  for (const std::uint32_t guest : guests) {
    if (host_of_[guest] != kFree) continue;
    std::vector<std::uint32_t> open = alive;
    if (!find_host(guest, open, is_ordered)) alive = std::move(open);
  }
}

}  // namespace

bool can_reuse(const ReuseCandidate& host, const ReuseCandidate& guest, double fit) {
  return host.can_host && host.last < guest.first && host.end > guest.alloc &&
         host.size >= guest.size && host.size <= largest_host(guest.size, fit);
}

std::vector<ReusePair> match_reuses(std::span<const ReuseCandidate> candidates, double fit,
                                    const IsOrdered& is_ordered) {
  Matcher matcher(candidates, fit);
  const bool exact = candidates.size() <= kExactReuseLimit;
  matcher.greedy(is_ordered);
  if (exact) matcher.augment(is_ordered);
  if (!is_ordered) return matcher.pairs();
  matcher.settle_pairs();
  matcher.greedy({});
  if (exact) matcher.augment({});
  return matcher.pairs();
}

}  // namespace drgpum

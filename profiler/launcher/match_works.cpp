// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/match_works.h"

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

namespace drgpum::profiler {
namespace {

using Works = std::span<const Work>;

// Differences looked at before the rest is matched first come, first served: bounds the memory.
constexpr std::int64_t kMostDifferences = 1500;

// The longest common subsequence, by Myers' greedy algorithm: O(length x differences).
class CommonSequence {
 public:
  CommonSequence(Works a, Works b) : a_(a), b_(b) {}

  template <typename Pair>
  void find(Pair pair) {
    std::size_t begin = 0;
    while (begin < std::min(a_.size(), b_.size()) && a_[begin].what == b_[begin].what) {
      pair(begin, begin);
      ++begin;
    }
    std::size_t n = a_.size();
    std::size_t m = b_.size();
    while (n > begin && m > begin && a_[n - 1].what == b_[m - 1].what)
      pair(--n, --m);
    const Works a = a_.subspan(begin, n - begin);
    const Works b = b_.subspan(begin, m - begin);
    middle(a, b, [&](std::int64_t x, std::int64_t y) {
      pair(begin + static_cast<std::size_t>(x), begin + static_cast<std::size_t>(y));
    });
  }

 private:
  static bool same(Works a, Works b, std::int64_t x, std::int64_t y) {
    return a[static_cast<std::size_t>(x)].what == b[static_cast<std::size_t>(y)].what;
  }

  template <typename Pair>
  void middle(Works a, Works b, Pair pair) {
    if (a.empty() || b.empty()) return;
    const std::int64_t most = std::min(kMostDifferences, std::ssize(a) + std::ssize(b));
    reach_.assign(1, std::vector<std::int64_t>(3, 0));
    for (std::int64_t d = 0; d <= most; ++d)
      if (advance(a, b, d)) return walk_back(a, b, d, pair);
    first_come(a, b, pair);
  }

  // reach_[d + 1][k + d + 1]: how far in `a` diagonal k gets with d differences.
  bool advance(Works a, Works b, std::int64_t d) {
    std::vector<std::int64_t> next(static_cast<std::size_t>(2 * d + 3), 0);
    for (std::int64_t k = -d; k <= d; k += 2) {
      std::int64_t x = start_of(d, k);
      while (x < std::ssize(a) && x - k < std::ssize(b) && same(a, b, x, x - k))
        ++x;
      next[static_cast<std::size_t>(k + d + 1)] = x;
      if (x >= std::ssize(a) && x - k >= std::ssize(b)) return true;
    }
    reach_.push_back(std::move(next));
    return false;
  }

  std::int64_t reached(std::int64_t d, std::int64_t k) const {
    return reach_[static_cast<std::size_t>(d + 1)][static_cast<std::size_t>(k + d + 1)];
  }
  bool comes_from_above(std::int64_t d, std::int64_t k) const {
    return k == -d || (k != d && reached(d - 1, k - 1) < reached(d - 1, k + 1));
  }
  std::int64_t start_of(std::int64_t d, std::int64_t k) const {
    if (d == 0) return 0;
    return comes_from_above(d, k) ? reached(d - 1, k + 1) : reached(d - 1, k - 1) + 1;
  }

  template <typename Pair>
  void walk_back(Works a, Works b, std::int64_t d, Pair pair) {
    std::int64_t x = std::ssize(a);
    std::int64_t y = std::ssize(b);
    for (; d >= 0; --d) {
      const std::int64_t k = x - y;
      const std::int64_t start = start_of(d, k);
      for (; x > start; --x, --y)
        pair(x - 1, y - 1);
      if (d == 0) return;
      (comes_from_above(d, k) ? y : x) -= 1;
    }
  }

  template <typename Pair>
  static void first_come(Works a, Works b, Pair pair) {
    std::unordered_map<std::uint64_t, std::deque<std::int64_t>> places;
    for (std::int64_t y = 0; y < std::ssize(b); ++y)
      places[b[static_cast<std::size_t>(y)].what].push_back(y);
    std::int64_t after = -1;
    for (std::int64_t x = 0; x < std::ssize(a); ++x) {
      auto& at = places[a[static_cast<std::size_t>(x)].what];
      while (!at.empty() && at.front() <= after)
        at.pop_front();
      if (at.empty()) continue;
      after = at.front();
      pair(x, after);
    }
  }

  Works a_, b_;
  std::vector<std::vector<std::int64_t>> reach_;
};

struct Lane {
  std::uint64_t number = 0;
  std::size_t begin = 0;  // among all works
  Works works;
};

std::vector<Lane> lanes_of(Works works) {
  std::vector<Lane> lanes;
  for (std::size_t begin = 0, end = 0; begin < works.size(); begin = end) {
    while (end < works.size() && works[end].lane == works[begin].lane)
      ++end;
    lanes.push_back({works[begin].lane, begin, works.subspan(begin, end - begin)});
  }
  return lanes;
}

bool on_device(const Lane& lane) {
  return lane.number < kMemoryLane;
}

bool equal(const Lane& a, const Lane& b) {
  return std::equal(a.works.begin(), a.works.end(), b.works.begin(), b.works.end(),
                    [](const Work& x, const Work& y) { return x.what == y.what; });
}

// How many works the two have in common, in whatever order.
std::size_t shared(const Lane& a, const Lane& b) {
  std::unordered_map<std::uint64_t, std::size_t> counts;
  for (const Work& work : a.works)
    ++counts[work.what];
  std::size_t common = 0;
  for (const Work& work : b.works)
    if (auto at = counts.find(work.what); at != counts.end() && at->second > 0) {
      --at->second;
      ++common;
    }
  return common;
}

class Matcher {
 public:
  Matcher(Works calls, Works again)
      : calls_(calls), again_(again), found_(calls.size(), kNoWork), taken_(again.size(), 0) {}

  std::vector<std::size_t> run() {
    const std::vector<Lane> lanes = lanes_of(calls_);
    std::vector<Lane> free = lanes_of(again_);
    std::vector<Lane> open;
    for (const Lane& lane : lanes)
      if (!pair_with(lane, free, [&](const Lane& other) {
            return on_device(lane) ? equal(lane, other) : lane.number == other.number;
          }))
        open.push_back(lane);
    for (const Lane& lane : open)
      pair_with_most_shared(lane, free);
    match_leftovers();
    return std::move(found_);
  }

 private:
  template <typename Fits>
  bool pair_with(const Lane& lane, std::vector<Lane>& free, Fits fits) {
    const auto at = std::find_if(free.begin(), free.end(), [&](const Lane& other) {
      return on_device(lane) == on_device(other) && fits(other);
    });
    if (at == free.end()) return false;
    match(lane, *at);
    free.erase(at);
    return true;
  }

  void pair_with_most_shared(const Lane& lane, std::vector<Lane>& free) {
    std::size_t best = 0;
    std::uint64_t number = 0;
    for (const Lane& other : free) {
      if (on_device(lane) != on_device(other) || !on_device(lane)) continue;
      const std::size_t common = shared(lane, other);
      if (common <= best) continue;
      best = common;
      number = other.number;
    }
    if (best > 0) pair_with(lane, free, [&](const Lane& other) { return other.number == number; });
  }

  void match(const Lane& lane, const Lane& other) {
    CommonSequence(lane.works, other.works).find([&](std::size_t x, std::size_t y) {
      take(lane.begin + x, other.begin + y);
    });
  }

  void take(std::size_t call, std::size_t other) {
    found_[call] = other;
    taken_[other] = 1;
  }

  // In order of issue against order of time.
  void match_leftovers() {
    std::vector<std::pair<std::uint64_t, std::size_t>> late;  // (begin, place)
    for (std::size_t i = 0; i < again_.size(); ++i)
      if (taken_[i] == 0 && again_[i].on_device()) late.emplace_back(again_[i].begin_ns, i);
    std::sort(late.begin(), late.end());
    std::unordered_map<std::uint64_t, std::deque<std::size_t>> places;
    for (const auto& [begin, place] : late)
      places[again_[place].what].push_back(place);
    std::map<std::uint64_t, std::size_t> open;  // by api
    for (std::size_t i = 0; i < calls_.size(); ++i)
      if (found_[i] == kNoWork && calls_[i].on_device()) open.emplace(calls_[i].api.value, i);
    for (const auto& [api, call] : open) {
      auto& at = places[calls_[call].what];
      if (at.empty()) continue;
      take(call, at.front());
      at.pop_front();
    }
  }

  Works calls_, again_;
  std::vector<std::size_t> found_;
  std::vector<char> taken_;
};

}  // namespace

std::vector<std::size_t> match_works(std::span<const Work> calls, std::span<const Work> again) {
  return Matcher(calls, again).run();
}

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/reuse_matching.h"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace drgpum {
namespace {

constexpr double kFit = 0.9;

std::vector<ReuseCandidate> random_candidates(std::uint32_t seed, std::uint32_t count) {
  std::mt19937 random(seed);
  const auto pick = [&](std::uint32_t n) { return static_cast<std::uint32_t>(random() % n); };
  std::vector<ReuseCandidate> candidates;
  for (std::uint32_t i = 0; i < count; ++i) {
    ReuseCandidate c;
    c.object = i;
    c.size = 90 + pick(25);
    c.alloc = pick(20);
    c.first = c.alloc + 1 + pick(30);
    c.last = c.first + pick(20);
    c.end = c.last + 1 + pick(30);
    candidates.push_back(c);
  }
  return candidates;
}

bool random_order(std::uint32_t host, std::uint32_t guest) {
  return (host * 7 + guest) % 3 != 0;
}

// The largest matching, by augmenting paths over all pairs, guest by guest.
std::size_t largest(const std::vector<ReuseCandidate>& c, bool ordered_only) {
  std::vector<int> guest_of(c.size(), -1);
  std::set<std::size_t> seen;
  const auto place = [&](auto& self, std::size_t guest) -> bool {
    for (std::size_t host = 0; host < c.size(); ++host) {
      const bool fits = can_reuse(c[host], c[guest], kFit) &&
                        (!ordered_only || random_order(static_cast<std::uint32_t>(host),
                                                       static_cast<std::uint32_t>(guest)));
      if (!fits || !seen.insert(host).second) continue;
      if (guest_of[host] < 0 || self(self, static_cast<std::size_t>(guest_of[host]))) {
        guest_of[host] = static_cast<int>(guest);
        return true;
      }
    }
    return false;
  };
  std::size_t count = 0;
  for (std::size_t guest = 0; guest < c.size(); ++guest) {
    seen.clear();
    count += place(place, guest) ? 1 : 0;
  }
  return count;
}

TEST(ReuseMatching, PairsOneToOneAndOnlyWhatFits) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const auto candidates = random_candidates(seed, 40);
    std::set<std::uint32_t> hosts, guests;
    for (const ReusePair& pair : match_reuses(candidates, kFit, {})) {
      EXPECT_TRUE(can_reuse(candidates[pair.host], candidates[pair.guest], kFit));
      EXPECT_TRUE(hosts.insert(pair.host).second);
      EXPECT_TRUE(guests.insert(pair.guest).second);
    }
  }
}

TEST(ReuseMatching, MakesAsManyPairsAsThereCanBe) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const auto candidates = random_candidates(seed, 30);
    EXPECT_EQ(match_reuses(candidates, kFit, {}).size(), largest(candidates, false)) << seed;
  }
}

TEST(ReuseMatching, MakesAsManyOrderedPairsAsThereCanBe) {
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    const auto candidates = random_candidates(seed, 30);
    std::size_t ordered = 0;
    for (const ReusePair& pair : match_reuses(candidates, kFit, random_order))
      ordered += random_order(pair.host, pair.guest) ? 1 : 0;
    EXPECT_EQ(ordered, largest(candidates, true)) << seed;
  }
}

TEST(ReuseMatching, TakesTheHostThatIsFreedLatest) {
  const std::vector<ReuseCandidate> candidates{
      {0, 100, 0, 50, 1, 2}, {1, 100, 0, 60, 1, 2}, {2, 100, 0, 70, 5, 6}};
  const auto pairs = match_reuses(candidates, kFit, {});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs.front().host, 1u);
}

TEST(ReuseMatching, BreaksTiesBySizeThenByPlace) {
  const std::vector<ReuseCandidate> candidates{
      {0, 105, 0, 50, 1, 2}, {1, 100, 0, 50, 1, 2}, {2, 100, 0, 50, 1, 2}, {3, 100, 0, 70, 5, 6}};
  const auto pairs = match_reuses(candidates, kFit, {});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs.front().host, 1u);
}

}  // namespace
}  // namespace drgpum

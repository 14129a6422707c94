// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/match_works.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace drgpum::profiler {
namespace {

// A run as text: a lane for each word, a work for each letter; time runs through all of them.
std::vector<Work> run_of(const std::vector<std::pair<std::uint64_t, std::string>>& lanes) {
  std::vector<Work> works;
  for (const auto& [lane, letters] : lanes) {
    for (const char letter : letters) {
      const std::uint64_t at = works.size();
      works.push_back({static_cast<std::uint64_t>(letter), lane, ApiId{at}, at, at + 1});
    }
  }
  return works;
}

// Which of `again` each work got, as letters of its lane; '.' for none.
std::string matched(const std::vector<Work>& calls, const std::vector<Work>& again) {
  std::string text;
  std::vector<char> used(again.size(), 0);
  const auto found = match_works(calls, again);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == kNoWork) {
      text += '.';
      continue;
    }
    EXPECT_EQ(again[found[i]].what, calls[i].what);
    EXPECT_FALSE(std::exchange(used[found[i]], 1)) << "used twice";
    text += static_cast<char>('0' + again[found[i]].lane % 10);
  }
  return text;
}

TEST(MatchWorks, EqualRunsMatchWhollyWhateverTheStreamsAreCalled) {
  EXPECT_EQ(matched(run_of({{1, "abab"}, {2, "ccd"}}), run_of({{7, "ccd"}, {9, "abab"}})),
            "9999777");
}

TEST(MatchWorks, StreamsThatDoTheSameArePairedInOrder) {
  EXPECT_EQ(matched(run_of({{1, "ab"}, {2, "ab"}}), run_of({{3, "ab"}, {5, "ab"}})), "3355");
}

TEST(MatchWorks, WhatIsMissingOrNewCostsNothingElse) {
  const auto calls = run_of({{1, "xabcabcabcy"}});
  const std::string fewer = matched(calls, run_of({{1, "xabcabcy"}}));
  EXPECT_EQ(std::count(fewer.begin(), fewer.end(), '.'), 3) << fewer;
  EXPECT_EQ(matched(calls, run_of({{1, "xabcQabcabcRy"}})), "11111111111");
  EXPECT_EQ(matched(calls, run_of({})), "...........");
}

TEST(MatchWorks, PairsMatchInOrder) {
  const auto calls = run_of({{1, "aab"}});
  const auto again = run_of({{1, "aaab"}});
  const auto found = match_works(calls, again);
  EXPECT_LT(found[0], found[1]);
  EXPECT_LT(found[1], found[2]);
}

TEST(MatchWorks, NodesOfAGraphMayRunOnOtherStreams) {
  EXPECT_EQ(matched(run_of({{1, "abcd"}}), run_of({{1, "ac"}, {2, "bd"}})), "1212");
}

TEST(MatchWorks, TheHostsLanesStayApart) {
  EXPECT_EQ(matched(run_of({{1, "a"}, {kMemoryLane, "aa"}}), run_of({{1, "aaa"}})), "1..");
}

TEST(MatchWorks, LongRunsThatDifferMuchStillMatchMostOfIt) {
  std::mt19937 random(7);
  std::string first, second;
  for (int i = 0; i < 40'000; ++i) {
    const char letter = static_cast<char>('a' + random() % 20);
    if (random() % 10 != 0) first += letter;
    if (random() % 10 != 0) second += letter;
  }
  const std::string found = matched(run_of({{1, first}}), run_of({{1, second}}));
  const auto lost = static_cast<std::size_t>(std::count(found.begin(), found.end(), '.'));
  EXPECT_LT(lost, found.size() / 4);
}

}  // namespace
}  // namespace drgpum::profiler

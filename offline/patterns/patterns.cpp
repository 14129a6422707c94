// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/patterns.h"

#include <algorithm>
#include <atomic>
#include <thread>

namespace drgpum {
namespace {

constexpr std::uint32_t kWorthAThread = 100'000;  // calls
constexpr unsigned kThreads = 2;  // three patterns take most of the time

}  // namespace

std::string_view name_of(Pattern pattern) {
  return kPatterns.at(static_cast<std::size_t>(pattern)).name;
}

std::optional<Pattern> pattern_named(std::string_view name) {
  for (const PatternEntry& entry : kPatterns)
    if (entry.name == name) return entry.pattern;
  return std::nullopt;
}

// Patterns share nothing but what they read, so some run at a time; the result keeps the order.
std::vector<Finding> strict_findings(const PatternInput& in, unsigned threads) {
  std::array<std::vector<Finding>, kPatternCount> found;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < kPatternCount; i = next++)
      found.at(i) = kPatterns.at(i).find(in);
  };
  if (threads == 0) threads = in.evidence.api_count() < kWorthAThread ? 1 : kThreads;
  std::vector<std::thread> others;
  for (unsigned i = 1; i < std::min<std::size_t>(threads, kPatternCount); ++i)
    others.emplace_back(work);
  work();
  for (std::thread& other : others)
    other.join();
  std::vector<Finding> all = std::move(found.front());
  std::size_t count = all.size();
  for (const auto& some : found)
    count += some.size();
  all.reserve(count);
  for (std::size_t i = 1; i < kPatternCount; ++i) {
    all.insert(all.end(), std::make_move_iterator(found.at(i).begin()),
               std::make_move_iterator(found.at(i).end()));
    std::vector<Finding>().swap(found.at(i));
  }
  return all;
}

}  // namespace drgpum

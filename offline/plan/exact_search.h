// SPDX-License-Identifier: Apache-2.0
#pragma once
// Complete search for a layout within a capacity, for instances of up to a few thousand objects.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "offline/plan/instance.h"
#include "offline/plan/work_clock.h"

namespace drgpum {

enum class SearchOutcome : std::uint8_t {
  kSolved,
  kInfeasible,  // proven: no layout of this capacity exists
  kGaveUp,      // a limit was reached first
};

// What the search tries first; every combination is complete.
struct SearchOrder {
  enum class Value : std::uint8_t { kArea, kSize, kLength, kRandom };
  enum class Place : std::uint8_t { kFewestChoices, kLowest, kLeastSlack };
  Value value = Value::kArea;
  Place place = Place::kFewestChoices;
};

struct SearchLimits {
  std::int64_t nodes = 0;  // states visited
  // Looked at every few hundred states.
  WorkClock::time_point deadline;
  std::function<bool()> stop = {};
};

// Depth-first search over skylines. A state is, for each section, the height below which it is
// settled. It branches on one point: the floor of a section inside a local minimum of the skyline.
// Either one of the objects that fit there rests on it, or nothing does and the floor rises at the
// cost of the section's slack (capacity less its load). Every layout pushed down as far as it goes
// takes exactly one branch, so the search is complete and visits no layout twice. Parts of time
// that no unplaced object connects are solved one by one; failed parts are remembered.
// Instances with fixed offsets are not handled.
class ExactSearch {
 public:
  ExactSearch(const Instance& instance, std::int64_t capacity, std::uint64_t seed);
  ~ExactSearch();
  ExactSearch(const ExactSearch&) = delete;
  ExactSearch& operator=(const ExactSearch&) = delete;

  // Starts again from nothing, but keeps what earlier runs have proven to fail.
  SearchOutcome run(const SearchOrder& order, const SearchLimits& limits);

  // After kSolved: one offset per object of the instance.
  const std::vector<std::int64_t>& offsets() const;
  std::int64_t nodes() const;  // visited by all runs

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace drgpum

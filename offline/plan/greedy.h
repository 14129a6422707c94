// SPDX-License-Identifier: Apache-2.0
#pragma once
// One-pass planners: an order, and a fit.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "offline/plan/instance.h"
#include "offline/plan/layout.h"

namespace drgpum {

enum class GreedyOrder : std::uint8_t {
  kSize,        // largest first
  kSizeLength,  // largest first, of equals the longest
  kArea,        // largest size times length in time first
  kLength,      // longest in time first
  kSections,    // longest in sections first, of equals the largest
  kBirth,       // as they are allocated
  kPeak,        // by the highest load that an object lives through, of equals the largest
  kHotSize,     // in steps of that load, within a step the largest
  kHotBirth,    // those above 70 % of the load by size, the others as they are allocated
};

// Everything but the fixed objects, in the order named; ties by index.
std::vector<std::uint32_t> greedy_order(const Instance& instance, GreedyOrder order);

struct GreedyLimits {
  std::int64_t below = INT64_MAX;   // give up once the footprint is not below this
  std::function<bool()> stop = {};  // looked at now and then; true gives up
};

// Places, on top of what `layout` already holds, every object of `order`. Returns the footprint, or
// nothing when it gave up.
std::optional<std::int64_t> place_in_order(const Instance& instance, Layout& layout,
                                           const std::vector<std::uint32_t>& order, Fit fit,
                                           const GreedyLimits& limits);

// The highest section load in each object's hull; 0 for objects of size 0.
std::vector<std::int64_t> peak_loads(const Instance& instance);

}  // namespace drgpum

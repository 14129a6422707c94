// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/greedy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace drgpum {
namespace {

using Keys = std::vector<std::pair<double, double>>;  // larger ones first

double heat_step(double heat) {  // heat: an object's peak load over the load
  constexpr std::array<double, 4> kSteps = {0.95, 0.85, 0.7, 0.5};
  double step = 0;
  for (const double bound : kSteps)
    step += heat > bound ? 1 : 0;
  return step;
}

std::pair<double, double> key_of(const Instance& instance, std::uint32_t b, GreedyOrder order,
                                 const std::vector<std::int64_t>& peaks) {
  const auto size = static_cast<double>(instance.size[b]);
  const SectionRange hull = instance.hull_of(b);
  const auto birth = static_cast<double>(instance.birth[b]);
  const auto length = static_cast<double>(instance.length[b]);
  const auto load = static_cast<double>(instance.load);
  switch (order) {
    case GreedyOrder::kSize:
      return {size, 0};
    case GreedyOrder::kSizeLength:
      return {size, length};
    case GreedyOrder::kArea:
      return {size * length, 0};
    case GreedyOrder::kLength:
      return {length, size};
    case GreedyOrder::kSections:
      return {hull.last - hull.first, size};
    case GreedyOrder::kBirth:
      return {-birth, 0};
    case GreedyOrder::kPeak:
      return {static_cast<double>(peaks[b]), size};
    case GreedyOrder::kHotSize:
      return {heat_step(static_cast<double>(peaks[b]) / load), size};
    case GreedyOrder::kHotBirth:
      break;
  }
  const bool hot = static_cast<double>(peaks[b]) > 0.7 * load;
  return {hot, hot ? size : -birth};
}

}  // namespace

std::vector<std::int64_t> peak_loads(const Instance& instance) {
  // A sparse table: row k holds the maxima of 2^k sections from each start.
  std::vector<std::vector<std::int64_t>> rows{instance.section_load};
  for (std::size_t half = 1; 2 * half <= instance.section_load.size(); half *= 2) {
    const auto& row = rows.back();
    std::vector<std::int64_t> next(row.size() - half);
    for (std::size_t s = 0; s < next.size(); ++s)
      next[s] = std::max(row[s], row[s + half]);
    rows.push_back(std::move(next));
  }
  std::vector<std::int64_t> peaks(instance.count(), 0);
  for (std::uint32_t b = 0; b < instance.count(); ++b) {
    if (instance.ranges_of(b).empty()) continue;
    const SectionRange hull = instance.hull_of(b);
    const auto width = static_cast<std::uint32_t>(hull.last - hull.first);
    const auto& row = rows[static_cast<std::size_t>(std::bit_width(width)) - 1];
    peaks[b] = std::max(row[static_cast<std::size_t>(hull.first)],
                        row[static_cast<std::size_t>(hull.last) - std::bit_floor(width)]);
  }
  return peaks;
}

std::vector<std::uint32_t> greedy_order(const Instance& instance, GreedyOrder order) {
  const std::vector<std::int64_t> peaks =
      order >= GreedyOrder::kPeak ? peak_loads(instance) : std::vector<std::int64_t>();
  std::vector<std::pair<std::pair<double, double>, std::uint32_t>> keys;
  keys.reserve(instance.count());
  for (std::uint32_t b = 0; b < instance.count(); ++b) {
    if (instance.fixed_offset[b] != kNoOffset || instance.ranges_of(b).empty()) continue;
    const auto [first, second] = key_of(instance, b, order, peaks);
    keys.push_back({{-first, -second}, b});
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::uint32_t> objects;
  objects.reserve(keys.size());
  for (const auto& [key, b] : keys)
    objects.push_back(b);
  return objects;
}

std::optional<std::int64_t> place_in_order(const Instance& instance, Layout& layout,
                                           const std::vector<std::uint32_t>& order, Fit fit,
                                           const GreedyLimits& limits) {
  std::int64_t footprint = 0;
  for (std::uint32_t b = 0; b < instance.count(); ++b)
    if (layout.is_placed(b)) footprint = std::max(footprint, layout.offset(b) + instance.size[b]);
  std::size_t placed = 0;
  for (const std::uint32_t b : order) {
    if (layout.is_placed(b)) continue;
    if ((++placed & 255) == 0 && limits.stop && limits.stop()) return std::nullopt;
    const std::int64_t offset = layout.find(b, fit);
    footprint = std::max(footprint, offset + instance.size[b]);
    if (footprint >= limits.below) return std::nullopt;
    layout.place(b, offset);
  }
  return footprint;
}

}  // namespace drgpum

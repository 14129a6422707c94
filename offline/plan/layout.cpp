// SPDX-License-Identifier: Apache-2.0
#include "offline/plan/layout.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace drgpum {
namespace {

// Nodes are numbered as in a heap: 1 is the root over all `width` sections (a power of two), 2k
// and 2k+1 halve k. A leaf is one section.
std::uint32_t tree_width(std::int32_t sections) {
  return std::bit_ceil(static_cast<std::uint32_t>(std::max(sections, 1)));
}

}  // namespace

Layout::Layout(const Instance& instance)
    : instance_(instance),
      nodes_(2 * tree_width(instance.section_count)),
      node_(instance.count(), 0),
      slot_(instance.count(), kUnplaced),
      offset_(instance.count(), 0) {
  for (std::uint32_t b = 0; b < instance.count(); ++b)
    if (!instance.ranges_of(b).empty()) node_[b] = node_of(instance.hull_of(b));
}

// The lowest common ancestor of the first and the last section.
std::uint32_t Layout::node_of(SectionRange hull) const {
  const std::uint32_t width = tree_width(instance_.section_count);
  const std::uint32_t a = width + static_cast<std::uint32_t>(hull.first);
  const std::uint32_t b = width + static_cast<std::uint32_t>(hull.last - 1);
  return a >> std::bit_width(a ^ b);
}

void Layout::place(std::uint32_t object, std::int64_t offset) {
  offset_[object] = offset;
  if (instance_.ranges_of(object).empty()) return;
  const SectionRange hull = instance_.hull_of(object);
  auto& entries = nodes_[node_[object]];
  slot_[object] = static_cast<std::uint32_t>(entries.size());
  entries.push_back({hull.first, hull.last, object});
}

void Layout::remove(std::uint32_t object) {
  if (!is_placed(object)) return;
  auto& entries = nodes_[node_[object]];
  entries[slot_[object]] = entries.back();
  slot_[entries.back().object] = slot_[object];
  entries.pop_back();
  slot_[object] = kUnplaced;
}

bool Layout::shares_section(std::uint32_t a, std::uint32_t b) const {
  for (const SectionRange& x : instance_.ranges_of(a))
    for (const SectionRange& y : instance_.ranges_of(b))
      if (x.first < y.last && y.first < x.last) return true;
  return false;
}

void Layout::visit(std::uint32_t node, std::int32_t from, std::int32_t to, std::uint32_t object,
                   SectionRange hull) {
  for (const Entry& entry : nodes_[node]) {
    if (entry.first >= hull.last || entry.last <= hull.first || entry.object == object) continue;
    if (instance_.has_gaps && !shares_section(object, entry.object)) continue;
    const std::int64_t offset = offset_[entry.object];
    found_.push_back({offset, offset + instance_.size[entry.object], entry.object});
  }
  if (to - from <= 1) return;
  const std::int32_t middle = from + (to - from) / 2;
  if (hull.first < middle) visit(2 * node, from, middle, object, hull);
  if (hull.last > middle) visit(2 * node + 1, middle, to, object, hull);
}

std::span<const Block> Layout::beside(std::uint32_t object) {
  found_.clear();
  if (instance_.ranges_of(object).empty()) return found_;
  visit(1, 0, static_cast<std::int32_t>(tree_width(instance_.section_count)), object,
        instance_.hull_of(object));
  std::sort(found_.begin(), found_.end(), [](const Block& a, const Block& b) {
    return a.offset != b.offset ? a.offset < b.offset : a.object < b.object;
  });
  return found_;
}

std::int64_t Layout::find(std::uint32_t object, Fit fit, std::int64_t bottom) {
  return find_hole(beside(object), instance_, object, fit, bottom);
}

std::int64_t find_hole(std::span<const Block> blocks, const Instance& instance,
                       std::uint32_t object, Fit fit, std::int64_t bottom) {
  if (instance.fixed_offset[object] != kNoOffset) return instance.fixed_offset[object];
  std::int64_t best = -1;
  std::int64_t best_room = std::numeric_limits<std::int64_t>::max();
  std::int64_t top = bottom;
  for (const Block& block : blocks) {
    const std::int64_t at = instance.aligned(object, top);
    const std::int64_t room = block.offset - top;
    if (at + instance.size[object] <= block.offset && room < best_room) {
      best = at;
      best_room = room;
      if (fit == Fit::kFirst) return at;
    }
    top = std::max(top, block.top);
  }
  return best >= 0 ? best : instance.aligned(object, top);
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/order/nested_objects.h"

#include <algorithm>

namespace drgpum {

void NestedObjects::begin(std::vector<Object>& objects) {
  const auto index = static_cast<std::uint32_t>(objects.size() - 1);
  const Object& object = objects.back();
  ByAddress& allocations = allocations_[object.device];
  if (object.parent == kNone) {
    if (object.address != 0) allocations[object.address] = index;
    return;
  }
  Object& parent = objects[object.parent];
  parent.has_children = true;
  parts_[object.parent][object.address] = index;
  const std::uint64_t end = object.address + object.size;
  if (end <= parent.address + parent.size) return;
  for (auto at = allocations.upper_bound(object.address);
       at != allocations.end() && at->first < end; ++at) {
    if (at->second == object.parent) continue;
    if (overlaps_.size() == kMostOverlaps) {
      ++cut_parts_;
      return;
    }
    objects[at->second].has_children = true;
    overlaps_.push_back({index, at->second});
  }
}

void NestedObjects::end(std::uint32_t object, const std::vector<Object>& objects) {
  const Object& o = objects[object];
  ByAddress& alive = o.parent == kNone ? allocations_[o.device] : parts_[o.parent];
  const auto found = alive.find(o.address);
  if (found != alive.end() && found->second == object) alive.erase(found);
}

std::vector<std::uint32_t> NestedObjects::parts_within(std::uint32_t object, std::uint64_t begin,
                                                       std::uint64_t end,
                                                       const std::vector<Object>& objects) const {
  std::vector<std::uint32_t> within;
  const auto parts = parts_.find(object);
  if (parts == parts_.end()) return within;
  const std::uint64_t base = objects[object].address;
  auto at = parts->second.upper_bound(base + begin);
  if (at != parts->second.begin()) --at;
  for (; at != parts->second.end() && at->first - base < end; ++at)
    within.push_back(at->second);
  return within;
}

std::span<const Overlap> NestedObjects::overlaps_of(std::uint32_t part) const {
  const auto less = [](const Overlap& o, std::uint32_t p) { return o.part < p; };
  const auto first = std::lower_bound(overlaps_.begin(), overlaps_.end(), part, less);
  auto last = first;
  while (last != overlaps_.end() && last->part == part)
    ++last;
  return {first, last};
}

}  // namespace drgpum

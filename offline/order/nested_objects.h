// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which objects lie in which, while they are alive: parts in pools, pools in allocations.

#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include "offline/order/evidence.h"

namespace drgpum {

// A part that begins in another allocation and reaches into this one: mappings side by side.
struct Overlap {
  std::uint32_t part = 0;
  std::uint32_t allocation = 0;
};

class NestedObjects {
 public:
  // The last of `objects` is alive from here on. What it lies in gets children.
  void begin(std::vector<Object>& objects);
  void end(std::uint32_t object, const std::vector<Object>& objects);

  // Parts of the object that are alive and have bytes in [begin, end) of it, by address.
  std::vector<std::uint32_t> parts_within(std::uint32_t object, std::uint64_t begin,
                                          std::uint64_t end,
                                          const std::vector<Object>& objects) const;
  // Of all objects so far, by rising part. Their number is bounded: a file can make it the square of
  // its objects. Parts beyond it do not count for the allocations that they reach into.
  static constexpr std::size_t kMostOverlaps = 16'000'000;
  const std::vector<Overlap>& overlaps() const { return overlaps_; }
  std::uint64_t cut_parts() const { return cut_parts_; }
  std::span<const Overlap> overlaps_of(std::uint32_t part) const;

 private:
  using ByAddress = std::map<std::uint64_t, std::uint32_t>;

  std::unordered_map<std::uint32_t, ByAddress> parts_;        // of each object, alive
  std::unordered_map<std::uint16_t, ByAddress> allocations_;  // of each device, alive
  std::vector<Overlap> overlaps_;
  std::uint64_t cut_parts_ = 0;
};

}  // namespace drgpum

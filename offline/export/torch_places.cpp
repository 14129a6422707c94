// SPDX-License-Identifier: Apache-2.0
#include "offline/export/torch_places.h"

#include <iterator>

namespace drgpum {
namespace {

constexpr std::uint64_t kGrain = 512;  // of the addresses that are given out

// Whether something in `map` has bytes in [address, address + size).
template <typename Placed>
bool meets(const std::map<std::uint64_t, Placed>& map, std::uint64_t address, std::uint64_t size) {
  const auto after = map.lower_bound(address);
  if (after != map.end() && after->first - address < size) return true;
  if (after == map.begin()) return false;
  const auto before = std::prev(after);
  return address - before->first < before->second.size;
}

}  // namespace

bool Places::is_free(std::uint64_t address, std::uint64_t size) const {
  if (address == 0 || size > UINT64_MAX - address) return false;
  return !meets(segments_, address, size) && !meets(blocks_, address, size);
}

std::uint64_t Places::add_segment(std::uint64_t address, const PlacedSegment& segment) {
  if (!is_free(address, segment.size)) {
    address = next_;
    next_ += (segment.size + kGrain - 1) / kGrain * kGrain;
  }
  segments_[address] = segment;
  return address;
}

bool Places::fits(std::uint64_t address, std::uint64_t size) const {
  if (size > UINT64_MAX - address || meets(blocks_, address, size)) return false;
  auto segment = segments_.upper_bound(address);
  if (segment == segments_.begin()) return false;
  --segment;
  for (std::uint64_t at = segment->first; segment != segments_.end() && segment->first == at;
       ++segment) {
    at += segment->second.size;
    if (at >= address + size) return true;
    if (!segment->second.is_mapped) return false;
  }
  return false;
}

}  // namespace drgpum

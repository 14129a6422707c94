// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/intra_ranges.h"

#include <algorithm>

namespace drgpum {

using trace::ByteRange;

std::vector<ByteRange> united(std::vector<ByteRange> ranges, std::uint64_t size) {
  for (ByteRange& range : ranges)
    range.end = std::min(range.end, size);
  std::erase_if(ranges, [](const ByteRange& range) { return range.begin >= range.end; });
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::vector<ByteRange> result;
  for (const ByteRange& range : ranges) {
    if (!result.empty() && range.begin <= result.back().end) {
      result.back().end = std::max(result.back().end, range.end);
    } else {
      result.push_back(range);
    }
  }
  return result;
}

std::uint64_t bytes_of(const std::vector<ByteRange>& united) {
  std::uint64_t bytes = 0;
  for (const ByteRange& range : united)
    bytes += range.end - range.begin;
  return bytes;
}

std::vector<ByteRange> complement(const std::vector<ByteRange>& united, std::uint64_t size) {
  std::vector<ByteRange> result;
  std::uint64_t at = 0;
  for (const ByteRange& range : united) {
    if (range.begin > at) result.push_back({at, range.begin});
    at = range.end;
  }
  if (at < size) result.push_back({at, size});
  return result;
}

std::vector<ByteRange> within(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b) {
  std::vector<ByteRange> result;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::uint64_t begin = std::max(a[i].begin, b[j].begin);
    const std::uint64_t end = std::min(a[i].end, b[j].end);
    if (begin < end) result.push_back({begin, end});
    a[i].end < b[j].end ? ++i : ++j;
  }
  return result;
}

std::vector<ByteRange> within_rows(const std::vector<ByteRange>& united, std::uint64_t pitch,
                                   std::uint64_t width) {
  std::vector<ByteRange> result;
  for (const ByteRange& range : united) {
    for (std::uint64_t row = range.begin / pitch; row * pitch < range.end; ++row) {
      const std::uint64_t begin = std::max(range.begin, row * pitch);
      const std::uint64_t end = std::min(range.end, row * pitch + width);
      if (begin < end) result.push_back({begin, end});
    }
  }
  return result;
}

std::vector<ByteRange> in_elements(std::vector<ByteRange> ranges, std::uint32_t element_bytes,
                                   std::uint64_t size) {
  const std::uint64_t element = std::max<std::uint64_t>(element_bytes, 1);
  for (ByteRange& range : ranges) {
    range.begin -= range.begin % element;
    range.end = (range.end + element - 1) / element * element;
  }
  return united(std::move(ranges), size);
}

const trace::AccessMapRecord* whole_map(const PatternInput& in, const Use& use) {
  if (!use.has_detail()) return nullptr;
  const std::uint32_t map = in.evidence.details[use.detail()].map;
  if (map == kNone || in.evidence.maps[map].block_every.value_or(1) > 1) return nullptr;
  return &in.evidence.maps[map];
}

bool touched_by(const PatternInput& in, const Use& use, std::vector<ByteRange>& ranges) {
  if (!use.has_detail()) return false;
  if (const trace::AccessMapRecord* map = whole_map(in, use)) {
    ranges.insert(ranges.end(), map->read_ranges.begin(), map->read_ranges.end());
    ranges.insert(ranges.end(), map->written_ranges.begin(), map->written_ranges.end());
    return true;
  }
  const UseDetail& detail = in.evidence.details[use.detail()];
  if (detail.bounds.end == 0) return false;
  ranges.push_back(detail.bounds);
  return true;
}

std::uint32_t missing_in_maps(const PatternInput& in, std::uint32_t object) {
  const Object& o = in.evidence.objects[object];
  std::uint32_t missing = missing_for(in, object);
  if (in.evidence.first_unseen(o.alloc, o.end) != kNone) missing |= kMissingLaunches;
  for (const Use& use : in.evidence.uses_of(object)) {
    if (!use.by_kernel() || !use.has_detail()) continue;
    const trace::AccessMapRecord* map = whole_map(in, use);
    if (map == nullptr || !map->exact) missing |= kMissingExactCells;
  }
  return missing;
}

}  // namespace drgpum

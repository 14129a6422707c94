// SPDX-License-Identifier: Apache-2.0
#include "offline/order/roll_up.h"

#include <algorithm>
#include <tuple>

namespace drgpum {
namespace {

using trace::ByteRange;

struct Member {
  std::uint32_t object = 0;  // that the use counts for
  std::uint32_t api = 0;
  std::uint32_t raw = 0;  // place of the use
  auto key() const { return std::tie(object, api, raw); }
};

std::vector<Member> members_of(const std::vector<RawUse>& raw, const std::vector<Overlap>& overlaps,
                               const Evidence& evidence) {
  std::vector<Member> members;
  for (std::uint32_t i = 0; i < raw.size(); ++i) {
    if (!raw[i].use.by_kernel()) continue;
    const std::uint32_t object = raw[i].object;
    const std::uint32_t api = raw[i].use.api;
    if (evidence.objects[object].has_children) members.push_back({object, api, i});
    for (std::uint32_t above = evidence.objects[object].parent; above != kNone;
         above = evidence.objects[above].parent)
      members.push_back({above, api, i});
    for (auto at = std::lower_bound(overlaps.begin(), overlaps.end(), object,
                                    [](const Overlap&o, std::uint32_t p) { return o.part < p; });
         at != overlaps.end() && at->part == object; ++at)
      members.push_back({at->allocation, api, i});
  }
  std::sort(members.begin(), members.end(),
            [](const Member& a, const Member& b) { return a.key() < b.key(); });
  return members;
}

std::uint32_t map_of(const Use& use, const Evidence& evidence) {
  return use.has_detail() ? evidence.details[use.detail()].map : kNone;
}

// Ranges of `part` as ranges of `above`, as far as they lie in it.
void append(std::vector<ByteRange>& to, const std::vector<ByteRange>& from, const Object& part,
            const Object& above) {
  for (const ByteRange& range : from) {
    const std::uint64_t begin = std::max(part.address + range.begin, above.address);
    const std::uint64_t end = std::min(part.address + range.end, above.address + above.size);
    if (begin < end) to.push_back({begin - above.address, end - above.address});
  }
}

void unite(std::vector<ByteRange>& ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const ByteRange& range : ranges) {
    if (kept > 0 && range.begin <= ranges[kept - 1].end)
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
}

// The uses [first, last) of one object and its parts by one launch.
RawUse joined(const std::vector<RawUse>& raw, const Member* first, const Member* last,
              Evidence& evidence) {
  const Object& above = evidence.objects[first->object];
  std::uint32_t flags = 0;
  trace::AccessMapRecord map;
  map.api = ApiId{first->api};
  map.object = ObjectId{above.id};
  map.exact = true;
  std::vector<std::uint32_t> touched, mapped;
  for (const Member* at = first; at != last; ++at) {
    const RawUse& part = raw[at->raw];
    flags |= part.use.flags();
    touched.push_back(part.object);
    const std::uint32_t own = map_of(part.use, evidence);
    if (own == kNone) continue;
    mapped.push_back(part.object);
    const trace::AccessMapRecord& from = evidence.maps[own];
    append(map.read_ranges, from.read_ranges, evidence.objects[part.object], above);
    append(map.written_ranges, from.written_ranges, evidence.objects[part.object], above);
    map.exact = map.exact && from.exact;
    map.cell_bytes = std::max(map.cell_bytes, from.cell_bytes);
  }
  for (auto* objects : {&touched, &mapped}) {
    std::sort(objects->begin(), objects->end());
    objects->erase(std::unique(objects->begin(), objects->end()), objects->end());
  }
  RawUse use{first->object, {first->api, flags}};
  constexpr std::size_t kMaxDetails = (1u << 26) - 2;
  if (touched != mapped || evidence.details.size() >= kMaxDetails) return use;
  unite(map.read_ranges);
  unite(map.written_ranges);
  UseDetail detail;
  detail.map = static_cast<std::uint32_t>(evidence.maps.size());
  evidence.maps.push_back(std::move(map));
  evidence.details.push_back(detail);
  use.use.packed |= static_cast<std::uint32_t>(evidence.details.size()) << 6;
  return use;
}

}  // namespace

void roll_up_launches(std::vector<RawUse>& raw, const std::vector<Overlap>& overlaps,
                      Evidence& evidence) {
  const std::vector<Member> members = members_of(raw, overlaps, evidence);
  if (members.empty()) return;
  std::vector<char> replaced(raw.size(), 0);
  std::vector<RawUse> made;
  for (std::size_t begin = 0, end = 0; begin < members.size(); begin = end) {
    while (end < members.size() && members[end].object == members[begin].object &&
           members[end].api == members[begin].api) {
      if (raw[members[end].raw].object == members[end].object) replaced[members[end].raw] = 1;
      ++end;
    }
    made.push_back(joined(raw, &members[begin], members.data() + end, evidence));
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < raw.size(); ++i)
    if (replaced[i] == 0) raw[kept++] = raw[i];
  raw.resize(kept);
  raw.insert(raw.end(), made.begin(), made.end());
}

std::optional<Extent> extent_within(const Extent& extent, std::uint64_t begin, std::uint64_t end,
                                    bool is_read) {
  const std::uint64_t reach =
      (extent.slices - 1) * extent.slice_pitch + (extent.rows - 1) * extent.pitch + extent.width;
  const std::uint64_t from = std::max(extent.offset, begin);
  const std::uint64_t to = std::min(extent.offset + reach, end);
  if (from >= to) return std::nullopt;
  const bool holds_all = from == extent.offset && to == extent.offset + reach;
  if (holds_all) {
    Extent moved = extent;
    moved.offset -= begin;
    return moved;
  }
  const bool is_linear = extent.rows == 1 && extent.slices == 1;
  if (is_linear || is_read) return Extent{from - begin, to - from, 1, 1, 0, 0};
  if (extent.slices != 1 || extent.pitch == 0) return std::nullopt;
  // Whole rows in [begin, end).
  const std::uint64_t ahead = from - extent.offset;
  const std::uint64_t first = (ahead + extent.pitch - 1) / extent.pitch;
  const std::uint64_t room = to - extent.offset;
  if (room < extent.width) return std::nullopt;
  const std::uint64_t last = std::min((room - extent.width) / extent.pitch + 1, extent.rows);
  if (first >= last) return std::nullopt;
  Extent rows = extent;
  rows.offset = extent.offset + first * extent.pitch - begin;
  rows.rows = last - first;
  return rows;
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/report/page_inside.h"

#include <algorithm>
#include <set>

#include "offline/patterns/intra_ranges.h"

namespace drgpum {
namespace {

struct MappedUse {
  std::uint32_t api = 0;
  const trace::AccessMapRecord* map = nullptr;
};

std::vector<MappedUse> mapped_uses(const Evidence& e, std::uint32_t object) {
  std::vector<MappedUse> mapped;
  for (const Use& use : e.uses_of(object))
    if (use.has_detail() && e.details[use.detail()].map != kNone)
      mapped.push_back({use.api, &e.maps[e.details[use.detail()].map]});
  return mapped;
}

// As fine as the coarsest strip.
std::size_t parts_of(const std::vector<MappedUse>& mapped) {
  std::size_t parts = kInsideParts;
  for (const MappedUse& use : mapped)
    if (!use.map->heat_strip.empty()) parts = std::min(parts, use.map->heat_strip.size());
  return parts;
}

// Sets `flag` in the parts that a range reaches into; `size` above 0.
void mark(const std::vector<trace::ByteRange>& ranges, std::uint64_t size, std::uint8_t flag,
          std::vector<std::uint8_t>& touched) {
  const auto parts = static_cast<double>(touched.size());
  const auto part_at = [&](std::uint64_t byte) {
    return static_cast<double>(byte) / static_cast<double>(size) * parts;
  };
  for (const trace::ByteRange& range : ranges)
    for (auto part = static_cast<std::size_t>(part_at(range.begin));
         part < touched.size() && static_cast<double>(part) < part_at(range.end); ++part)
      touched[part] |= flag;
}

// Without a strip (traces of before there were any): 1 for each part that is touched.
void add_counts(const trace::AccessMapRecord& map, std::uint64_t size, std::size_t parts,
                std::uint64_t* counts) {
  for (std::size_t i = 0; i < map.heat_strip.size(); ++i)
    counts[i * parts / map.heat_strip.size()] += map.heat_strip[i];
  if (!map.heat_strip.empty()) return;
  std::vector<std::uint8_t> touched(parts, 0);
  mark(map.read_ranges, size, 1, touched);
  mark(map.written_ranges, size, 1, touched);
  for (std::size_t part = 0; part < parts; ++part)
    counts[part] += touched[part];
}

void mark_touched(const std::vector<MappedUse>& mapped, std::uint64_t size, InsideObject& inside) {
  std::vector<trace::ByteRange> read;
  std::vector<trace::ByteRange> written;
  for (const MappedUse& use : mapped) {
    read.insert(read.end(), use.map->read_ranges.begin(), use.map->read_ranges.end());
    written.insert(written.end(), use.map->written_ranges.begin(), use.map->written_ranges.end());
    inside.sampled = inside.sampled || use.map->block_every.value_or(1) > 1;
  }
  inside.touched.assign(inside.parts, 0);
  read = united(std::move(read), size);
  written = united(std::move(written), size);
  mark(read, size, kInsideRead, inside.touched);
  mark(written, size, kInsideWritten, inside.touched);
  read.insert(read.end(), written.begin(), written.end());
  std::vector<std::uint8_t> untouched(inside.parts, 0);
  mark(complement(united(std::move(read), size), size), size, 1, untouched);
  for (std::size_t part = 0; part < inside.parts; ++part)
    if (inside.touched[part] != 0 && untouched[part] != 0) inside.touched[part] |= kInsidePartly;
}

}  // namespace

std::optional<InsideObject> inside_of(const Evidence& e, std::uint32_t object) {
  const std::uint64_t size = e.objects[object].size;
  const std::vector<MappedUse> mapped = mapped_uses(e, object);
  if (mapped.empty() || size == 0) return std::nullopt;
  InsideObject inside;
  inside.object = object;
  inside.launches = static_cast<std::uint32_t>(mapped.size());
  inside.parts = parts_of(mapped);
  const std::size_t rows = std::min(mapped.size(), kInsideRows);
  inside.counts.assign(rows * inside.parts, 0);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t first = row * mapped.size() / rows;
    const std::size_t end = (row + 1) * mapped.size() / rows;
    inside.rows.push_back(
        {mapped[first].api, mapped[end - 1].api, static_cast<std::uint32_t>(end - first)});
    for (std::size_t i = first; i < end; ++i)
      add_counts(*mapped[i].map, size, inside.parts, &inside.counts[row * inside.parts]);
  }
  mark_touched(mapped, size, inside);
  return inside;
}

void write_inside(const Report& report, std::span<const std::uint32_t> shown,
                  const ColumnWriter& to) {
  const Evidence& e = report.evidence;
  JsonWriter& json = to.json();
  std::vector<std::uint32_t> order;
  if (!e.maps.empty()) {
    std::set<std::uint32_t> left(shown.begin(), shown.end());
    for (const Finding& f : report.findings)
      if (left.erase(f.object) != 0) order.push_back(f.object);
    const auto rest = static_cast<std::ptrdiff_t>(order.size());
    order.insert(order.end(), left.begin(), left.end());
    std::stable_sort(order.begin() + rest, order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return e.objects[a].size > e.objects[b].size;
    });
  }
  std::size_t room = kInsideNumbers;
  json.begin_array();
  for (const std::uint32_t object : order) {
    const std::optional<InsideObject> inside = inside_of(e, object);
    if (!inside) continue;
    if (inside->counts.size() > room) break;
    room -= inside->counts.size();
    json.begin_object();
    json.field("id", e.objects[object].id);
    json.field("launches", inside->launches);
    json.field("sampled", inside->sampled);
    json.field("parts", inside->parts);
    const auto rows = [&](std::string_view name, auto value) {
      json.key(name).begin_array();
      for (const InsideRow& row : inside->rows)
        json.number(value(row));
      json.end_array();
    };
    rows("row_first", [](const InsideRow& row) { return row.first; });
    rows("row_last", [](const InsideRow& row) { return row.last; });
    rows("row_launches", [](const InsideRow& row) { return row.launches; });
    to.column("counts", inside->counts.size(),
              [&](std::uint32_t i) { return inside->counts[i]; });
    to.column("touched", inside->parts, [&](std::uint32_t i) { return inside->touched[i]; });
    json.end_object();
  }
  json.end_array();
}

}  // namespace drgpum

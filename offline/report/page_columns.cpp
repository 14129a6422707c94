// SPDX-License-Identifier: Apache-2.0
#include "offline/report/page_columns.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "proto/trace/names.h"

namespace drgpum {
namespace {

std::int64_t signed_of(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

double weight_of(const Object& o) {
  return static_cast<double>(o.size) * static_cast<double>(o.end > o.alloc ? o.end - o.alloc : 0);
}

std::uint64_t lowest_address(const Report& report, std::span<const std::uint32_t> shown) {
  std::uint64_t lowest = UINT64_MAX;
  for (const std::uint32_t o : shown)
    if (const std::uint64_t address = report.evidence.objects[o].address; address != 0)
      lowest = std::min(lowest, address);
  return lowest == UINT64_MAX ? 0 : lowest;
}

// The calls that use each object: how many, which, and what they do.
void write_uses(const Report& report, std::span<const std::uint32_t> shown,
                const ColumnWriter& to) {
  const Evidence& e = report.evidence;
  std::vector<const Use*> uses;
  std::size_t count = 0;
  for (const std::uint32_t o : shown)
    count += e.uses_of(o).size();
  if (count > kMaxPageUses) return;
  uses.reserve(count);
  for (const std::uint32_t o : shown)
    for (const Use& use : e.uses_of(o))
      uses.push_back(&use);
  to.column("use_count", shown.size(), [&](std::uint32_t i) { return e.uses_of(shown[i]).size(); });
  to.column("use_call", count, [&](std::uint32_t i) { return uses[i]->api; });
  to.column("use_flags", count, [&](std::uint32_t i) { return uses[i]->flags() & 7; });
}

// From allocation to the call that gives the object back, where its memory waits for streams after
// that; else -1.
void write_free_requests(const Report& report, std::span<const std::uint32_t> shown,
                         const ColumnWriter& to) {
  const Evidence& e = report.evidence;
  std::vector<std::int64_t> after(e.objects.size(), -1);
  for (const FreeRequest& request : e.free_requests)
    if (const Object& o = e.objects[request.object]; o.alloc <= request.api && request.api < o.end)
      after[request.object] = signed_of(request.api) - signed_of(o.alloc);
  to.column("free_requested", shown.size(), [&](std::uint32_t i) { return after[shown[i]]; });
}

// The highest and lowest of a curve in each of `count` stretches of calls.
struct Stretches {
  std::vector<std::uint64_t> highest;
  std::vector<std::uint64_t> lowest;
};
Stretches in_stretches(const std::vector<LivePoint>& points, std::uint32_t stretch,
                       std::uint32_t count) {
  Stretches found{std::vector<std::uint64_t>(count, 0), std::vector<std::uint64_t>(count, 0)};
  std::uint64_t live = 0;
  auto next = points.begin();
  for (std::uint32_t s = 0; s < count; ++s) {
    const std::uint32_t first = s * stretch;
    if (next != points.end() && next->api == first) live = (next++)->bytes;
    found.highest[s] = found.lowest[s] = live;
    for (; next != points.end() && next->api - first < stretch; ++next) {
      live = next->bytes;
      found.highest[s] = std::max(found.highest[s], live);
      found.lowest[s] = std::min(found.lowest[s], live);
    }
  }
  return found;
}

// What pools hold of a device, where tensors are counted; nothing where no pool is known.
std::vector<LivePoint> reserved_curve(const Report& report, std::uint16_t device) {
  if (report.level != MemoryLevel::kTensor) return {};
  return curve_where(report.evidence, [&](const Object& o) {
    return o.device == device && holds_memory(o, MemoryLevel::kAllocation);
  });
}

}  // namespace

std::uint32_t NumberedTexts::number_of(const std::string& text) {
  const auto [entry, is_new] = numbers_.emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.push_back(&entry->first);
  return entry->second;
}

void NumberedTexts::write(std::string_view key, JsonWriter& json) const {
  json.key(key).begin_array();
  for (const std::string* text : texts_)
    json.text(*text);
  json.end_array();
}

PathTable::PathTable(const Report& report) : report_(report) {
  std::vector<std::uint32_t> ids;
  for (const auto& [id, path] : report.call_paths)
    ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const std::uint32_t id : ids) {
    const CallPath& path = report.call_paths.at(id);
    if (path.frames.empty()) continue;
    path_number_.emplace(id, static_cast<std::uint32_t>(paths_.size()));
    std::vector<std::uint32_t>& numbers = paths_.emplace_back();
    for (const SourceFrame& frame : path.frames)
      numbers.push_back(number_of(frame));
    sites_.push_back(numbers[std::min(path.site, numbers.size() - 1)]);
  }
}

std::uint32_t PathTable::number_of(const SourceFrame& frame) {
  const auto [entry, is_new] =
      frame_number_.emplace(std::pair{std::string_view(frame.function),
                                      std::pair{std::string_view(frame.file), frame.line}},
                            static_cast<std::uint32_t>(frames_.size()));
  if (is_new) frames_.push_back(&frame);
  return entry->second;
}

std::int64_t PathTable::path_of(std::uint32_t api) const {
  if (!report_.has_call(api)) return -1;
  const auto path = path_number_.find(report_.evidence.apis[api].call_path);
  return path == path_number_.end() ? -1 : signed_of(path->second);
}

std::int64_t PathTable::site_of(std::uint32_t api) const {
  const std::int64_t path = path_of(api);
  return path < 0 ? path : signed_of(sites_[static_cast<std::size_t>(path)]);
}

void PathTable::write(const ColumnWriter& to) const {
  JsonWriter& json = to.json();
  json.key("paths").begin_array();
  for (const auto& path : paths_) {
    json.begin_array();
    for (const std::uint32_t frame : path)
      json.number(frame);
    json.end_array();
  }
  json.end_array();
  json.key("sites").begin_array();
  for (const std::uint32_t site : sites_)
    json.number(site);
  json.end_array();
  json.key("frames").begin_array();
  for (const SourceFrame* frame : frames_)
    json.begin_array().text(frame->function).text(frame->file).number(frame->line).end_array();
  json.end_array();
}

std::vector<std::uint32_t> objects_to_show(const Report& report, std::size_t most,
                                           std::size_t findings) {
  const std::vector<Object>& objects = report.evidence.objects;
  std::vector<std::uint32_t> shown(objects.size());
  std::iota(shown.begin(), shown.end(), 0u);
  if (shown.size() <= most) return shown;
  const auto heavier = [&](std::uint32_t a, std::uint32_t b) {
    const double first = weight_of(objects[a]);
    const double second = weight_of(objects[b]);
    return first != second ? first > second : a < b;
  };
  std::nth_element(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(most), shown.end(),
                   heavier);
  std::set<std::uint32_t> kept(shown.begin(), shown.begin() + static_cast<std::ptrdiff_t>(most));
  for (std::size_t f = 0; f < std::min(findings, report.findings.size()); ++f) {
    kept.insert(report.findings[f].object);
    if (report.findings[f].host != kNone) kept.insert(report.findings[f].host);
  }
  if (!report.peaks.empty())
    for (const LiveObject& live : report.peaks.front().objects)
      kept.insert(live.object);
  for (auto o = kept.rbegin(); o != kept.rend(); ++o)
    if (const std::uint32_t parent = objects[*o].parent; parent != kNone) kept.insert(parent);
  return {kept.begin(), kept.end()};
}

std::vector<std::uint32_t> lanes_of(const Report& report, std::span<const std::uint32_t> shown) {
  const std::vector<Object>& objects = report.evidence.objects;
  const auto lives = [&](std::uint32_t i) {
    return objects[shown[i]].end > objects[shown[i]].alloc;
  };
  std::vector<std::uint32_t> by_begin(shown.size());
  std::iota(by_begin.begin(), by_begin.end(), 0u);
  std::vector<std::uint32_t> by_end = by_begin;
  std::stable_sort(by_begin.begin(), by_begin.end(), [&](std::uint32_t a, std::uint32_t b) {
    return objects[shown[a]].alloc < objects[shown[b]].alloc;
  });
  std::stable_sort(by_end.begin(), by_end.end(), [&](std::uint32_t a, std::uint32_t b) {
    return objects[shown[a]].end < objects[shown[b]].end;
  });
  std::vector<std::uint32_t> lanes(shown.size(), 0);
  std::vector<std::uint32_t> idle;
  std::uint32_t lane_count = 0;
  auto ended = by_end.begin();
  for (const std::uint32_t i : by_begin) {
    if (!lives(i)) continue;
    for (; ended != by_end.end() && objects[shown[*ended]].end <= objects[shown[i]].alloc; ++ended)
      if (lives(*ended)) idle.push_back(lanes[*ended]);
    if (idle.empty()) {
      lanes[i] = lane_count++;
    } else {
      lanes[i] = idle.back();
      idle.pop_back();
    }
  }
  return lanes;
}

void write_object_columns(const Report& report, std::span<const std::uint32_t> shown,
                          const PathTable& paths, const ColumnWriter& to) {
  const Evidence& e = report.evidence;
  const std::size_t n = shown.size();
  NumberedTexts kinds;
  NumberedTexts names;
  const auto object = [&](std::uint32_t i) -> const Object& { return e.objects[shown[i]]; };
  const auto uses = [&](std::uint32_t i) { return e.uses_of(shown[i]); };
  JsonWriter& json = to.json();
  json.begin_object();
  json.field("count", n);
  json.field("total_count", e.objects.size());
  to.column("id", n, [&](std::uint32_t i) { return object(i).id; });
  to.column("size_bytes", n, [&](std::uint32_t i) { return object(i).size; });
  to.column("parent", n, [&](std::uint32_t i) {
    const auto place = std::lower_bound(shown.begin(), shown.end(), object(i).parent);
    return object(i).parent == kNone ? std::int64_t{-1} : signed_of(static_cast<std::uint64_t>(place - shown.begin()));
  });
  to.column("kind", n, [&](std::uint32_t i) {
    return kinds.number_of(std::string(trace::enum_name(object(i).kind)));
  });
  to.column("device", n, [&](std::uint32_t i) { return object(i).device; });
  to.column("name", n, [&](std::uint32_t i) {
    return names.number_of(shown[i] < report.names.size() ? report.names[shown[i]] : std::string());
  });
  to.column("path", n, [&](std::uint32_t i) { return paths.path_of(object(i).alloc); });
  to.column("begin", n, [&](std::uint32_t i) { return object(i).alloc; });
  to.column("life", n, [&](std::uint32_t i) {
    return signed_of(object(i).end) - signed_of(object(i).alloc);
  });
  to.column("freed", n, [&](std::uint32_t i) { return object(i).free == kNone ? 0 : 1; });
  to.column("first_access", n, [&](std::uint32_t i) {
    return uses(i).empty() ? std::int64_t{-1}
                           : signed_of(uses(i).front().api) - signed_of(object(i).alloc);
  });
  to.column("last_access", n, [&](std::uint32_t i) {
    return uses(i).empty() ? std::int64_t{-1}
                           : signed_of(uses(i).back().api) - signed_of(uses(i).front().api);
  });
  if (!e.free_requests.empty()) write_free_requests(report, shown, to);
  const std::vector<std::uint32_t> lanes = lanes_of(report, shown);
  to.column("lane", n, [&](std::uint32_t i) { return lanes[i]; });
  // From the lowest, as text: addresses may exceed what a JSON number keeps exactly.
  const std::uint64_t base = lowest_address(report, shown);
  json.field("address_base", std::to_string(base));
  to.column("address", n, [&](std::uint32_t i) {
    return object(i).address < base ? std::int64_t{-1} : signed_of(object(i).address - base);
  });
  write_uses(report, shown, to);
  kinds.write("kinds", json);
  names.write("names", json);
  paths.write(to);
  json.end_object();
}

void write_curves(const Report& report, const ColumnWriter& to) {
  const Evidence& e = report.evidence;
  std::set<std::uint16_t> devices;
  for (const Object& o : e.objects)
    devices.insert(o.device);
  const std::uint32_t calls = std::max<std::uint32_t>(e.api_count(), 1);
  const std::uint32_t stretch = (calls + kCurveStretches - 1) / kCurveStretches;
  const std::uint32_t count = (calls + stretch - 1) / stretch;
  JsonWriter& json = to.json();
  json.begin_array();
  for (const std::uint16_t device : devices) {
    const Stretches live =
        in_stretches(live_curve(e, device, report.level), stretch, count);
    json.begin_object();
    json.field("device", device);
    json.field("stretch", stretch);
    to.column("highest", count, [&](std::uint32_t s) { return live.highest[s]; });
    to.column("lowest", count, [&](std::uint32_t s) { return live.lowest[s]; });
    if (const std::vector<LivePoint> held = reserved_curve(report, device); !held.empty()) {
      const Stretches reserved = in_stretches(held, stretch, count);
      to.column("reserved", count, [&](std::uint32_t s) { return reserved.highest[s]; });
    }
    json.end_object();
  }
  json.end_array();
}

void write_packing(const Report& report, const ColumnWriter& to) {
  JsonWriter& json = to.json();
  if (!report.smartpool) {
    json.null();
    return;
  }
  const std::vector<PoolPlace>& places = report.smartpool->places;
  json.begin_object();
  to.column("id", places.size(),
            [&](std::uint32_t i) { return report.evidence.objects[places[i].object].id; });
  to.column("offset", places.size(), [&](std::uint32_t i) { return places[i].offset; });
  json.end_object();
}

}  // namespace drgpum

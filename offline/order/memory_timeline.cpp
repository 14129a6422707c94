// SPDX-License-Identifier: Apache-2.0
#include "offline/order/memory_timeline.h"

#include <algorithm>
#include <set>

#include "offline/order/object_kinds.h"

namespace drgpum {
namespace {

__extension__ using Wide = unsigned __int128;

struct Change {
  std::uint32_t api = 0;
  bool grows = false;
  std::uint64_t bytes = 0;
};

// At one call, what ends ends before what begins begins.
std::vector<LivePoint> integrate(std::vector<Change> changes) {
  std::sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return a.api != b.api ? a.api < b.api : a.grows < b.grows;
  });
  std::vector<LivePoint> points;
  Wide live = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    live = changes[i].grows ? live + changes[i].bytes : live - changes[i].bytes;
    if (i + 1 < changes.size() && changes[i + 1].api == changes[i].api) continue;
    const auto shown = static_cast<std::uint64_t>(std::min<Wide>(live, UINT64_MAX));
    if (points.empty() || points.back().bytes != shown) points.push_back({changes[i].api, shown});
  }
  return points;
}

template <typename Counts>
std::vector<LivePoint> curve_of(const Evidence& evidence, Counts counts) {
  std::vector<Change> changes;
  for (const Object& o : evidence.objects) {
    if (!counts(o) || o.size == 0 || o.alloc >= o.end) continue;
    changes.push_back({o.alloc, true, o.size});
    changes.push_back({o.end, false, o.size});
  }
  return integrate(std::move(changes));
}

// The highest local maxima of one curve.
void collect_peaks(const std::vector<LivePoint>& curve, std::uint16_t device, std::uint32_t last,
                   std::size_t count, std::vector<Peak>& peaks) {
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const bool rose = i == 0 || curve[i - 1].bytes < curve[i].bytes;
    const bool falls = i + 1 == curve.size() || curve[i + 1].bytes < curve[i].bytes;
    if (!rose || !falls || curve[i].bytes == 0) continue;
    peaks.push_back(
        {curve[i].bytes, curve[i].api, i + 1 < curve.size() ? curve[i + 1].api : last, device, {}});
  }
  std::sort(peaks.begin(), peaks.end(), [](const Peak& a, const Peak& b) {
    if (a.bytes != b.bytes) return a.bytes > b.bytes;
    return a.api != b.api ? a.api < b.api : a.device < b.device;
  });
  if (peaks.size() > count) peaks.resize(count);
}

bool is_ever_used(std::span<const Use> uses) {
  return std::any_of(uses.begin(), uses.end(),
                     [](const Use& use) { return use.by_kernel() || use.reads(); });
}

StateAtPeak state_at(const Evidence& evidence, std::uint32_t object, const Peak& peak) {
  if (!evidence.records_accesses()) return StateAtPeak::kUnknown;
  const Object& about = evidence.objects[object];
  if (is_compiler_variable(evidence, about)) return StateAtPeak::kUsed;
  const auto uses = evidence.uses_of(object);
  if (!is_ever_used(uses))
    return is_used_unseen(about) ? StateAtPeak::kUnknown : StateAtPeak::kUnused;
  const auto at = std::lower_bound(uses.begin(), uses.end(), peak.api,
                                   [](const Use& use, std::uint32_t api) { return use.api < api; });
  if (at != uses.end() && at->api < peak.until) return StateAtPeak::kUsed;
  const bool can_leak = about.kind != trace::ObjectKind::kModuleGlobal && !about.ended;
  return at == uses.end() && can_leak ? StateAtPeak::kLeaked : StateAtPeak::kIdle;
}

void fill_live_set(const Evidence& evidence, MemoryLevel level, Peak& peak) {
  for (std::uint32_t o = 0; o < evidence.objects.size(); ++o) {
    const Object& object = evidence.objects[o];
    const bool live = object.alloc <= peak.api && peak.api < object.end;
    if (!live || object.device != peak.device || object.size == 0 || !holds_memory(object, level))
      continue;
    peak.objects.push_back({o, state_at(evidence, o, peak)});
  }
  std::sort(peak.objects.begin(), peak.objects.end(),
            [&](const LiveObject& a, const LiveObject& b) {
              const std::uint64_t x = evidence.objects[a.object].size;
              const std::uint64_t y = evidence.objects[b.object].size;
              return x != y ? x > y : a.object < b.object;
            });
}

std::set<std::uint16_t> devices_of(const Evidence& evidence) {
  std::set<std::uint16_t> devices;
  for (const Object& object : evidence.objects)
    devices.insert(object.device);
  return devices;
}

}  // namespace

MemoryLevel finest_level(const Evidence& evidence) {
  const bool has_parts = std::any_of(evidence.objects.begin(), evidence.objects.end(),
                                     [](const Object& object) { return object.has_children; });
  return has_parts ? MemoryLevel::kTensor : MemoryLevel::kAllocation;
}

bool holds_memory(const Object& object, MemoryLevel level) {
  if (!object.on_device() || object.kind == trace::ObjectKind::kImported) return false;
  return level == MemoryLevel::kAllocation ? object.parent == kNone : !object.has_children;
}

std::vector<LivePoint> live_curve(const Evidence& evidence, std::uint16_t device,
                                  MemoryLevel level) {
  return curve_of(evidence, [&](const Object& object) {
    return object.device == device && holds_memory(object, level);
  });
}

std::vector<LivePoint> curve_where(const Evidence& evidence,
                                   const std::function<bool(const Object&)>& counts) {
  return curve_of(evidence, counts);
}

std::vector<LivePoint> pinned_curve(const Evidence& evidence) {
  return curve_of(evidence, [](const Object& object) { return !object.on_device() && object.parent == kNone; });
}

std::vector<Peak> top_peaks(const Evidence& evidence, MemoryLevel level, std::size_t count) {
  std::vector<Peak> peaks;
  for (const std::uint16_t device : devices_of(evidence))
    collect_peaks(live_curve(evidence, device, level), device, evidence.api_count(), count, peaks);
  for (Peak& peak : peaks)
    fill_live_set(evidence, level, peak);
  return peaks;
}

namespace {

// How much of [0, size) the ranges cover together.
std::uint64_t covered_bytes(std::vector<trace::ByteRange> ranges, std::uint64_t size) {
  std::sort(ranges.begin(), ranges.end(),
            [](const auto& a, const auto& b) { return a.begin < b.begin; });
  std::uint64_t bytes = 0;
  std::uint64_t at = 0;
  for (const trace::ByteRange& range : ranges) {
    const std::uint64_t begin = std::max(range.begin, at);
    const std::uint64_t end = std::min(range.end, size);
    if (begin >= end) continue;
    bytes += end - begin;
    at = end;
  }
  return bytes;
}

// Of the object: what the launch's exact map of all blocks says, else all of it.
std::uint64_t bytes_touched(const Evidence& evidence, std::uint32_t object, const Use& use) {
  const std::uint64_t size = evidence.objects[object].size;
  const std::uint32_t place = use.has_detail() ? evidence.details[use.detail()].map : kNone;
  if (place == kNone) return size;
  const trace::AccessMapRecord& map = evidence.maps[place];
  if (!map.exact || map.block_every.value_or(1) > 1) return size;
  std::vector<trace::ByteRange> ranges = map.read_ranges;
  ranges.insert(ranges.end(), map.written_ranges.begin(), map.written_ranges.end());
  return covered_bytes(std::move(ranges), size);
}

}  // namespace

std::uint64_t lower_bound_bytes(const Evidence& evidence, MemoryLevel level) {
  std::vector<std::uint64_t> touched(evidence.launches.size(), 0);
  for (std::uint32_t o = 0; o < evidence.objects.size(); ++o) {
    if (!holds_memory(evidence.objects[o], level)) continue;
    for (const Use& use : evidence.uses_of(o)) {
      if (!use.by_kernel()) continue;
      const auto launch =
          std::lower_bound(evidence.launches.begin(), evidence.launches.end(), use.api);
      if (launch != evidence.launches.end() && *launch == use.api)
        touched[static_cast<std::size_t>(launch - evidence.launches.begin())] +=
            bytes_touched(evidence, o, use);
    }
  }
  return touched.empty() ? 0 : *std::max_element(touched.begin(), touched.end());
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/report/memory_pressure.h"

#include <algorithm>
#include <map>
#include <set>

#include "offline/order/memory_timeline.h"

namespace drgpum {
namespace {

constexpr std::size_t kMostPinned = 5;
constexpr std::size_t kMostFailures = 8;
constexpr std::uint64_t kPinnedShare = 10;  // one part in so many is in use

bool is_live(const Object& object, std::uint32_t api) {
  return object.alloc <= api && api < object.end && object.size > 0;
}

struct Range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint32_t object = 0;
};

std::vector<Range> live_ranges(const Evidence& evidence, std::uint16_t device, std::uint32_t api,
                               bool segments) {
  std::vector<Range> ranges;
  for (std::uint32_t o = 0; o < evidence.objects.size(); ++o) {
    const Object& object = evidence.objects[o];
    if (object.device != device || !is_live(object, api)) continue;
    if (segments ? is_segment(object) : is_block(evidence, object))
      ranges.push_back({object.address, object.address + object.size, o});
  }
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.begin < b.begin; });
  return ranges;
}

// Pages that were mapped side by side are one segment.
bool continues(const Evidence& evidence, const Range& before, const Range& range) {
  const Object& a = evidence.objects[before.object];
  const Object& b = evidence.objects[range.object];
  return before.end == range.begin && a.kind == trace::ObjectKind::kVirtual && a.kind == b.kind &&
         a.name == b.name && evidence.apis[a.alloc].stream == evidence.apis[b.alloc].stream;
}

// Walks the blocks of each segment in order of address.
class HoleFinder {
 public:
  HoleFinder(const Evidence& evidence, PressureMoment& moment, std::vector<Range> segments,
             std::vector<Range> blocks)
      : evidence_(evidence),
        moment_(moment),
        segments_(std::move(segments)),
        blocks_(std::move(blocks)) {}

  void run() {
    std::size_t block = 0;
    for (std::size_t s = 0; s < segments_.size(); ++s) {
      const bool joined = s > 0 && continues(evidence_, segments_[s - 1], segments_[s]);
      if (!joined) {
        close_hole();
        used_to_ = segments_[s].begin;
      }
      PinnedSegment pinned{segments_[s].object, kNone, 0, 0};
      while (block < blocks_.size() && blocks_[block].begin < segments_[s].end) {
        if (blocks_[block].begin >= segments_[s].begin) take(blocks_[block], pinned);
        ++block;
      }
      hole_end_ = segments_[s].end;
      note(pinned);
    }
    close_hole();
    std::sort(moment_.pinned.begin(), moment_.pinned.end(), [&](const auto& a, const auto& b) {
      return held(a) != held(b) ? held(a) > held(b) : a.segment < b.segment;
    });
    if (moment_.pinned.size() > kMostPinned) moment_.pinned.resize(kMostPinned);
  }

 private:
  std::uint64_t size_of(std::uint32_t object) const { return evidence_.objects[object].size; }
  std::uint64_t held(const PinnedSegment& one) const { return size_of(one.segment) - one.live_bytes; }
  void take(const Range& block, PinnedSegment& pinned) {
    add_hole(used_to_, block.begin);
    used_to_ = std::max(used_to_, block.end);
    ++pinned.blocks;
    pinned.live_bytes += block.end - block.begin;
    if (pinned.block == kNone || size_of(block.object) > size_of(pinned.block))
      pinned.block = block.object;
  }
  void add_hole(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    ++moment_.holes;
    moment_.largest_hole_bytes = std::max(moment_.largest_hole_bytes, end - begin);
  }
  void close_hole() {
    if (hole_end_ > 0) add_hole(used_to_, hole_end_);
    hole_end_ = 0;
  }
  void note(const PinnedSegment& pinned) {
    const bool little = pinned.live_bytes <= size_of(pinned.segment) / kPinnedShare;
    if (pinned.blocks > 0 && little) moment_.pinned.push_back(pinned);
  }

  const Evidence& evidence_;
  PressureMoment& moment_;
  std::vector<Range> segments_;
  std::vector<Range> blocks_;
  std::uint64_t hole_end_ = 0;  // where a hole at the segment's end would end
  std::uint64_t used_to_ = 0;
};

// --- curves ---

struct Step {
  std::uint32_t api = 0;
  bool grows = false;
  std::uint64_t bytes = 0;
};

struct CurveSummary {
  std::uint64_t peak = 0;
  std::uint32_t peak_api = 0;
  std::uint64_t end = 0;
};

// What ends at a call ends before what begins there.
CurveSummary summary_of(std::vector<Step>& steps, std::uint32_t last) {
  std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return a.api != b.api ? a.api < b.api : a.grows < b.grows;
  });
  CurveSummary summary;
  __extension__ unsigned __int128 live = 0;
  for (std::size_t i = 0; i < steps.size() && steps[i].api < last; ++i) {
    live = steps[i].grows ? live + steps[i].bytes : live - steps[i].bytes;
    if (i + 1 < steps.size() && steps[i + 1].api == steps[i].api) continue;
    const auto shown =
        live > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(live);
    if (shown > summary.peak) {
      summary.peak = shown;
      summary.peak_api = steps[i].api;
    }
    summary.end = shown;
  }
  return summary;
}

void add_life(std::vector<Step>& steps, std::uint32_t begin, std::uint32_t end,
              std::uint64_t bytes) {
  if (begin >= end || bytes == 0) return;
  steps.push_back({begin, true, bytes});
  steps.push_back({end, false, bytes});
}

template <typename Counts>
CurveSummary curve_of(const Evidence& evidence, std::uint16_t device, Counts counts) {
  std::vector<Step> steps;
  for (const Object& object : evidence.objects)
    if (object.device == device && counts(object))
      add_life(steps, object.alloc, object.end, object.size);
  return summary_of(steps, evidence.api_count());
}

std::uint32_t stream_of(const Evidence& evidence, const Object& object) {
  return object.alloc < evidence.api_count() ? evidence.apis[object.alloc].stream : kNone;
}

std::string name_of_stream(const Evidence& evidence, std::uint32_t stream) {
  if (stream == kNone) return {};
  const Stream& about = evidence.streams[stream];
  return about.name == 0 ? std::to_string(about.id) : evidence.names[about.name];
}

std::vector<StreamPressure> streams_of(const Evidence& evidence, std::uint16_t device) {
  std::map<std::uint32_t, std::pair<std::vector<Step>, std::vector<Step>>> steps;
  std::map<std::uint32_t, std::uint64_t> frees;
  for (const Object& object : evidence.objects)
    if (object.device == device && is_block(evidence, object))
      add_life(steps[stream_of(evidence, object)].first, object.alloc, object.end, object.size);
  for (const FreeRequest& request : evidence.free_requests) {
    const Object& object = evidence.objects[request.object];
    if (object.device != device || !is_block(evidence, object)) continue;
    add_life(steps[stream_of(evidence, object)].second, request.api, object.end, object.size);
    ++frees[stream_of(evidence, object)];
  }
  std::vector<StreamPressure> streams;
  for (auto& [stream, curves] : steps) {
    const CurveSummary allocated = summary_of(curves.first, evidence.api_count());
    const CurveSummary pending = summary_of(curves.second, evidence.api_count());
    streams.push_back({name_of_stream(evidence, stream), allocated.peak, allocated.end,
                       pending.peak, pending.end, frees[stream]});
  }
  return streams;
}

std::vector<PoolPressure> pools_at(const Evidence& evidence, std::uint16_t device,
                                   std::uint32_t api) {
  std::map<std::pair<std::uint32_t, std::uint32_t>, PoolPressure> pools;
  const auto pool_of = [&](const Object& segment) -> PoolPressure& {
    const std::uint32_t stream = stream_of(evidence, segment);
    PoolPressure& pool = pools[{segment.name, stream}];
    pool.pool = evidence.names[segment.name];
    pool.stream = name_of_stream(evidence, stream);
    return pool;
  };
  for (const Object& object : evidence.objects) {
    if (object.device != device || !is_live(object, api)) continue;
    if (is_segment(object)) {
      PoolPressure& pool = pool_of(object);
      ++pool.segments;
      pool.reserved_bytes += object.size;
    } else if (is_block(evidence, object) && object.parent != kNone) {
      pool_of(evidence.objects[object.parent]).allocated_bytes += object.size;
    }
  }
  std::vector<PoolPressure> listed;
  for (auto& [key, pool] : pools)
    listed.push_back(std::move(pool));
  std::stable_sort(listed.begin(), listed.end(), [](const auto& a, const auto& b) {
    return a.reserved_bytes > b.reserved_bytes;
  });
  return listed;
}

DevicePressure device_pressure(const Evidence& evidence, std::uint16_t device) {
  DevicePressure result;
  result.device = device;
  const CurveSummary allocated =
      curve_of(evidence, device, [&](const Object& o) { return is_block(evidence, o); });
  result.allocated_peak_bytes = allocated.peak;
  result.allocated_peak_api = allocated.peak_api;
  const CurveSummary reserved = curve_of(evidence, device, is_segment);
  std::vector<Step> pending;
  for (const FreeRequest& request : evidence.free_requests) {
    const Object& object = evidence.objects[request.object];
    if (object.device == device && is_block(evidence, object)) add_life(pending, request.api, object.end, object.size);
  }
  result.pending_peak_bytes = summary_of(pending, evidence.api_count()).peak;
  result.reserved_peak = moment_at(evidence, device, reserved.peak_api);
  result.end = moment_at(evidence, device, evidence.api_count() == 0 ? 0 : evidence.api_count() - 1);
  result.streams = streams_of(evidence, device);
  result.pools = pools_at(evidence, device, reserved.peak_api);
  return result;
}

}  // namespace

bool is_segment(const Object& object) {
  return object.on_device() && object.parent == kNone && object.has_children;
}

bool is_block(const Evidence& evidence, const Object& object) {
  if (object.kind != trace::ObjectKind::kSubObject || object.has_children) return false;
  return object.parent == kNone || evidence.objects[object.parent].on_device();
}

PressureMoment moment_at(const Evidence& evidence, std::uint16_t device, std::uint32_t api) {
  PressureMoment moment;
  moment.api = api;
  std::vector<Range> segments = live_ranges(evidence, device, api, true);
  std::vector<Range> blocks = live_ranges(evidence, device, api, false);
  for (const Range& segment : segments)
    moment.reserved_bytes += segment.end - segment.begin;
  for (const Range& block : blocks)
    moment.allocated_bytes += block.end - block.begin;
  for (const FreeRequest& request : evidence.free_requests) {
    const Object& object = evidence.objects[request.object];
    const bool waits = request.api <= api && api < object.end;
    if (object.device == device && waits && is_block(evidence, object))
      moment.pending_bytes += object.size;
  }
  HoleFinder(evidence, moment, std::move(segments), std::move(blocks)).run();
  return moment;
}

std::optional<MemoryPressure> memory_pressure(const Evidence& evidence) {
  std::set<std::uint16_t> devices;
  for (const Object& object : evidence.objects)
    if (is_block(evidence, object) || is_segment(object)) devices.insert(object.device);
  if (devices.empty()) return std::nullopt;
  MemoryPressure pressure;
  for (const std::uint16_t device : devices) {
    pressure.devices.push_back(device_pressure(evidence, device));
    std::vector<Growth> growth = growth_of(evidence, device, pressure.iterations);
    pressure.growth.insert(pressure.growth.end(), growth.begin(), growth.end());
  }
  for (const FailedAllocation& failed : evidence.failed) {
    if (pressure.failures.size() == kMostFailures) break;
    const std::uint16_t context = evidence.apis[failed.api].context;
    const std::uint16_t device =
        context < evidence.context_device.size() ? evidence.context_device[context] : std::uint16_t{0};
    if (devices.contains(device))
      pressure.failures.push_back(explain_failure(evidence, failed, device));
  }
  return pressure;
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/export/drawing.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "offline/export/export_words.h"
#include "offline/order/device_moments.h"
#include "offline/report/page_columns.h"

namespace drgpum {
namespace {

bool is_work(const Api& api) {
  const bool runs = api.kind == trace::ApiKind::kLaunch || api.kind == trace::ApiKind::kMemcpy ||
                    api.kind == trace::ApiKind::kMemset;
  return runs && (api.flags & kApiPresent);
}

class Drawer {
 public:
  explicit Drawer(const ExportInput& input) : input_(input), e_(input.report.evidence) {}

  Drawing run() {
    out_.axis = axis_of(e_);
    draw_work();
    for (const std::uint16_t device : devices_with_objects(e_))
      draw_objects(device);
    draw_phases();
    for (const std::uint16_t device : devices_with_objects(e_))
      draw_curves(device);
    add_curve("pinned host memory", std::nullopt, pinned_curve(e_));
    return std::move(out_);
  }

 private:
  Slice slice_of_work(std::uint32_t api) const {
    const std::uint64_t at = out_.axis.moments[api];
    if (!out_.axis.has_device_time) return {at, at + kCallNs, 0, api};
    const DeviceSpan span = input_.calls.device_span(api);
    if (!span.is_known()) return {at, at, 0, api};
    return {span.begin_ns - out_.axis.start_ns, span.end_ns - out_.axis.start_ns, 0, api};
  }

  std::uint16_t device_of(std::uint32_t api) const {
    const std::uint16_t context = e_.apis[api].context;
    return context < e_.context_device.size() ? e_.context_device[context] : std::uint16_t{0};
  }

  // Work of one stream may overlap: nodes of graphs run side by side.
  void draw_work() {
    std::map<std::pair<std::uint16_t, std::uint32_t>, std::vector<Slice>> streams;
    for (std::uint32_t api = 0; api < e_.api_count(); ++api)
      if (is_work(e_.apis[api]))
        streams[{device_of(api), e_.apis[api].stream}].push_back(slice_of_work(api));
    for (auto& [owner, slices] : streams)
      add_lanes({LaneKind::kWork, owner.first, owner.second, 0}, std::move(slices), false);
  }

  void draw_objects(std::uint16_t device) {
    std::vector<std::uint32_t> shown;
    for (std::uint32_t o = 0; o < e_.objects.size(); ++o)
      if (e_.objects[o].device == device && e_.objects[o].alloc < e_.objects[o].end)
        shown.push_back(o);
    const std::vector<std::uint32_t> lanes = lanes_of(input_.report, shown);
    const auto first = static_cast<std::uint32_t>(out_.lanes.size());
    const std::uint32_t count =
        lanes.empty() ? 0 : *std::max_element(lanes.begin(), lanes.end()) + 1;
    for (std::uint32_t nth = 0; nth < count; ++nth)
      out_.lanes.push_back({LaneKind::kObjects, device, 0, nth});
    std::vector<std::uint32_t> order(shown.size());
    std::iota(order.begin(), order.end(), 0u);
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return e_.objects[shown[a]].alloc < e_.objects[shown[b]].alloc;
    });
    for (const std::uint32_t i : order) {
      const Object& object = e_.objects[shown[i]];
      out_.slices.push_back({out_.axis.moments[object.alloc], out_.axis.moments[object.end],
                             first + lanes[i], shown[i]});
    }
  }

  void draw_phases() {
    out_.phases = phases_of(e_);
    std::map<std::uint32_t, std::vector<Slice>> threads;
    for (std::uint32_t p = 0; p < out_.phases.size(); ++p) {
      const Phase& phase = out_.phases[p];
      threads[phase.thread].push_back(
          {out_.axis.moments[phase.begin], out_.axis.moments[phase.end], 0, p});
    }
    for (auto& [thread, slices] : threads)
      add_lanes({LaneKind::kPhases, 0, thread, 0}, std::move(slices), true);
  }

  // Each slice goes into the first lane where it crosses nothing.
  void add_lanes(Lane lane, std::vector<Slice> slices, bool may_nest) {
    std::sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
      return std::tie(a.begin, b.end, a.index) < std::tie(b.begin, a.end, b.index);
    });
    const auto first = static_cast<std::uint32_t>(out_.lanes.size());
    std::vector<std::vector<std::uint64_t>> open_ends;  // by lane
    for (Slice& slice : slices) {
      std::uint32_t nth = 0;
      for (; nth < open_ends.size(); ++nth) {
        std::vector<std::uint64_t>& ends = open_ends[nth];
        while (!ends.empty() && ends.back() <= slice.begin)
          ends.pop_back();
        if (ends.empty() || (may_nest && slice.end <= ends.back())) break;
      }
      if (nth == open_ends.size()) {
        open_ends.emplace_back();
        lane.nth = nth;
        out_.lanes.push_back(lane);
      }
      open_ends[nth].push_back(slice.end);
      slice.lane = first + nth;
      out_.slices.push_back(slice);
    }
  }

  void add_curve(std::string name, std::optional<std::uint16_t> device,
                 std::vector<LivePoint> points) {
    // What lives at the end does not fall to nothing there.
    std::erase_if(points, [&](const LivePoint& p) { return p.api >= e_.api_count(); });
    if (!points.empty()) out_.curves.push_back({std::move(name), device, std::move(points)});
  }

  void draw_curves(std::uint16_t device) {
    add_curve("live bytes", device, live_curve(e_, device, input_.report.level));
    add_curve("reserved by pools", device, curve_where(e_, [&](const Object& o) {
                return o.device == device && o.has_children &&
                       holds_memory(o, MemoryLevel::kAllocation);
              }));
  }

  const ExportInput& input_;
  const Evidence& e_;
  Drawing out_;
};

}  // namespace

std::vector<std::uint16_t> devices_with_objects(const Evidence& evidence) {
  std::set<std::uint16_t> devices;
  for (const Object& object : evidence.objects)
    devices.insert(object.device);
  return {devices.begin(), devices.end()};
}

Axis axis_of(const Evidence& evidence) {
  Axis axis;
  std::vector<std::uint32_t> calls(std::size_t{evidence.api_count()} + 1);
  std::iota(calls.begin(), calls.end(), 0u);
  axis.has_device_time = !evidence.begin_ns.empty();
  if (axis.has_device_time) {
    axis.moments = moments_of(evidence, calls);
    axis.start_ns = *std::min_element(evidence.begin_ns.begin(), evidence.begin_ns.end());
    return axis;
  }
  axis.moments.reserve(calls.size());
  for (const std::uint32_t call : calls)
    axis.moments.push_back(call * kCallNs);
  return axis;
}

std::string lane_words(const Evidence& evidence, const Lane& lane) {
  if (lane.kind == LaneKind::kObjects) return "objects " + std::to_string(lane.nth + 1);
  const std::string text = lane.kind == LaneKind::kWork
                               ? stream_words(evidence, lane.owner)
                               : "host thread " + std::to_string(lane.owner);
  return lane.nth == 0 ? text : text + ", beside it " + std::to_string(lane.nth);
}

std::string curve_words(const Evidence& evidence, const Curve& curve) {
  return curve.device ? curve.name + ", " + device_words(evidence, *curve.device) : curve.name;
}

Drawing draw(const ExportInput& input) {
  return Drawer(input).run();
}

}  // namespace drgpum

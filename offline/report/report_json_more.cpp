// SPDX-License-Identifier: Apache-2.0
#include "offline/report/report_json_more.h"

#include <algorithm>

#include "offline/order/device_moments.h"
#include "proto/trace/names.h"

namespace drgpum {
namespace {

constexpr std::size_t kMostNamed = 100;    // findings of a line
constexpr std::size_t kMostPoints = 1000;  // of a curve

void write_lines(const Report& report, JsonWriter& json) {
  json.key("lines").begin_array();
  for (const LineFixes& line : report.lines) {
    const SourceFrame& site = *report.site_of(line.api);
    json.begin_object();
    json.field("function", site.function);
    json.field("file", site.file);
    json.field("line", site.line);
    json.field("finding_count", line.fixes.findings.size());
    json.key("findings").begin_array();
    for (std::size_t i = 0; i < std::min(line.fixes.findings.size(), kMostNamed); ++i)
      json.number(line.fixes.findings[i]);
    json.end_array();
    json.field("objects_at_peak", line.objects_at_peak);
    json.field("bytes_at_peak", line.bytes_at_peak);
    json.field("unused_at_peak_bytes", line.unused_at_peak);
    json.field("measured", line.fixes.measured);
    json.field("peak_saving_bytes", line.fixes.peak_saving_bytes);
    json.field("joint_saving_bytes", line.fixes.joint_saving_bytes);
    json.end_object();
  }
  json.end_array();
}

void write_devices(const Report& report, JsonWriter& json) {
  json.key("devices").begin_array();
  for (const trace::DeviceRecord& device : report.evidence.devices) {
    const DeviceSavings* savings = report.savings.of(static_cast<std::uint16_t>(device.id.value));
    json.begin_object();
    json.field("id", device.id.value);
    json.field("kind", trace::enum_name(device.kind));
    json.field("name", device.name);
    json.field("memory_bytes", device.memory_bytes);
    json.field("peak_bytes", savings == nullptr ? 0 : savings->peak_bytes);
    json.field("peak_after_all_fixes_bytes",
               savings == nullptr ? 0 : savings->peak_after_all_fixes_bytes);
    json.end_object();
  }
  json.end_array();
}

void write_pools(const Report& report, JsonWriter& json) {
  json.key("pools");
  if (!report.pools) {
    json.null();
    return;
  }
  json.begin_object();
  json.field("blocks", report.pools->blocks);
  json.field("reserved_peak_bytes", report.pools->reserved_peak_bytes);
  json.field("allocated_peak_bytes", report.pools->allocated_peak_bytes);
  json.field("reserved_at_peak_bytes", report.pools->reserved_bytes);
  json.field("allocated_at_peak_bytes", report.pools->allocated_bytes);
  json.end_object();
}

template <typename Values, typename Value>
void write_numbers(std::string_view key, const Values& values, JsonWriter& json, Value value) {
  json.key(key).begin_array();
  for (const auto& one : values)
    json.number(value(one));
  json.end_array();
}

void write_timeline(const Report& report, JsonWriter& json) {
  json.key("timeline").begin_array();
  for (const DeviceSavings& device : report.savings.devices) {
    const std::vector<LivePoint> points = thinned(
        live_curve(report.evidence, device.device, report.level), kMostPoints);
    std::vector<std::uint32_t> calls;
    for (const LivePoint& point : points)
      calls.push_back(point.api);
    json.begin_object();
    json.field("device", device.device);
    write_numbers("call", points, json, [](const LivePoint& point) { return point.api; });
    write_numbers("bytes", points, json, [](const LivePoint& point) { return point.bytes; });
    if (report.evidence.begin_ns.empty()) {
      json.key("time_ns").null();
    } else {
      write_numbers("time_ns", moments_of(report.evidence, calls), json,
                    [](std::uint64_t ns) { return ns; });
    }
    json.end_object();
  }
  json.end_array();
  json.field("device_time_ns", device_time_ns(report.evidence));
}

}  // namespace

void write_overview(const Report& report, JsonWriter& json) {
  write_lines(report, json);
  write_devices(report, json);
  write_pools(report, json);
  write_timeline(report, json);
}

}  // namespace drgpum

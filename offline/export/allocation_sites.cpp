// SPDX-License-Identifier: Apache-2.0
#include "offline/export/allocation_sites.h"

#include <algorithm>
#include <unordered_map>

#include "offline/export/drawing.h"
#include "offline/export/export_words.h"

namespace drgpum {

AllocationSites allocation_sites(const ExportInput& input) {
  const Report& report = input.report;
  const Evidence& e = report.evidence;
  const Axis axis = axis_of(e);
  const double unit = axis.has_device_time ? 1e-9 : 1.0 / kCallNs;
  std::vector<bool> at_peak(e.objects.size(), false);
  if (!report.peaks.empty())
    for (const LiveObject& live : report.peaks.front().objects)
      at_peak[live.object] = true;
  std::vector<std::uint64_t> wasted(e.objects.size(), 0);
  for (const Finding& finding : report.findings)
    wasted[finding.object] = std::max(wasted[finding.object], finding.wasted_bytes);

  AllocationSites result;
  result.has_device_time = axis.has_device_time;
  std::unordered_map<std::uint32_t, std::size_t> site_of;  // by call path; 0: not known
  for (std::uint32_t o = 0; o < e.objects.size(); ++o) {
    const Object& object = e.objects[o];
    if (!holds_memory(object, report.level)) continue;
    const bool known = !frames_of(report, object.alloc).empty();
    const std::uint32_t path = known ? e.apis[object.alloc].call_path : 0;
    const auto [at, fresh] = site_of.try_emplace(path, result.sites.size());
    if (fresh) result.sites.push_back({known ? object.alloc : kNone});
    AllocationSite& site = result.sites[at->second];
    site.objects += 1;
    site.bytes += object.size;
    site.objects_at_peak += at_peak[o];
    site.bytes_at_peak += at_peak[o] ? object.size : 0;
    site.wasted_bytes += wasted[o];
    const std::uint64_t life = axis.moments[object.end] - axis.moments[object.alloc];
    site.byte_time += static_cast<double>(object.size) * static_cast<double>(life) * unit;
  }
  return result;
}

}  // namespace drgpum

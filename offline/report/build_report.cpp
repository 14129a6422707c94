// SPDX-License-Identifier: Apache-2.0
#include "offline/report/build_report.h"

#include <algorithm>

#include "offline/patterns/patterns.h"
#include "offline/report/pool_saving.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

void tell(const ReportOptions& options, std::string_view stage) {
  if (options.progress) options.progress(stage);
}

// The order is not needed once the findings are made, so its memory goes back here.
std::vector<Finding> detect(const Evidence& evidence, MemoryLevel level,
                            const ReportOptions& options) {
  tell(options, "ordering");
  const HappensBefore order(evidence);
  tell(options, "judging");
  const std::vector<Essentials> essentials = all_essentials(evidence);
  const PatternInput in{
      evidence, order, essentials, level, options.thresholds, missing_everywhere(evidence)};
  return options.rules == Rules::kStrict ? strict_findings(in, options.threads)
                                          : published_findings(in);
}

class Resolver {
 public:
  Resolver(Report& report, SourceLookup& sources) : report_(report), sources_(sources) {}

  void call(std::uint32_t api) {
    if (!report_.has_call(api)) return;
    const std::uint32_t id = report_.evidence.apis[api].call_path;
    if (id == 0 || report_.call_paths.count(id) != 0) return;
    CallPath path;
    path.frames = sources_.frames(id);
    path.site = sources_.site(id);
    report_.call_paths.emplace(id, std::move(path));
  }

  void object(std::uint32_t o, bool with_call_paths) {
    const Object& about = report_.evidence.objects[o];
    std::string& name = report_.names[o];
    name = report_.evidence.names[about.name];
    if (!with_call_paths) return;
    if (!report_.access_lines.contains(o)) {
      std::vector<AccessLine> lines = sources_.access_lines(about.id);
      if (!lines.empty()) report_.access_lines.emplace(o, std::move(lines));
    }
    call(about.alloc);
    if (about.free != kNone) call(about.free);
    const auto uses = report_.evidence.uses_of(o);
    if (!uses.empty()) {
      call(uses.front().api);
      call(uses.back().api);
    }
    if (!name.empty() || !report_.has_call(about.alloc)) return;
    if (const SourceFrame* site = report_.site_of(about.alloc)) name = sources_.variable(*site);
  }

  void finding(const Finding& f) {
    call(f.from);
    call(f.to);
    for (const std::uint32_t api : f.must_move)
      call(api);
    if (!f.calls.empty()) call(f.calls.front());
    object(f.object, true);
    if (f.host != kNone) object(f.host, true);
  }

  void pressure(const MemoryPressure& p) {
    const auto moment = [&](const PressureMoment& one) {
      for (const PinnedSegment& pinned : one.pinned)
        object(pinned.block, true);
    };
    for (const DevicePressure& device : p.devices) {
      moment(device.reserved_peak);
      moment(device.end);
    }
    for (const Growth& growth : p.growth)
      call(growth.api);
    for (const FailurePressure& failure : p.failures) {
      call(failure.api);
      moment(failure.moment);
      for (const SiteBytes& site : failure.live)
        call(site.api);
    }
  }

 private:
  Report& report_;
  SourceLookup& sources_;
};

}  // namespace

Report build_report(Evidence evidence, bool complete, std::string incomplete_because,
                    SourceLookup& sources, const ReportOptions& options) {
  Report report;
  report.complete = complete;
  report.incomplete_because = std::move(incomplete_because);
  report.rules = options.rules;
  report.evidence = std::move(evidence);
  report.level = options.level.value_or(finest_level(report.evidence));
  for (const std::string& kernel : report.evidence.kernels)
    report.kernel_names.push_back(demangled(kernel));
  report.findings = detect(report.evidence, report.level, options);

  tell(options, "naming lines");
  report.names.resize(report.evidence.objects.size());
  Resolver resolver(report, sources);
  for (std::uint32_t o = 0; o < report.names.size(); ++o)
    resolver.object(o, options.with_call_paths);
  for (const Finding& f : report.findings)
    resolver.finding(f);
  suppress(report, options.suppressions);

  tell(options, "replaying");
  report.savings = rank_by_savings(report.evidence, report.level, report.findings);
  report.peaks = top_peaks(report.evidence, report.level, options.peak_count);
  report.lower_bound_bytes = lower_bound_bytes(report.evidence, report.level);
  for (const LivePoint& point : pinned_curve(report.evidence))
    report.pinned_peak_bytes = std::max(report.pinned_peak_bytes, point.bytes);

  if (!report.peaks.empty())
    report.pools = pool_use(report.evidence, report.peaks.front().device, report.peaks.front().api);

  if (!report.peaks.empty() && options.with_pool)
    report.smartpool = pool_saving(report.evidence, report.peaks.front().device, report.level);

  report.pressure = memory_pressure(report.evidence);
  if (report.pressure) resolver.pressure(*report.pressure);

  for (const Peak& peak : report.peaks) {
    resolver.call(peak.api);
    for (const LiveObject& live : peak.objects)
      resolver.object(live.object, true);
  }
  for (const FailedAllocation& failed : report.evidence.failed)
    resolver.call(failed.api);
  report.lines = fixes_by_line(report);
  return report;
}

}  // namespace drgpum

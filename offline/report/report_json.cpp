// SPDX-License-Identifier: Apache-2.0
#include "offline/report/report_json.h"

#include <algorithm>
#include <array>

#include "offline/patterns/patterns.h"
#include "offline/report/json_writer.h"
#include "offline/report/pressure_forms.h"
#include "offline/report/programs.h"
#include "offline/report/report_json_more.h"
#include "offline/report/report_words.h"
#include "proto/trace/names.h"

namespace drgpum {
namespace {

constexpr std::size_t kMaxListedCalls = 100;

}  // namespace

void write_access_lines(const std::vector<AccessLine>& lines, JsonWriter& json) {
  json.begin_array();
  for (std::size_t i = 0; i < std::min(lines.size(), kMostAccessLines); ++i) {
    const AccessLine& line = lines[i];
    json.begin_object();
    json.field("kernel", line.kernel);
    json.field("function", line.function);
    json.field("file", line.file);
    json.field("line", line.line);
    json.field("reads", line.reads);
    json.field("writes", line.writes);
    json.field("launches", line.launches);
    json.end_object();
  }
  json.end_array();
}

namespace {

class ReportWriter {
 public:
  ReportWriter(const Report& report, const JsonForm& form, JsonWriter& json)
      : report_(report), e_(report.evidence), form_(form), json_(json) {}

  // The members of a report, within an object that is open.
  void members() {
    json_.field("version", kReportVersion);
    about();
    coverage();
    peaks();
    json_.field("lower_bound_bytes", report_.lower_bound_bytes);
    json_.field("pinned_peak_bytes", report_.pinned_peak_bytes);
    failed_allocations();
    objects();
    findings();
    savings();
    if (report_.pressure) write_pressure(report_, json_);
    suppressions();
    write_overview(report_, json_);
  }

 private:
  void about();
  void coverage();
  void peaks();
  void failed_allocations();
  void objects();
  void object(std::uint32_t index);
  void findings();
  void findings_left_out(std::size_t first);
  void finding(const Finding& f);
  void evidence(const Finding& f);
  void intra(const Finding& f);
  void savings();
  void suppressions();
  void call(std::string_view key, std::uint32_t api);
  void call_value(std::uint32_t api);
  void calls(std::string_view key, const CallList& apis);
  void id_or_null(std::string_view key, std::uint32_t object);

  const Report& report_;
  const Evidence& e_;
  const JsonForm& form_;
  JsonWriter& json_;
  std::size_t next_detail_ = 0;  // they come by rising object
};

void ReportWriter::about() {
  json_.key("program").begin_object();
  json_.key("argv").begin_array();
  for (const std::string& argument : e_.process.argv)
    json_.text(argument);
  json_.end_array();
  json_.key("exit_code");
  if (e_.has_end && e_.last.exit_code_known) {
    json_.number(e_.last.exit_code);
  } else {
    json_.null();
  }
  json_.field("pid", e_.process.pid);
  json_.field("host", e_.process.host_name);
  json_.field("rank", e_.process.rank);
  json_.end_object();

  const trace::DeviceRecord none;
  const trace::DeviceRecord& device = e_.devices.empty() ? none : e_.devices.front();
  json_.key("device").begin_object();
  json_.field("kind", trace::enum_name(device.kind));
  json_.field("name", device.name);
  json_.field("memory_bytes", device.memory_bytes);
  json_.field("count", e_.devices.size());
  json_.end_object();
  json_.field("complete", report_.complete);
  json_.field("incomplete_because", report_.incomplete_because);
  json_.field("mode", e_.process.mode);
  json_.field("rules", report_.rules == Rules::kStrict ? "strict" : "drgpum");
  json_.field("level", report_.level == MemoryLevel::kAllocation ? "allocation" : "tensor");
  json_.field("api_count", e_.api_count());
  json_.field("launch_count", e_.launches.size());
  json_.key("timing");
  if (!report_.times) {
    json_.null();
    return;
  }
  json_.begin_object();
  json_.field("device_calls", report_.times->device_calls);
  json_.field("timed_calls", report_.times->timed_calls);
  json_.end_object();
}

void ReportWriter::coverage() {
  json_.key("coverage").begin_array();
  for (const Coverage& gap : coverage_of(e_)) {
    json_.begin_object();
    json_.field("kind", trace::enum_name(gap.kind));
    json_.field("count", gap.count);
    json_.field("text", gap.text);
    json_.end_object();
  }
  json_.end_array();
}

void ReportWriter::peaks() {
  json_.key("peaks").begin_array();
  for (const Peak& peak : report_.peaks) {
    json_.begin_object();
    json_.field("bytes", peak.bytes);
    call("api", peak.api);
    json_.field("device", peak.device);
    json_.key("objects").begin_array();
    for (const LiveObject& live : peak.objects) {
      json_.begin_object();
      json_.field("id", e_.objects[live.object].id);
      json_.field("state", name_of(live.state));
      json_.end_object();
    }
    json_.end_array();
    json_.end_object();
  }
  json_.end_array();
}

void ReportWriter::failed_allocations() {
  json_.key("failed_allocations").begin_array();
  for (const FailedAllocation& failed : e_.failed) {
    json_.begin_object();
    call("api", failed.api);
    json_.field("requested_bytes", failed.requested);
    json_.field("error", failed.error);
    if (failed.device_free) json_.field("device_free_bytes", *failed.device_free);
    json_.end_object();
  }
  json_.end_array();
}

void ReportWriter::call(std::string_view key, std::uint32_t api) {
  json_.key(key);
  call_value(api);
}

void ReportWriter::call_value(std::uint32_t api) {
  write_call(report_, api, json_);
}

void ReportWriter::calls(std::string_view key, const CallList& apis) {
  json_.key(key).begin_array();
  for (std::size_t i = 0; i < std::min(apis.size(), kMaxListedCalls); ++i)
    call_value(apis[i]);
  json_.end_array();
}

void ReportWriter::id_or_null(std::string_view key, std::uint32_t object) {
  json_.key(key);
  if (object == kNone) {
    json_.null();
  } else {
    json_.number(e_.objects[object].id);
  }
}

void ReportWriter::objects() {
  if (form_.objects_and_more) return form_.objects_and_more(report_, json_);
  json_.key("objects").begin_array();
  next_detail_ = 0;
  for (std::uint32_t o = 0; o < e_.objects.size(); ++o)
    object(o);
  json_.end_array();
}

void ReportWriter::object(std::uint32_t index) {
  const Object& o = e_.objects[index];
  const auto uses = e_.uses_of(index);
  json_.begin_object();
  json_.field("id", o.id);
  json_.field("name", report_.names[index]);
  json_.field("size_bytes", o.size);
  id_or_null("parent", o.parent);
  json_.field("kind", trace::enum_name(o.kind));
  json_.field("device", o.device);
  if (next_detail_ < e_.object_details.size() && e_.object_details[next_detail_].object == index)
    json_.field("detail", e_.names[e_.object_details[next_detail_++].text]);
  const bool has_alloc = report_.has_call(o.alloc) &&
                         e_.apis[o.alloc].kind == trace::ApiKind::kAlloc &&
                         e_.apis[o.alloc].payload == index;
  call("alloc", has_alloc ? o.alloc : kNone);
  call("free", o.free);
  call("first_access", uses.empty() ? kNone : uses.front().api);
  call("last_access", uses.empty() ? kNone : uses.back().api);
  json_.key("call_path").begin_array();
  const auto path =
      has_alloc ? report_.call_paths.find(e_.apis[o.alloc].call_path) : report_.call_paths.end();
  if (path != report_.call_paths.end()) {
    for (const SourceFrame& frame : path->second.frames) {
      json_.begin_object();
      json_.field("function", frame.function);
      json_.field("file", frame.file);
      json_.field("line", frame.line);
      json_.end_object();
    }
  }
  json_.end_array();
  json_.key("access_lines");
  write_access_lines(report_.access_lines_of(index), json_);
  json_.end_object();
}

void ReportWriter::findings() {
  json_.key("findings").begin_array();
  const std::size_t shown = std::min(report_.findings.size(), form_.max_findings);
  for (std::size_t i = 0; i < shown; ++i)
    finding(report_.findings[i]);
  json_.end_array();
  if (shown < report_.findings.size()) findings_left_out(shown);
}

void ReportWriter::findings_left_out(std::size_t first) {
  struct Sum {
    std::uint64_t count = 0;
    std::uint64_t wasted = 0;
  };
  std::array<Sum, kPatternCount> sums;
  for (std::size_t i = first; i < report_.findings.size(); ++i) {
    Sum& sum = sums[static_cast<std::size_t>(report_.findings[i].pattern)];
    ++sum.count;
    sum.wasted += report_.findings[i].wasted_bytes;
  }
  json_.key("findings_left_out").begin_array();
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (sums[i].count == 0) continue;
    json_.begin_object();
    json_.field("pattern", name_of(static_cast<Pattern>(i)));
    json_.field("count", sums[i].count);
    json_.field("wasted_bytes", sums[i].wasted);
    json_.end_object();
  }
  json_.end_array();
}

void ReportWriter::finding(const Finding& f) {
  json_.begin_object();
  json_.field("pattern", name_of(f.pattern));
  json_.field("object", e_.objects[f.object].id);
  json_.field("certainty", f.certainty == Certainty::kProven ? "proven" : "possible");
  json_.key("distance");
  if (f.distance) {
    json_.number(*f.distance);
  } else {
    json_.null();
  }
  json_.field("wasted_bytes", f.wasted_bytes);
  json_.field("peak_saving_bytes", f.peak_saving_bytes);
  json_.field("joint_saving_bytes", f.joint_saving_bytes);
  json_.field("idle_at_peak_bytes", f.idle_at_peak_bytes);
  json_.key("superseded_by");
  if (f.superseded_by == kNone) {
    json_.null();
  } else {
    json_.number(f.superseded_by);
  }
  evidence(f);
  json_.field("advice", advice_for(report_, f));
  json_.end_object();
}

void ReportWriter::evidence(const Finding& f) {
  json_.key("evidence").begin_object();
  if (f.host != kNone) json_.field("host", e_.objects[f.host].id);
  call("from", f.from);
  call("to", f.to);
  json_.field("apis_between", f.apis_between);
  json_.field("count", f.count);
  json_.field("cut_at_unrecorded_launch", f.cut);
  json_.key("missing").begin_array();
  for (const std::string& words : missing_words(f.missing))
    json_.text(words);
  json_.end_array();
  json_.field("must_move_count", f.must_move.size());
  calls("must_move", f.must_move);
  calls("calls", f.calls);
  if (f.intra) intra(f);
  json_.end_object();
}

void ReportWriter::intra(const Finding& f) {
  const IntraEvidence& i = *f.intra;
  json_.field("element_bytes", i.element_bytes);
  if (f.pattern == Pattern::kOverallocation) {
    const double all = static_cast<double>(i.accessed_bytes + i.unaccessed_bytes);
    json_.field("accessed_bytes", i.accessed_bytes);
    if (i.element_bytes != 0) {
      json_.field("accessed_elements", i.accessed_bytes / i.element_bytes);
      json_.field("unaccessed_elements", i.unaccessed_bytes / i.element_bytes);
    }
    json_.field("accessed_share", static_cast<double>(i.accessed_bytes) / all);
    json_.field("fragmentation", i.fragmentation);
    json_.field("unaccessed_runs", i.unaccessed_runs);
    json_.key("unaccessed").begin_array();
    for (const trace::ByteRange& run : i.unaccessed)
      json_.begin_array().number(run.begin).number(run.end).end_array();
    json_.end_array();
  } else if (f.pattern == Pattern::kNonUniformAccessFrequency) {
    json_.field("variation", i.variation);
    json_.field("mean_count", i.mean_count);
    json_.field("counted_elements", i.counted_elements);
    json_.key("hot_range").begin_array().number(i.hot.begin).number(i.hot.end).end_array();
  } else {
    json_.field("parts", i.parts);
    if (i.element_bytes != 0) {
      json_.field("smallest_part_elements", i.smallest_part_bytes / i.element_bytes);
      json_.field("largest_part_elements", i.largest_part_bytes / i.element_bytes);
    }
    json_.field("smallest_part_bytes", i.smallest_part_bytes);
    json_.field("largest_part_bytes", i.largest_part_bytes);
    json_.field("equal", i.equal_parts);
  }
}

void ReportWriter::savings() {
  json_.key("savings").begin_object();
  json_.field("peak_after_all_fixes_bytes", report_.savings.peak_after_all_fixes_bytes);
  json_.key("smartpool");
  if (report_.smartpool) {
    json_.begin_object();
    json_.field("footprint_bytes", report_.smartpool->footprint_bytes);
    json_.field("load_bytes", report_.smartpool->load_bytes);
    json_.field("lower_bound_bytes", report_.smartpool->lower_bound_bytes);
    json_.field("optimal", report_.smartpool->optimal);
    json_.field("planner", report_.smartpool->planner);
    json_.end_object();
  } else {
    json_.null();
  }
  json_.key("autoswap");
  if (report_.autoswap) {
    const SwapSaving& swap = *report_.autoswap;
    json_.begin_object();
    json_.field("unlimited_peak_bytes", swap.unlimited_peak_bytes);
    json_.field("limit_bytes", swap.limit_bytes);
    json_.field("peak_bytes", swap.peak_bytes);
    json_.field("overhead_ns", swap.overhead_ns);
    json_.field("overhead_percent", swap.overhead_percent);
    json_.field("zero_stall_bound_bytes", swap.zero_stall_bound_bytes);
    json_.field("pinned_bytes", swap.pinned_bytes);
    json_.end_object();
  } else {
    json_.null();
  }
  if (!e_.records_accesses()) json_.field("autoswap_missing", kNoAutoSwap);
  json_.end_object();
}

void ReportWriter::suppressions() {
  json_.key("suppressed").begin_array();
  for (const SuppressionUse& use : report_.suppressions) {
    json_.begin_object();
    json_.field("pattern", use.pattern);
    json_.field("site", use.site);
    json_.field("reason", use.reason);
    json_.field("count", use.count);
    json_.end_object();
  }
  json_.end_array();
}

}  // namespace

void write_call(const Report& report, std::uint32_t api, JsonWriter& json) {
  const Evidence& e = report.evidence;
  if (!report.has_call(api) || !(e.apis[api].flags & kApiPresent)) {
    json.null();
    return;
  }
  const Api& about = e.apis[api];
  json.begin_object();
  json.field("index", api);
  json.field("kind", trace::enum_name(about.kind));
  json.field("name", e.names[about.name]);
  json.key("stream");
  if (about.stream == kNone) {
    json.null();
  } else {
    json.number(e.streams[about.stream].id);
  }
  const SourceFrame none;
  const SourceFrame* known = report.site_of(api);
  const SourceFrame& site = known == nullptr ? none : *known;
  json.field("function", site.function);
  json.field("file", site.file);
  json.field("line", site.line);
  if (about.kind == trace::ApiKind::kLaunch) json.field("kernel", report.kernel_of(api));
  json.end_object();
}

void write_json(std::span<const Report> reports, std::ostream& out, const JsonForm& form) {
  JsonWriter json(out);
  json.begin_object();
  if (reports.size() == 1) {
    ReportWriter(reports.front(), form, json).members();
  } else {
    json.field("version", kReportVersion);
    json.field("worst", worst_of(reports));
    json.key("differing_sites").begin_array();
    for (const DifferingSite& site : differing_sites(reports)) {
      json.begin_object();
      json.field("site", site.site);
      json.key("bytes").begin_array();
      for (const std::uint64_t bytes : site.bytes)
        json.number(bytes);
      json.end_array().end_object();
    }
    json.end_array();
    json.key("programs").begin_array();
    for (const Report& report : reports) {
      json.begin_object();
      json.field("trace", report.evidence.path);
      ReportWriter(report, form, json).members();
      json.end_object();
    }
    json.end_array();
  }
  json.end_object();
}

}  // namespace drgpum

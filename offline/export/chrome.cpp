// SPDX-License-Identifier: Apache-2.0
// A drawing as trace events in JSON. Times are microseconds.

#include <algorithm>

#include "offline/export/drawing.h"
#include "offline/export/export_words.h"
#include "offline/report/json_writer.h"
#include "offline/report/units.h"
#include "proto/trace/names.h"

namespace drgpum {
namespace {

// What the viewers show as processes; the first two are those of the published tool.
enum Process : std::uint32_t { kStreams, kObjects, kMemory, kPhases };

class ChromeWriter {
 public:
  ChromeWriter(const ExportInput& input, std::ostream& out)
      : input_(input),
        report_(input.report),
        e_(input.report.evidence),
        drawing_(draw(input)),
        findings_(input.report),
        json_(out) {}

  void run() {
    json_.begin_object();
    json_.field("displayTimeUnit", "ns");
    json_.key("otherData").begin_object();
    json_.field("tool", "drgpum " + input_.tool_version);
    json_.field("axis", drawing_.axis.words());
    json_.end_object();
    json_.key("traceEvents").begin_array();
    name_rows();
    for (const Slice& slice : drawing_.slices)
      write_slice(slice);
    for (const Curve& curve : drawing_.curves)
      write_curve(curve);
    for (std::uint32_t f = 0; f < report_.findings.size(); ++f)
      write_finding(f);
    write_marks();
    json_.end_array();
    json_.end_object();
  }

 private:
  static Process process_of(LaneKind kind) {
    return kind == LaneKind::kWork ? kStreams : kind == LaneKind::kObjects ? kObjects : kPhases;
  }

  // Rows are called by the place of their lane.
  void begin_event(const char* phase, Process process, std::uint64_t row, std::uint64_t ns) {
    json_.begin_object();
    json_.field("ph", phase);
    json_.field("pid", static_cast<std::uint32_t>(process));
    json_.field("tid", row);
    json_.field("ts", static_cast<double>(ns) / 1000);
  }

  void name_row(const char* what, Process process, std::uint64_t row, const std::string& name) {
    begin_event("M", process, row, 0);
    json_.field("name", what);
    json_.key("args").begin_object();
    json_.field("name", name);
    json_.end_object();
    json_.end_object();
  }

  void name_rows() {
    name_row("process_name", kStreams, 0, "GPU Streams");
    name_row("process_name", kObjects, 0, "Objects");
    name_row("process_name", kMemory, 0, "Memory");
    name_row("process_name", kPhases, 0, "Phases");
    const bool several = e_.devices.size() > 1;
    for (std::size_t l = 0; l < drawing_.lanes.size(); ++l) {
      const Lane& lane = drawing_.lanes[l];
      const bool with_device = several && lane.kind != LaneKind::kPhases;
      name_row("thread_name", process_of(lane.kind), l,
               lane_words(e_, lane) + (with_device ? ", " + device_words(e_, lane.device) : ""));
    }
  }

  void write_slice(const Slice& slice) {
    const LaneKind kind = drawing_.lanes[slice.lane].kind;
    begin_event("X", process_of(kind), slice.lane, slice.begin);
    json_.field("dur", static_cast<double>(slice.end - slice.begin) / 1000);
    if (kind == LaneKind::kWork) describe_work(slice.index);
    if (kind == LaneKind::kObjects) describe_object(slice.index);
    if (kind == LaneKind::kPhases)
      json_.field("name", printable(e_.names[drawing_.phases[slice.index].name]));
    json_.end_object();
  }

  void describe_work(std::uint32_t api) {
    json_.field("name", call_words(report_, api));
    json_.field("cat", trace::enum_name(e_.apis[api].kind));
    json_.key("args").begin_object();
    json_.field("call", api);
    if (const TransferFact* transfer = input_.calls.transfer(api)) {
      json_.field("bytes", transfer->bytes);
      if (!transfer->is_set) json_.field("direction", trace::enum_name(transfer->direction));
    }
    write_path("call path", api);
    json_.end_object();
  }

  void describe_object(std::uint32_t o) {
    const Object& object = e_.objects[o];
    json_.field("name", object_words(report_, o));
    json_.field("cat", "object");
    json_.key("args").begin_object();
    json_.field("object", object.id);
    json_.field("bytes", object.size);
    json_.field("kind", trace::enum_name(object.kind));
    json_.field("allocated by call", object.alloc);
    if (object.free != kNone) json_.field("freed by call", object.free);
    write_path("allocated at", object.alloc);
    for (const std::uint32_t f : findings_.of(o))
      json_.field("finding " + std::to_string(f + 1) + ", " +
                      std::string(name_of(report_.findings[f].pattern)),
                  printable(advice_for(report_, report_.findings[f])));
    json_.end_object();
  }

  void write_path(std::string_view key, std::uint32_t api) {
    const std::string path = path_words(report_, api);
    if (!path.empty()) json_.field(key, path);
  }

  void write_curve(const Curve& curve) {
    const std::string name = curve_words(e_, curve);
    for (const LivePoint& point : curve.points) {
      begin_event("C", kMemory, 0, drawing_.axis.moments[point.api]);
      json_.field("name", name);
      json_.key("args").begin_object();
      json_.field("bytes", point.bytes);
      json_.end_object();
      json_.end_object();
    }
  }

  void begin_instant(Process process, std::uint32_t api, const std::string& name) {
    begin_event("i", process, 0, drawing_.axis.moments[std::min(api, e_.api_count())]);
    json_.field("s", "p");
    json_.field("name", name);
  }

  void write_finding(std::uint32_t f) {
    const Finding& finding = report_.findings[f];
    const std::uint32_t at =
        report_.has_call(finding.from) ? finding.from : e_.objects[finding.object].alloc;
    begin_instant(
        kMemory, at,
        std::string(name_of(finding.pattern)) + ": " + object_words(report_, finding.object));
    json_.field("cat", "finding");
    json_.key("args").begin_object();
    json_.field("rank", f + 1);
    json_.field("object", e_.objects[finding.object].id);
    json_.field("certainty", finding.certainty == Certainty::kProven ? "proven" : "possible");
    json_.field("wasted bytes", finding.wasted_bytes);
    json_.field("off the peak, alone", finding.peak_saving_bytes);
    json_.field("off the peak, on top of the other fixes", finding.joint_saving_bytes);
    json_.field("advice", printable(advice_for(report_, finding)));
    json_.end_object();
    json_.end_object();
  }

  void write_marks() {
    for (const MarkFact& mark : input_.calls.marks()) {
      if (mark.kind != trace::MarkKind::kInstant && mark.kind != trace::MarkKind::kIteration)
        continue;
      begin_instant(kPhases, mark.api, printable(mark.name));
      json_.end_object();
    }
    for (const FailedAllocation& failed : e_.failed) {
      begin_instant(kMemory, failed.api, "failed allocation");
      json_.key("args").begin_object();
      json_.field("requested bytes", failed.requested);
      json_.end_object();
      json_.end_object();
    }
  }

  const ExportInput& input_;
  const Report& report_;
  const Evidence& e_;
  const Drawing drawing_;
  const FindingsByObject findings_;
  JsonWriter json_;
};

}  // namespace

Status export_chrome(const ExportInput& input, std::ostream& out) {
  ChromeWriter(input, out).run();
  return Ok{};
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
// A drawing as Perfetto's packets: tracks first, then all events by rising time in one sequence.

#include <algorithm>
#include <map>
#include <tuple>

#include "offline/export/drawing.h"
#include "offline/export/export_words.h"
#include "offline/export/perfetto_packets.h"
#include "offline/report/units.h"
#include "proto/trace/names.h"

namespace drgpum {
namespace {

// At one moment ends come first, then what has no length, then begins: a slice that ends where
// another begins does not enclose it.
enum class Turn : std::uint8_t { kEnd, kAtOnce, kBegin };
enum class What : std::uint8_t { kSlice, kPoint, kFinding, kMark, kFailure };

struct Event {
  std::uint64_t ns = 0;
  std::uint32_t index = 0;  // kSlice: in `slices`; kPoint: of all curves' points, and so on
  Turn turn = Turn::kAtOnce;
  What what = What::kSlice;
};

class PerfettoWriter {
 public:
  PerfettoWriter(const ExportInput& input, std::ostream& out)
      : input_(input),
        report_(input.report),
        e_(input.report.evidence),
        drawing_(draw(input)),
        findings_(input.report),
        packets_(out) {}

  void run() {
    declare_tracks();
    gather();
    sort();
    for (const Event& event : events_)
      write(event);
  }

 private:
  // --- tracks ---

  std::uint64_t add_track(std::uint64_t parent, const std::string& name, std::uint32_t rank,
                          const std::string& description = {}, bool counts_bytes = false) {
    packets_.track({++last_uuid_, parent, name, description, rank, counts_bytes});
    return last_uuid_;
  }

  void declare_tracks() {
    const std::string axis = "drgpum: " + std::string(drawing_.axis.words());
    const std::uint64_t memory = add_track(0, "Memory", 0, axis);
    for (const Curve& curve : drawing_.curves)
      counter_tracks_.push_back(add_track(memory, curve_words(e_, curve),
                                          static_cast<std::uint32_t>(counter_tracks_.size()), axis,
                                          true));
    findings_track_ = add_track(0, "Findings", 1, axis);
    marks_track_ = add_track(0, "Marks and failed allocations", 2, axis);
    std::map<std::pair<LaneKind, std::uint16_t>, std::uint64_t> groups;
    for (const Lane& lane : drawing_.lanes) {
      const auto [group, fresh] = groups.try_emplace({lane.kind, lane.device}, 0);
      if (fresh) group->second = add_group(lane, axis);
      lane_tracks_.push_back(add_track(group->second, lane_words(e_, lane),
                                       static_cast<std::uint32_t>(lane_tracks_.size())));
    }
  }

  std::uint64_t add_group(const Lane& lane, const std::string& axis) {
    if (lane.kind == LaneKind::kPhases) return add_track(0, "Phases", 3, axis);
    const bool work = lane.kind == LaneKind::kWork;
    const std::string name = work ? "Streams of " : "Objects of ";
    return add_track(0, name + device_words(e_, lane.device),
                     (work ? 4u : 4u + kMostDevices) + lane.device, axis);
  }

  // --- events ---

  void gather() {
    std::size_t points = 0;
    for (const Curve& curve : drawing_.curves)
      points += curve.points.size();
    events_.reserve(2 * drawing_.slices.size() + points + report_.findings.size());
    for (std::uint32_t s = 0; s < drawing_.slices.size(); ++s) {
      const Slice& slice = drawing_.slices[s];
      if (slice.begin == slice.end) {
        events_.push_back({slice.begin, s, Turn::kAtOnce, What::kSlice});
        continue;
      }
      events_.push_back({slice.begin, s, Turn::kBegin, What::kSlice});
      events_.push_back({slice.end, s, Turn::kEnd, What::kSlice});
    }
    std::uint32_t number = 0;
    for (const Curve& curve : drawing_.curves) {
      first_point_.push_back(number);
      for (const LivePoint& point : curve.points)
        events_.push_back(
            {drawing_.axis.moments[point.api], number++, Turn::kAtOnce, What::kPoint});
    }
    for (std::uint32_t f = 0; f < report_.findings.size(); ++f)
      events_.push_back({moment_of(report_.findings[f]), f, Turn::kAtOnce, What::kFinding});
    const auto marks = input_.calls.marks();
    for (std::uint32_t m = 0; m < marks.size(); ++m)
      if (marks[m].kind == trace::MarkKind::kInstant ||
          marks[m].kind == trace::MarkKind::kIteration)
        events_.push_back({drawing_.axis.moments[marks[m].api], m, Turn::kAtOnce, What::kMark});
    for (std::uint32_t f = 0; f < e_.failed.size(); ++f)
      events_.push_back(
          {drawing_.axis.moments[e_.failed[f].api], f, Turn::kAtOnce, What::kFailure});
  }

  std::uint64_t moment_of(const Finding& finding) const {
    const std::uint32_t api =
        report_.has_call(finding.from) ? finding.from : e_.objects[finding.object].alloc;
    return drawing_.axis.moments[std::min(api, e_.api_count())];
  }

  void sort() {
    const auto length = [&](const Event& event) {
      if (event.what != What::kSlice) return std::uint64_t{0};
      return drawing_.slices[event.index].end - drawing_.slices[event.index].begin;
    };
    std::sort(events_.begin(), events_.end(), [&](const Event& a, const Event& b) {
      if (a.ns != b.ns) return a.ns < b.ns;
      if (a.turn != b.turn) return a.turn < b.turn;
      // What encloses others begins before them and ends after them.
      const std::uint64_t x = length(a);
      const std::uint64_t y = length(b);
      if (x != y) return a.turn == Turn::kBegin ? x > y : x < y;
      if (a.what != b.what) return a.what < b.what;
      return a.turn == Turn::kEnd ? a.index > b.index : a.index < b.index;
    });
  }

  void write(const Event& event) {
    switch (event.what) {
      case What::kSlice:
        if (event.turn != Turn::kEnd) write_begin(drawing_.slices[event.index]);
        if (event.turn != Turn::kBegin) {
          packets_.begin_event(PerfettoEvent::kSliceEnd,
                               lane_tracks_[drawing_.slices[event.index].lane], event.ns);
          packets_.end_event();
        }
        return;
      case What::kPoint:
        return write_point(event);
      case What::kFinding:
        return write_finding(event);
      case What::kMark:
        packets_.begin_event(PerfettoEvent::kInstant, marks_track_, event.ns);
        packets_.name(printable(input_.calls.marks()[event.index].name));
        return packets_.end_event();
      case What::kFailure:
        packets_.begin_event(PerfettoEvent::kInstant, marks_track_, event.ns);
        packets_.name("failed allocation");
        packets_.annotate("requested bytes", e_.failed[event.index].requested);
        packets_.annotate("call", e_.failed[event.index].api);
        return packets_.end_event();
    }
  }

  void write_begin(const Slice& slice) {
    packets_.begin_event(PerfettoEvent::kSliceBegin, lane_tracks_[slice.lane], slice.begin);
    switch (drawing_.lanes[slice.lane].kind) {
      case LaneKind::kWork:
        describe_work(slice.index);
        break;
      case LaneKind::kObjects:
        describe_object(slice.index);
        break;
      case LaneKind::kPhases:
        packets_.name(printable(e_.names[drawing_.phases[slice.index].name]));
        break;
    }
    packets_.end_event();
  }

  void annotate_path(std::string_view name, std::uint32_t api) {
    const std::string path = path_words(report_, api);
    if (!path.empty()) packets_.annotate_repeated(name, path);
  }

  void describe_work(std::uint32_t api) {
    packets_.name(call_words(report_, api));
    packets_.category(trace::enum_name(e_.apis[api].kind));
    packets_.annotate("call", api);
    if (const TransferFact* transfer = input_.calls.transfer(api)) {
      packets_.annotate("bytes", transfer->bytes);
      if (!transfer->is_set)
        packets_.annotate_repeated("direction", trace::enum_name(transfer->direction));
    }
    annotate_path("call path", api);
  }

  void describe_object(std::uint32_t o) {
    const Object& object = e_.objects[o];
    packets_.name(object_words(report_, o));
    packets_.category("object");
    packets_.annotate("object", object.id);
    packets_.annotate("bytes", object.size);
    packets_.annotate_repeated("kind", trace::enum_name(object.kind));
    packets_.annotate_address("address", object.address);
    packets_.annotate("allocated by call", object.alloc);
    if (object.free != kNone) packets_.annotate("freed by call", object.free);
    annotate_path("allocated at", object.alloc);
    for (const std::uint32_t f : findings_.of(o))
      packets_.annotate(drgpum::name_of(report_.findings[f].pattern),
                        "finding " + std::to_string(f + 1) + ": " +
                            printable(advice_for(report_, report_.findings[f])));
  }

  void write_point(const Event& event) {
    const auto after = std::upper_bound(first_point_.begin(), first_point_.end(), event.index);
    const auto curve = static_cast<std::size_t>(after - first_point_.begin()) - 1;
    packets_.begin_event(PerfettoEvent::kCounter, counter_tracks_[curve], event.ns);
    const std::uint64_t bytes =
        drawing_.curves[curve].points[event.index - first_point_[curve]].bytes;
    packets_.counter(std::min<std::uint64_t>(bytes, INT64_MAX));  // the field is signed
    packets_.end_event();
  }

  void write_finding(const Event& event) {
    const Finding& finding = report_.findings[event.index];
    packets_.begin_event(PerfettoEvent::kInstant, findings_track_, event.ns);
    packets_.name(std::string(drgpum::name_of(finding.pattern)) + ": " +
                  object_words(report_, finding.object));
    packets_.category("finding");
    packets_.annotate("rank", event.index + 1);
    packets_.annotate("object", e_.objects[finding.object].id);
    packets_.annotate_repeated("certainty",
                               finding.certainty == Certainty::kProven ? "proven" : "possible");
    packets_.annotate("wasted bytes", finding.wasted_bytes);
    packets_.annotate("off the peak, alone", finding.peak_saving_bytes);
    packets_.annotate("off the peak, on top of the other fixes", finding.joint_saving_bytes);
    packets_.annotate("advice", printable(advice_for(report_, finding)));
    packets_.end_event();
  }

  static constexpr std::uint32_t kMostDevices = 1u << 16;

  const ExportInput& input_;
  const Report& report_;
  const Evidence& e_;
  const Drawing drawing_;
  const FindingsByObject findings_;
  PerfettoPackets packets_;
  std::uint64_t last_uuid_ = 0;
  std::vector<std::uint64_t> counter_tracks_;  // by curve
  std::vector<std::uint64_t> lane_tracks_;     // by lane
  std::vector<std::uint32_t> first_point_;     // by curve
  std::uint64_t findings_track_ = 0;
  std::uint64_t marks_track_ = 0;
  std::vector<Event> events_;
};

}  // namespace

Status export_perfetto(const ExportInput& input, std::ostream& out) {
  PerfettoWriter(input, out).run();
  return Ok{};
}

}  // namespace drgpum

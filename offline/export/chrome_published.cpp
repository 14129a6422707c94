// SPDX-License-Identifier: Apache-2.0
// The layout of the published tool's liveness.json (notes in docs/export.md). Two differences:
// numbers of boxes count within their stream, and what to do is said in this tool's words.

#include <algorithm>
#include <map>
#include <numeric>

#include "offline/export/export_format.h"
#include "offline/export/export_words.h"
#include "offline/order/dependency_graph.h"
#include "offline/report/json_writer.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

struct BoxKind {
  std::string_view name;
  std::string_view category;
};
constexpr BoxKind kAlloc{"ALLOC", "A"};
constexpr BoxKind kSet{"SET", "S"};
constexpr BoxKind kCopyTo{"CPYT", "CT"};
constexpr BoxKind kCopyFrom{"CPYF", "CF"};
constexpr BoxKind kKernel{"KERL", "K"};
constexpr BoxKind kFree{"FREE", "F"};

constexpr std::uint32_t kStreamRows = 0;  // processes
constexpr std::uint32_t kObjectRows = 1;

class PublishedWriter {
 public:
  PublishedWriter(const ExportInput& input, std::ostream& out)
      : input_(input),
        report_(input.report),
        e_(input.report.evidence),
        findings_(input.report),
        json_(out) {}

  void run() {
    const DependencyGraph graph(e_);
    levels_ = levels_of(e_, graph);
    number_calls();
    json_.begin_array();
    write_streams();
    write_objects();
    json_.end_array();
  }

 private:
  // Null: a call that has no box.
  const BoxKind* kind_of(std::uint32_t api) const {
    const Api& call = e_.apis[api];
    if (!(call.flags & kApiPresent) || (call.flags & kApiFailed)) return nullptr;
    switch (call.kind) {
      case trace::ApiKind::kAlloc:
        return &kAlloc;
      case trace::ApiKind::kFree:
        return call.payload == kNone ? nullptr : &kFree;
      case trace::ApiKind::kMemset:
        return &kSet;
      case trace::ApiKind::kLaunch:
        return &kKernel;
      case trace::ApiKind::kMemcpy: {
        const TransferFact* copy = input_.calls.transfer(api);
        const bool from = copy != nullptr && copy->direction == trace::CopyDirection::kDeviceToHost;
        return from ? &kCopyFrom : &kCopyTo;
      }
      default:
        return nullptr;
    }
  }

  // Calls on no stream count for stream 0.
  std::uint32_t stream_of(std::uint32_t api) const {
    const std::uint32_t stream = e_.apis[api].stream;
    return stream == kNone ? 0 : e_.streams[stream].id;
  }

  void number_calls() {
    numbers_.resize(e_.api_count(), 0);
    std::map<std::pair<std::uint32_t, const BoxKind*>, std::uint32_t> counts;
    for (std::uint32_t api = 0; api < e_.api_count(); ++api)
      if (const BoxKind* kind = kind_of(api)) numbers_[api] = ++counts[{stream_of(api), kind}];
  }

  void begin_box(std::uint32_t process, std::uint32_t row, std::uint32_t api) {
    const BoxKind& kind = *kind_of(api);
    json_.begin_object();
    json_.field("pid", process);
    json_.field("tid", row);
    json_.field("ts", levels_[api]);
    json_.field("ph", "X");
    json_.field("cat", kind.category);
    json_.field("name", std::string(kind.name) + "(" + std::to_string(stream_of(api)) + ", " +
                            std::to_string(numbers_[api]) + ")");
    json_.field("dur", 1);
  }

  void name_row(const char* what, std::uint32_t process, std::uint32_t row,
                const std::string& name) {
    json_.begin_object();
    json_.field("pid", process);
    json_.field("tid", row);
    json_.field("ts", 0);
    json_.field("ph", "M");
    json_.field("cat", "__metadata");
    json_.field("name", what);
    json_.key("args").begin_object();
    json_.field("name", name);
    json_.end_object();
    json_.end_object();
  }

  void write_streams() {
    std::map<std::uint32_t, bool> streams;
    for (std::uint32_t api = 0; api < e_.api_count(); ++api) {
      if (kind_of(api) == nullptr) continue;
      begin_box(kStreamRows, stream_of(api), api);
      json_.end_object();
      streams[stream_of(api)] = true;
    }
    for (const auto& [stream, used] : streams)
      name_row("thread_name", kStreamRows, stream, "Stream");
    name_row("process_name", kStreamRows, 0, "GPU Streams");
  }

  void write_objects() {
    std::vector<std::uint32_t> shown;
    for (std::uint32_t o = 0; o < e_.objects.size(); ++o)
      if (holds_memory(e_.objects[o], report_.level)) shown.push_back(o);
    std::stable_sort(shown.begin(), shown.end(), [&](std::uint32_t a, std::uint32_t b) {
      return e_.objects[a].size > e_.objects[b].size;
    });
    for (std::uint32_t i = 0; i < shown.size(); ++i)
      write_object(shown[i], i + 1);
    name_row("process_name", kObjectRows, 0, "Objects");
  }

  // The calls of the object's life, with what is idle between them.
  void write_object(std::uint32_t o, std::uint32_t row) {
    const Object& object = e_.objects[o];
    std::vector<std::uint32_t> calls;
    const auto add = [&](std::uint32_t api) {
      if (report_.has_call(api) && kind_of(api) != nullptr && (calls.empty() || calls.back() < api))
        calls.push_back(api);
    };
    if (report_.has_call(object.alloc) && e_.apis[object.alloc].kind == trace::ApiKind::kAlloc &&
        e_.apis[object.alloc].payload == o)
      add(object.alloc);
    for (const Use& use : e_.uses_of(o))
      add(use.api);
    add(object.free);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (i > 0) write_idle(row, levels_[calls[i - 1]], levels_[calls[i]]);
      begin_box(kObjectRows, row, calls[i]);
      write_args(o, calls[i]);
      json_.end_object();
    }
    name_row("thread_name", kObjectRows, row, "Object (" + std::to_string(object.size) + " B)");
  }

  void write_idle(std::uint32_t row, std::uint32_t from, std::uint32_t to) {
    if (to <= from + 1) return;
    json_.begin_object();
    json_.field("pid", kObjectRows);
    json_.field("tid", row);
    json_.field("ts", from + 1);
    json_.field("ph", "X");
    json_.field("cat", "IDLE");
    json_.field("name", "IDLE");
    json_.field("dur", to - from - 1);
    json_.end_object();
  }

  void write_args(std::uint32_t o, std::uint32_t api) {
    json_.key("args").begin_object();
    json_.field("ID", api);
    if (api == e_.objects[o].alloc) write_findings(o);
    std::size_t depth = 0;
    for (const SourceFrame& frame : frames_of(report_, api))
      json_.field("Call path" + std::to_string(depth++), frame_words(frame));
    json_.end_object();
  }

  void write_findings(std::uint32_t o) {
    const auto findings = findings_.of(o);
    if (findings.empty()) return;
    std::string patterns;
    for (const std::uint32_t f : findings)
      patterns +=
          (patterns.empty() ? "" : ", ") + std::string(name_of(report_.findings[f].pattern));
    std::replace(patterns.begin(), patterns.end(), '_', ' ');
    json_.field("Inefficiency pattern", patterns);
    std::size_t number = 0;
    for (const std::uint32_t f : findings) {
      const Finding& finding = report_.findings[f];
      if (finding.distance)
        json_.field("Inefficiency distance" + std::to_string(number), *finding.distance);
      json_.field("Optimization suggestion" + std::to_string(number++),
                  printable(advice_for(report_, finding)));
    }
  }

  const ExportInput& input_;
  const Report& report_;
  const Evidence& e_;
  const FindingsByObject findings_;
  JsonWriter json_;
  std::vector<std::uint32_t> levels_;   // by call
  std::vector<std::uint32_t> numbers_;  // by call, from 1 within its stream and kind
};

}  // namespace

Status export_chrome_published(const ExportInput& input, std::ostream& out) {
  PublishedWriter(input, out).run();
  return Ok{};
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
// A report's objects as a memory snapshot of PyTorch: an allocation is a segment, what the program
// has of it a block. Read back (offline/import), the same bytes are live at the same calls.

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "offline/export/export_format.h"
#include "offline/export/export_words.h"
#include "offline/export/pickle_writer.h"
#include "offline/export/torch_segments.h"
#include "offline/export/torch_words.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr std::uint64_t kGrain = std::uint64_t{2} << 20;
constexpr std::uint64_t kHighest = std::uint64_t{1} << 62;  // of addresses that are believed

// At one call what ends goes first, blocks before their segments; segments begin before blocks.
enum class Act : std::uint8_t {
  kEndBlock,
  kEndSegment,
  kBeginSegment,
  kBeginBlock,
  kRequest,
  kFail
};

struct Step {
  std::uint32_t api = 0;
  std::uint32_t index = 0;  // the object; kFail: in Evidence::failed
  Act act = Act::kBeginBlock;
};

class SnapshotWriter {
 public:
  SnapshotWriter(const ExportInput& input, std::ostream& out)
      : input_(input),
        report_(input.report),
        e_(input.report.evidence),
        pickle_(out),
        fields_(input, pickle_) {}

  void run() {
    pickle_.begin_dict();
    write_memory(false);
    write_memory(true);
    write_annotations();
    pickle_.end_dict();
    pickle_.finish();
  }

 private:
  // --- what is written ---

  // Objects whose bytes count as live; on the level of the report.
  bool is_block(const Object& object, bool host) const {
    if (object.size == 0 || object.alloc >= object.end || object.on_device() == host) return false;
    if (host)
      return report_.level == MemoryLevel::kAllocation ? object.parent == kNone
                                                       : !object.has_children;
    return holds_memory(object, report_.level);
  }
  // Allocations whose parts are blocks; those of imported memory are another process's.
  bool is_pool(const Object& object, bool host) const {
    return object.size != 0 && object.alloc < object.end && object.on_device() != host &&
           object.kind != trace::ObjectKind::kImported && object.parent == kNone &&
           object.has_children && report_.level == MemoryLevel::kTensor;
  }

  std::uint16_t device_of(const FailedAllocation& failed) const {
    const std::uint16_t context = e_.apis[failed.api].context;
    return context < e_.context_device.size() ? e_.context_device[context] : std::uint16_t{0};
  }

  // --- one kind of memory ---

  void write_memory(bool host) {
    std::map<std::uint16_t, std::vector<Step>> steps;
    for (std::uint32_t o = 0; o < e_.objects.size(); ++o)
      add_steps(o, host, steps[e_.objects[o].device]);
    if (!host)
      for (std::uint32_t f = 0; f < e_.failed.size(); ++f)
        steps[device_of(e_.failed[f])].push_back({e_.failed[f].api, f, Act::kFail});
    std::erase_if(steps, [](const auto& one) { return one.second.empty(); });
    if (host && steps.empty()) return;
    places_.clear();
    pickle_.word(host ? "host_traces" : "device_traces");
    pickle_.begin_list();
    const std::uint32_t devices = steps.empty() ? 0 : steps.rbegin()->first + 1u;
    for (std::uint32_t device = 0; device < devices; ++device)
      write_trace(static_cast<std::uint16_t>(device), steps[static_cast<std::uint16_t>(device)]);
    pickle_.end_list();
    pickle_.word(host ? "host_segments" : "segments");
    pickle_.begin_list();
    for (const auto& [device, places] : places_)
      write_segments(fields_, device, places);
    pickle_.end_list();
  }

  void add_steps(std::uint32_t o, bool host, std::vector<Step>& steps) const {
    const Object& object = e_.objects[o];
    const bool block = is_block(object, host);
    if (!block && !is_pool(object, host)) return;
    steps.push_back({object.alloc, o, block ? Act::kBeginBlock : Act::kBeginSegment});
    if (object.end < e_.api_count())
      steps.push_back({object.end, o, block ? Act::kEndBlock : Act::kEndSegment});
    const auto request = fields_.request_of(o);
    if (block && request) steps.push_back({*request, o, Act::kRequest});
  }

  void write_trace(std::uint16_t device, std::vector<Step>& steps) {
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
      return std::tie(a.api, a.act, a.index) < std::tie(b.api, b.act, b.index);
    });
    places_.emplace(device, Places(first_free(device)));
    fields_.restart_time();
    pickle_.begin_list();
    for (const Step& step : steps)
      write_step(places_.at(device), step);
    pickle_.end_list();
    steps = {};
  }

  std::uint64_t first_free(std::uint16_t device) const {
    std::uint64_t highest = kGrain;
    for (const Object& object : e_.objects)
      if (object.device == device && object.address < kHighest && object.size < kHighest)
        highest = std::max(highest, object.address + object.size);
    return (highest + kGrain - 1) / kGrain * kGrain;
  }

  void write_step(Places& places, const Step& step) {
    switch (step.act) {
      case Act::kBeginSegment:
        return begin_segment(places, step.index);
      case Act::kBeginBlock:
        return begin_block(places, step.index);
      case Act::kRequest:
        return write_event("free_requested", step.api, step.index, address_[step.index]);
      case Act::kEndBlock:
        return end_block(places, step.index);
      case Act::kEndSegment:
        return end_segment(places, step.index, step.api);
      case Act::kFail:
        return write_failure(e_.failed[step.index]);
    }
  }

  void begin_segment(Places& places, std::uint32_t o) {
    const Object& object = e_.objects[o];
    const bool mapped = object.kind == trace::ObjectKind::kVirtual;
    const std::uint64_t address = places.add_segment(object.address, {o, object.size, mapped});
    segment_at_[o] = address;
    write_event(mapped ? "segment_map" : "segment_alloc", object.alloc, o, address);
  }

  void end_segment(Places& places, std::uint32_t o, std::uint32_t api) {
    const auto at = segment_at_.find(o);
    const bool mapped = e_.objects[o].kind == trace::ObjectKind::kVirtual;
    write_event(mapped ? "segment_unmap" : "segment_free", api, o, at->second);
    places.remove_segment(at->second);
    segment_at_.erase(at);
  }

  // In the segment of its allocation where it fits, else in one of its own.
  void begin_block(Places& places, std::uint32_t o) {
    const Object& object = e_.objects[o];
    const std::uint32_t top = fields_.top_of(o);
    const auto segment = top == o ? segment_at_.end() : segment_at_.find(top);
    std::uint64_t address = 0;
    bool within = segment != segment_at_.end();
    if (within) {
      address = segment->second + (object.address - e_.objects[top].address);
      within = places.fits(address, object.size);
    }
    if (!within) {
      begin_segment(places, o);
      address = segment_at_.at(o);
    }
    places.add_block(address, {o, object.size});
    address_[o] = address;
    write_event("alloc", object.alloc, o, address);
  }

  void end_block(Places& places, std::uint32_t o) {
    const std::uint32_t api = e_.objects[o].end;
    const std::uint64_t address = address_[o];
    if (!fields_.request_of(o)) write_event("free_requested", api, o, address);
    write_event("free_completed", api, o, address);
    places.remove_block(address);
    address_.erase(o);
    if (segment_at_.contains(o)) end_segment(places, o, api);
  }

  // --- events ---

  void write_event(std::string_view action, std::uint32_t api, std::uint32_t o,
                   std::uint64_t address) {
    const Object& object = e_.objects[o];
    pickle_.begin_dict();
    pickle_.word("action");
    pickle_.word(action);
    pickle_.word("addr");
    pickle_.number(address);
    pickle_.word("size");
    pickle_.number(object.size);
    pickle_.word("stream");
    pickle_.number(fields_.stream_of(object.alloc));
    fields_.write_time(api);
    fields_.write_frames(frames_at(action, api, o));
    if (action == "alloc") fields_.write_note(o);
    fields_.write_pool(o, "pool_id");
    pickle_.end_dict();
  }

  // The end of a context frees what no call did.
  std::uint32_t frames_at(std::string_view action, std::uint32_t api, std::uint32_t o) const {
    if (action == "alloc" || action == "segment_alloc" || action == "segment_map") return api;
    const bool was_asked = action == "free_requested" && fields_.request_of(o).has_value();
    return was_asked || e_.objects[o].free != kNone ? api : kNone;
  }

  void write_failure(const FailedAllocation& failed) {
    pickle_.begin_dict();
    pickle_.word("action");
    pickle_.word("oom");
    if (failed.device_free) {
      pickle_.word("device_free");
      pickle_.number(*failed.device_free);
    }
    pickle_.word("size");
    pickle_.number(failed.requested);
    pickle_.word("stream");
    pickle_.number(fields_.stream_of(failed.api));
    fields_.write_time(failed.api);
    fields_.write_frames(failed.api);
    pickle_.end_dict();
  }

  // --- phases ---

  // Readers place annotations by time alone.
  void write_annotations() {
    const auto marks = input_.calls.marks();
    if (marks.empty() || !input_.calls.has_host_times()) return;
    pickle_.word("external_annotations");
    pickle_.begin_list();
    std::map<std::uint16_t, std::vector<std::string>> open;
    fields_.restart_time();
    for (const MarkFact& mark : marks) {
      std::vector<std::string>& names = open[mark.thread];
      if (mark.kind == trace::MarkKind::kRangePush) {
        names.push_back(mark.name);
        write_annotation("START", mark.name, mark.api);
      } else if (mark.kind == trace::MarkKind::kRangePop) {
        const std::string name = !mark.name.empty() ? mark.name : names.empty() ? "" : names.back();
        if (!names.empty() && names.back() == name) names.pop_back();
        write_annotation("END", name, mark.api);
      }
    }
    pickle_.end_list();
  }

  void write_annotation(std::string_view stage, const std::string& name, std::uint32_t api) {
    const std::uint16_t context = e_.apis[api].context;
    pickle_.begin_dict();
    pickle_.word("stage");
    pickle_.word(stage);
    pickle_.word("name");
    pickle_.text(printable(name));
    pickle_.word("device");
    pickle_.number(context < e_.context_device.size() ? e_.context_device[context] : 0u);
    fields_.write_time(api);
    pickle_.end_dict();
  }

  const ExportInput& input_;
  const Report& report_;
  const Evidence& e_;
  PickleWriter pickle_;
  SnapshotFields fields_;
  std::unordered_map<std::uint32_t, std::uint64_t> segment_at_;  // of live objects
  std::unordered_map<std::uint32_t, std::uint64_t> address_;     // of live blocks
  std::map<std::uint16_t, Places> places_;                       // by device
};

}  // namespace

Status export_torch(const ExportInput& input, std::ostream& out) {
  SnapshotWriter(input, out).run();
  return Ok{};
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
// Fills a Trace record by record.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "offline/trace/read_ahead.h"
#include "offline/trace/trace.h"

namespace drgpum {

using namespace trace;

class TraceBuilder {
 public:
  explicit TraceBuilder(const LoadOptions& options) : options_(options) {}

  Status add(const Record& record) {
    if (options_.check) checker_.add(record);
    std::visit([this](const auto& one) { take(one); }, record);
    if (refused_ != nullptr) return Error{ErrorCode::kUnsupported, refused_};
    if (options_.also) return options_.also(record);
    return Ok{};
  }

  Trace finish(ReadSummary summary, std::string path) && {
    const auto by_api = [](const auto& a, const auto& b) { return a.api < b.api; };
    std::stable_sort(trace_.accesses_.begin(), trace_.accesses_.end(), by_api);
    std::stable_sort(trace_.access_maps_.begin(), trace_.access_maps_.end(), by_api);
    std::stable_sort(trace_.access_sites_.begin(), trace_.access_sites_.end(), by_api);
    std::stable_sort(trace_.times_.begin(), trace_.times_.end(), by_api);
    trace_.problems_ = std::move(checker_).finish();
    trace_.summary_ = std::move(summary);
    trace_.path_ = std::move(path);
    return std::move(trace_);
  }

 private:
  static constexpr std::uint64_t kMostCalls = 0xfffffffe;

  void take(const ProcessRecord& process) {
    if (!std::exchange(has_process_, true)) trace_.process_ = process;
  }
  void take(const DeviceRecord& device) { trace_.devices_.add(device); }
  void take(const ContextRecord& context) { trace_.contexts_.add({context, std::nullopt}); }
  void take(const ContextEndRecord& end) {
    if (auto* context = trace_.contexts_.find(end.id)) context->end = end.at;
  }
  void take(const StreamRecord& stream) { trace_.streams_.add({stream, std::nullopt}); }
  void take(const StreamNameRecord& name) {
    if (auto* stream = trace_.streams_.find(name.id)) stream->name = name.name;
  }
  void take(const StreamEndRecord& end) {
    if (auto* stream = trace_.streams_.find(end.id)) stream->end = end.at;
  }
  void take(const HostModuleRecord& module) { trace_.modules_.add({module, std::nullopt}); }
  void take(const HostModuleEndRecord& end) {
    if (auto* module = trace_.modules_.find(end.id)) module->unloaded_at = end.unloaded_at;
  }
  void take(const CallPathRecord& path) {
    TraceCallPath row{path.id,
                      static_cast<std::uint32_t>(trace_.frames_.size()),
                      static_cast<std::uint32_t>(path.frames.size()),
                      std::nullopt,
                      0,
                      std::nullopt,
                      false};
    trace_.frames_.insert(trace_.frames_.end(), path.frames.begin(), path.frames.end());
    trace_.call_paths_.add(row);
  }
  void take(const SourceFrameRecord& frame) {
    if (trace_.source_frame_of_.emplace(frame.frame, trace_.source_frames_.size()).second)
      trace_.source_frames_.push_back(frame);
  }
  void take(const FreeRequestRecord&) {}
  void take(const CubinRecord& cubin) { trace_.cubins_.add(cubin); }
  void take(const KernelRecord& kernel) { trace_.kernels_.add(kernel); }
  void take(const ObjectRecord& object) {
    if (object.kind == ObjectKind::kSubObject) new_parts_.insert(object.id.value);
    if (!options_.objects) return;
    trace_.objects_.add({object, std::nullopt, std::nullopt});
  }
  void take(const ObjectEndRecord& end) {
    if (auto* object = trace_.objects_.find(end.id)) object->end = end.at;
  }
  void take(const ObjectNameRecord& name) {
    if (auto* object = trace_.objects_.find(name.id)) object->name = name.name;
  }
  void take(const CoverageRecord& coverage) { trace_.coverage_.push_back(coverage); }
  void take(const EndRecord& end) { trace_.end_ = end; }

  void take(const TimeRecord& time) {
    ++trace_.counts_.times;
    if (options_.calls) trace_.times_.push_back(time);
  }
  void take(const AccessMapRecord& map) {
    ++trace_.counts_.access_maps;
    if (options_.calls) trace_.access_maps_.push_back(map);
  }
  void take(const AccessSiteRecord& site) {
    ++trace_.counts_.access_sites;
    if (options_.calls) trace_.access_sites_.push_back(site);
  }
  void take(const AccessRecord& access) {
    ++trace_.counts_.accesses;
    if (!options_.calls) return;
    TraceAccess row;
    row.api = static_cast<std::uint32_t>(access.api.value);
    row.object = access.object;
    row.min_access_bytes = narrowed(access.min_access_bytes);
    row.max_access_bytes = narrowed(access.max_access_bytes);
    row.reads = access.reads;
    row.writes = access.writes;
    row.atomics = access.atomics;
    if (access.bounds) row.bounds = push(trace_.bounds_, *access.bounds);
    trace_.accesses_.push_back(row);
  }
  // Wider than any access of a lane (a bulk copy): the exact width tells nothing more.
  static std::uint16_t narrowed(std::uint32_t bytes) {
    return static_cast<std::uint16_t>(std::min<std::uint32_t>(bytes, 0xffff));
  }

  template <typename T>
  static std::uint32_t push(std::vector<T>& column, T value) {
    column.push_back(std::move(value));
    return static_cast<std::uint32_t>(column.size() - 1);
  }

  void take(const GpuApi& api) {
    ++trace_.counts_.calls[static_cast<std::size_t>(api.kind)];
    note_call_path(api);
    if (const auto* free = std::get_if<FreeApi>(&api.payload); free && free->error == 0)
      if (auto* object = trace_.objects_.find(free->object))
        if (!object->freed_by) object->freed_by = api.id;
    if (options_.calls) take_call(api);
  }
  void note_call_path(const GpuApi& api) {
    if (api.call_path == kNoCallPath) return;
    auto* path = trace_.call_paths_.find(api.call_path);
    if (path == nullptr) return;
    if (!path->first_use) path->first_use = api.id;
    path->used_by |= 1u << static_cast<unsigned>(api.kind);
    if (const auto* alloc = std::get_if<AllocApi>(&api.payload)) {
      path->allocates_part |= new_parts_.erase(alloc->object.value) != 0;
    }
    const auto* launch = std::get_if<LaunchApi>(&api.payload);
    if (launch != nullptr && !path->kernel) path->kernel = launch->kernel;
  }
  void take_call(const GpuApi& api) {
    if (api.id.value > kMostCalls || api.id.value < trace_.calls_.size()) {
      if (api.id.value > kMostCalls) refused_ = kTooMany;
      return;  // an id that came before: the checker has told
    }
    // A gap is a record that was skipped. Many that are missing cost memory for nothing.
    lost_ += api.id.value - trace_.calls_.size();
    if (lost_ > kMostLost) {
      refused_ = kTooManyLost;
      return;
    }
    TraceCall lost;
    lost.lost = true;
    trace_.calls_.resize(api.id.value, lost);
    TraceCall call;
    call.host_begin_ns = api.host_begin_ns;
    call.host_end_ns = api.host_end_ns;
    call.stream = api.stream;
    call.call_path = api.call_path;
    call.name = name(api.name);
    call.context = small(api.context.value);
    call.thread = small(api.thread.value);
    call.kind = api.kind;
    call.blocks_host = api.blocks_host;
    if (api.graph_launch || !api.depends_on.empty())
      call.graph =
          push(trace_.graph_nodes_, Trace::GraphNode{api.graph_launch.value_or(0), api.depends_on});
    call.payload = std::visit([&](const auto& payload) { return keep(payload); }, api.payload);
    call.lost = !kind_fits(api);
    trace_.calls_.push_back(call);
  }
  static bool kind_fits(const GpuApi& api) {
    constexpr std::array<std::size_t, 11> kAlternative{0, 1, 2, 3, 4, 5, 5, 6, 7, 8, 9};
    return kAlternative[static_cast<std::size_t>(api.kind)] == api.payload.index();
  }
  std::uint16_t small(std::uint32_t id) {
    if (id > 0xffff) refused_ = kTooMany;
    return static_cast<std::uint16_t>(id);
  }
  std::uint16_t name(const std::string& text) {
    if (text.empty()) return 0;
    const auto [found, added] = names_.try_emplace(text, trace_.names_.size());
    if (added) trace_.names_.push_back(text);
    return small(static_cast<std::uint32_t>(found->second));
  }

  std::uint32_t keep(const AllocApi& alloc) { return push(trace_.allocs_, alloc); }
  std::uint32_t keep(const FreeApi& free) { return push(trace_.frees_, free); }
  std::uint32_t keep(const MemsetApi& set) { return push(trace_.sets_, set); }
  std::uint32_t keep(const EventApi& event) { return push(trace_.events_, event); }
  std::uint32_t keep(const SynchronizeApi& sync) { return push(trace_.synchronizations_, sync); }
  std::uint32_t keep(const GraphLaunchApi& graph) { return push(trace_.graph_launches_, graph); }
  std::uint32_t keep(const HostFunctionApi&) { return 0; }
  std::uint32_t keep(const MarkApi& mark) { return push(trace_.marks_, mark); }
  std::uint32_t keep(const MemcpyApi& copy) {
    Trace::Copy row{copy.source.offset,  copy.destination.offset, copy.source.width,
                    copy.source.object,  copy.destination.object, kNoRow,
                    copy.source_stream,  copy.direction,          copy.async,
                    copy.source.is_host, copy.destination.is_host};
    if (!is_linear(copy.source) || !is_linear(copy.destination) ||
        copy.source.width != copy.destination.width)
      row.shape = push(trace_.copy_shapes_, Trace::Shape{copy.source, copy.destination});
    return push(trace_.copies_, row);
  }
  static bool is_linear(const Region& region) {
    return region.height == 1 && region.depth == 1 && region.pitch == 0 && region.slice_pitch == 0;
  }
  std::uint32_t keep(const LaunchApi& launch) {
    LaunchApi shape = launch;
    shape.kernel = {};
    shape.instrumented = false;
    const auto key = std::make_tuple(std::to_array(shape.grid), std::to_array(shape.block),
                                     std::to_array(shape.cluster), shape.shared_bytes);
    const auto [found, added] = shapes_.try_emplace(key, trace_.launch_shapes_.size());
    if (added) trace_.launch_shapes_.push_back(shape);
    return push(trace_.launches_, Trace::Launch{launch.kernel, found->second, launch.instrumented});
  }

  static constexpr std::uint64_t kMostLost = 1 << 20;
  static constexpr const char* kTooManyLost =
      "more than 1,048,576 calls are missing between those that are there";
  static constexpr const char* kTooMany =
      "the trace has more than 4,294,967,294 calls or 65,536 contexts, threads or names of calls: "
      "record less of the program (--launch-count, --max-size)";
  using Three = std::array<std::uint32_t, 3>;

  const LoadOptions& options_;
  Trace trace_;
  TraceChecker checker_;
  bool has_process_ = false;
  std::unordered_set<std::uint32_t> new_parts_;  // pieces of pools whose allocation comes yet
  const char* refused_ = nullptr;
  std::uint64_t lost_ = 0;
  std::unordered_map<std::string, std::size_t> names_;
  std::map<std::tuple<Three, Three, Three, std::uint32_t>, std::uint32_t> shapes_;
};

Result<Trace> load_trace(const std::string& path, const LoadOptions& options) {
  constexpr std::uint64_t kProgressStep = 1 << 20;
  ASSIGN_OR_RETURN(TraceReader reader, TraceReader::open(path));
  TraceBuilder builder(options);
  const std::uint64_t file_bytes = reader.summary().file_bytes;
  ReadAhead records(std::move(reader));
  std::uint64_t told = 0;
  for (auto batch = records.next(); !batch.empty(); batch = records.next()) {
    for (const Record& record : batch)
      if (Status status = builder.add(record); !status)
        return std::move(status).error().while_doing(path);
    if (options.progress && records.bytes_read() - told >= kProgressStep) {
      told = records.bytes_read();
      options.progress(told, file_bytes);
    }
  }
  return std::move(builder).finish(records.summary(), path);
}

Result<Trace> load_trace(const std::string& path) {
  return load_trace(path, LoadOptions());
}

Result<Trace> load_trace(const std::string& path, std::uint64_t file_bytes, const RecordFeed& feed,
                         const LoadOptions& options) {
  TraceBuilder builder(options);
  ReadSummary summary;
  summary.reason = "the end record is missing";
  summary.file_bytes = summary.valid_bytes = file_bytes;
  const RecordSink sink = [&](const Record& record) -> Status {
    RETURN_IF_ERROR(builder.add(record));
    ++summary.records;
    if (std::holds_alternative<GpuApi>(record)) ++summary.apis;
    if (!std::holds_alternative<EndRecord>(record)) return Ok{};
    summary.completeness = Completeness::kComplete;
    summary.reason.clear();
    return Ok{};
  };
  RETURN_IF_ERROR(feed(sink));
  return std::move(builder).finish(std::move(summary), path);
}

Result<Trace> load_trace(std::span<const Record> records, const LoadOptions& options) {
  const auto feed = [&](const RecordSink& sink) -> Status {
    for (const Record& record : records)
      RETURN_IF_ERROR(sink(record));
    return Ok{};
  };
  return load_trace("", 0, feed, options);
}

Result<Trace> load_trace(std::span<const Record> records) {
  return load_trace(records, LoadOptions());
}

}  // namespace drgpum

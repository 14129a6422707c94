// SPDX-License-Identifier: Apache-2.0
#pragma once
// A whole trace in memory, indexed, not changed after it is loaded. Made for ten million calls:
// tables hold what is rare, columns of small structs what is not.
//
// Ids of objects, streams, kernels and so on are those of the file; each table finds its rows by
// id. Calls are named by ApiId, which is also their place: calls() has one row per id, and a call
// that the file lost (a record of a later version) is a row with `lost` set.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "offline/trace/check.h"
#include "proto/base/result.h"
#include "proto/trace/record.h"
#include "proto/trace/trace_reader.h"

namespace drgpum {

inline constexpr std::uint32_t kNoRow = 0xffffffffu;

// Rows in the order of the file, found by the record's `id`.
template <typename Row>
class TraceTable {
 public:
  using Id = decltype(Row::id);
  [[nodiscard]] std::span<const Row> rows() const { return rows_; }
  [[nodiscard]] std::size_t size() const { return rows_.size(); }
  [[nodiscard]] const Row* find(Id id) const {
    const auto value = static_cast<std::size_t>(id.value);
    if (value < rows_.size() && rows_[value].id == id) return &rows_[value];  // the usual case
    const auto found = by_id_.find(id.value);
    return found == by_id_.end() ? nullptr : &rows_[found->second];
  }

 private:
  friend class TraceBuilder;
  Row* find(Id id) { return const_cast<Row*>(std::as_const(*this).find(id)); }
  void add(Row row) {
    if (row.id.value != rows_.size())
      by_id_.emplace(row.id.value, static_cast<std::uint32_t>(rows_.size()));
    rows_.push_back(std::move(row));
  }
  std::vector<Row> rows_;
  std::unordered_map<decltype(Id::value), std::uint32_t> by_id_;  // ids that are not the row
};

struct TraceContext : trace::ContextRecord {
  std::optional<ApiId> end;  // destroyed before this call
};
struct TraceStream : trace::StreamRecord {
  std::optional<ApiId> end;
};
struct TraceModule : trace::HostModuleRecord {
  std::optional<ApiId> unloaded_at;
};
struct TraceObject : trace::ObjectRecord {  // `name` is the latest that was given
  std::optional<ApiId> freed_by;            // the kFree call
  std::optional<ApiId> end;                 // ended otherwise, before this call
};
struct TraceCallPath {
  CallPathId id;
  std::uint32_t begin = 0;  // its frames in Trace::frames
  std::uint32_t count = 0;
  std::optional<ApiId> first_use;  // tells which of two modules at one address is meant
  std::uint32_t used_by = 0;       // bit k: a call of ApiKind k
  std::optional<KernelId> kernel;  // that a launch from here started first
  bool allocates_part = false;  // a pool hands out a piece there
};

struct TraceCall {
  std::uint64_t host_begin_ns = 0;
  std::uint64_t host_end_ns = 0;
  StreamId stream = trace::kNoStream;
  CallPathId call_path;
  std::uint32_t payload = 0;  // row in the column of its kind
  std::uint32_t graph = kNoRow;
  std::uint16_t name = 0;
  std::uint16_t context = 0;
  std::uint16_t thread = 0;
  trace::ApiKind kind = trace::ApiKind::kMark;
  bool blocks_host : 1 = false;
  bool lost : 1 = false;
};
static_assert(sizeof(TraceCall) <= 40);

struct TraceAccess {
  std::uint32_t api = 0;
  ObjectId object;
  std::uint16_t min_access_bytes = 0;
  std::uint16_t max_access_bytes = 0;
  bool reads : 1 = false;
  bool writes : 1 = false;
  bool atomics : 1 = false;
  std::uint32_t bounds = kNoRow;
};

struct TraceCounts {
  std::uint64_t calls[11] = {};  // by ApiKind
  std::uint64_t accesses = 0;
  std::uint64_t access_maps = 0;
  std::uint64_t access_sites = 0;
  std::uint64_t times = 0;
};

class Trace {
 public:
  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const trace::ReadSummary& summary() const { return summary_; }
  [[nodiscard]] const TraceProblems& problems() const { return problems_; }
  [[nodiscard]] const TraceCounts& counts() const { return counts_; }
  [[nodiscard]] const trace::ProcessRecord& process() const { return process_; }
  [[nodiscard]] const std::optional<trace::EndRecord>& end() const { return end_; }
  [[nodiscard]] std::span<const trace::CoverageRecord> coverage() const { return coverage_; }

  [[nodiscard]] const TraceTable<trace::DeviceRecord>& devices() const { return devices_; }
  [[nodiscard]] const TraceTable<TraceContext>& contexts() const { return contexts_; }
  [[nodiscard]] const TraceTable<TraceStream>& streams() const { return streams_; }
  [[nodiscard]] const TraceTable<TraceModule>& modules() const { return modules_; }
  [[nodiscard]] const TraceTable<trace::CubinRecord>& cubins() const { return cubins_; }
  [[nodiscard]] const TraceTable<trace::KernelRecord>& kernels() const { return kernels_; }
  [[nodiscard]] const TraceTable<TraceObject>& objects() const { return objects_; }

  [[nodiscard]] const TraceTable<TraceCallPath>& call_paths() const { return call_paths_; }
  // Return addresses, innermost first; empty for an unknown id.
  [[nodiscard]] std::span<const std::uint64_t> frames(CallPathId id) const;
  // What stands for `frame` when it is no address; null when it is one.
  [[nodiscard]] const trace::SourceFrameRecord* source_frame(std::uint64_t frame) const {
    const auto found = source_frame_of_.find(frame);
    return found == source_frame_of_.end() ? nullptr : &source_frames_[found->second];
  }
  // The module that held `address` when call `at` was made; null when none did.
  [[nodiscard]] const TraceModule* module_at(std::uint64_t address, ApiId at) const;

  // Empty unless loaded with calls.
  [[nodiscard]] std::span<const TraceCall> calls() const { return calls_; }
  [[nodiscard]] std::string_view name(const TraceCall& call) const { return names_[call.name]; }
  [[nodiscard]] trace::ApiPayload payload(ApiId id) const;
  [[nodiscard]] std::span<const TraceAccess> accesses(ApiId launch) const;
  [[nodiscard]] std::optional<trace::ByteRange> bounds(const TraceAccess& access) const;
  [[nodiscard]] const trace::AccessMapRecord* access_map(ApiId launch, ObjectId object) const;
  [[nodiscard]] std::span<const trace::AccessSiteRecord> access_sites(ApiId launch) const;
  [[nodiscard]] std::optional<trace::TimeRecord> device_time(ApiId id) const;
  [[nodiscard]] std::optional<std::uint64_t> graph_launch(const TraceCall& call) const;
  [[nodiscard]] std::span<const ApiId> depends_on(const TraceCall& call) const;

 private:
  friend class TraceBuilder;

  // A copy's two sides; a linear one, the usual, needs no shape.
  struct Copy {
    std::uint64_t source_offset;
    std::uint64_t destination_offset;
    std::uint64_t width;
    ObjectId source;
    ObjectId destination;
    std::uint32_t shape;  // kNoRow: linear
    StreamId source_stream;
    trace::CopyDirection direction;
    bool async : 1;
    bool source_is_host : 1;
    bool destination_is_host : 1;
  };
  struct Launch {
    KernelId kernel;
    std::uint32_t shape;
    bool instrumented;
  };
  struct GraphNode {
    std::uint64_t launch;
    std::vector<ApiId> depends_on;
  };
  struct Shape {
    trace::Region source;
    trace::Region destination;
  };
  [[nodiscard]] trace::MemcpyApi copy(std::uint32_t row) const;
  [[nodiscard]] trace::LaunchApi launch(std::uint32_t row) const;

  std::string path_;
  trace::ReadSummary summary_;
  TraceProblems problems_;
  TraceCounts counts_;
  trace::ProcessRecord process_;
  std::optional<trace::EndRecord> end_;
  std::vector<trace::CoverageRecord> coverage_;
  TraceTable<trace::DeviceRecord> devices_;
  TraceTable<TraceContext> contexts_;
  TraceTable<TraceStream> streams_;
  TraceTable<TraceModule> modules_;
  TraceTable<trace::CubinRecord> cubins_;
  TraceTable<trace::KernelRecord> kernels_;
  TraceTable<TraceObject> objects_;
  TraceTable<TraceCallPath> call_paths_;
  std::vector<std::uint64_t> frames_;
  std::vector<trace::SourceFrameRecord> source_frames_;
  std::unordered_map<std::uint64_t, std::size_t> source_frame_of_;

  std::vector<TraceCall> calls_;
  std::vector<std::string> names_{""};
  std::vector<trace::AllocApi> allocs_;
  std::vector<trace::FreeApi> frees_;
  std::vector<Copy> copies_;
  std::vector<Shape> copy_shapes_;
  std::vector<trace::MemsetApi> sets_;
  std::vector<Launch> launches_;
  std::vector<trace::LaunchApi> launch_shapes_;
  std::vector<trace::EventApi> events_;
  std::vector<trace::SynchronizeApi> synchronizations_;
  std::vector<trace::GraphLaunchApi> graph_launches_;
  std::vector<trace::MarkApi> marks_;
  std::vector<GraphNode> graph_nodes_;
  std::vector<TraceAccess> accesses_;  // by rising api
  std::vector<trace::ByteRange> bounds_;
  std::vector<trace::AccessMapRecord> access_maps_;  // by rising api, object
  std::vector<trace::AccessSiteRecord> access_sites_;
  std::vector<trace::TimeRecord> times_;
};

struct LoadOptions {
  bool calls = true;    // false: tables, call paths and counts only, which needs little memory
  bool objects = true;  // false: not the table of objects either
  bool check = true;    // false: problems() stays empty
  // Sees each record as it is read. An error from it ends the loading.
  std::function<Status(const trace::Record&)> also;
  // Bytes read and bytes in all, about every MiB.
  std::function<void(std::uint64_t, std::uint64_t)> progress;
};

// A damaged or unfinished trace loads as far as it is good: ask summary(). Errors: the file is not
// there, is no trace, or has more calls than this build holds (2^32 - 2).
Result<Trace> load_trace(const std::string& path, const LoadOptions& options);
Result<Trace> load_trace(const std::string& path);

// Records that come from elsewhere than a trace file. A feed hands each to the sink and returns the
// sink's error or its own; `path` and `file_bytes` are of what it reads.
using RecordSink = std::function<Status(const trace::Record&)>;
using RecordFeed = std::function<Status(const RecordSink&)>;
Result<Trace> load_trace(const std::string& path, std::uint64_t file_bytes, const RecordFeed& feed,
                         const LoadOptions& options);

// For tests: the trace that a file with these records would give.
Result<Trace> load_trace(std::span<const trace::Record> records, const LoadOptions& options);
Result<Trace> load_trace(std::span<const trace::Record> records);

}  // namespace drgpum

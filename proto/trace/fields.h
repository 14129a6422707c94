// SPDX-License-Identifier: Apache-2.0
#pragma once
// Every record's fields, once: number in the file, name, place in the struct. The encoder, the
// decoder and the text form all walk these lists, so that they cannot disagree. trace.proto says
// the same as a schema; a test decodes with it.
//
// visit_fields(visitor, record) calls, for each field in order of its number,
//   visitor(number, name, value)      value: the field itself, or OrNone
//   visitor.name(number, name, text)  a string that recurs and is written once (see NameTable)
//   visitor.payload(first, payload)   the variant of GpuApi; alternative i has number first + i

#include <concepts>
#include <cstdint>
#include <type_traits>

#include "proto/trace/record.h"

namespace drgpum::trace {

template <typename R, typename T>
concept Is = std::same_as<std::remove_const_t<R>, T>;

// An id that may be "none" (kNoId): stored plus one, so that 0, protobuf's absent value, is none.
template <typename Id>
struct OrNone {
  Id& id;
};
template <typename Id>
OrNone<Id> or_none(Id& id) {
  return {id};
}

// The call names recur: the file holds each once.
struct NameRecord {
  std::uint32_t id = 0;  // from 1
  std::string text;
};
inline constexpr std::uint32_t kNameRecordNumber = 100;
inline constexpr std::uint32_t kInlineNameNumber = 13;  // in GpuApi: a name that has no NameRecord
inline constexpr std::uint32_t kFirstPayloadNumber = 20;

template <typename V, Is<NameRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "text", r.text);
}

template <typename V, Is<ProcessRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "format_version", r.format_version);
  v(2, "tool_version", r.tool_version);
  v(3, "pid", r.pid);
  v(4, "parent_pid", r.parent_pid);
  v(5, "host_name", r.host_name);
  v(6, "executable", r.executable);
  v(7, "argv", r.argv);
  v(8, "working_directory", r.working_directory);
  v(9, "start_unix_ns", r.start_unix_ns);
  v(10, "mode", r.mode);
  v(11, "options", r.options);
  v(12, "rank", r.rank);
}

template <typename V, Is<DeviceRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "kind", r.kind);
  v(3, "name", r.name);
  v(4, "memory_bytes", r.memory_bytes);
  v(5, "compute_major", r.compute_major);
  v(6, "compute_minor", r.compute_minor);
  v(7, "sanitizer_abi", r.sanitizer_abi);
}

template <typename V, Is<ContextRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "device", r.device);
}

template <typename V, Is<ContextEndRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "at", r.at);
}

template <typename V, Is<StreamRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "context", r.context);
  v(3, "kind", r.kind);
  v(4, "name", r.name);
}

template <typename V, Is<StreamEndRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "at", r.at);
}

template <typename V, Is<HostModuleRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "path", r.path);
  v(3, "build_id", r.build_id);
  v(4, "begin", r.begin);
  v(5, "end", r.end);
  v(6, "load_bias", r.load_bias);
  v(7, "loaded_at", r.loaded_at);
}

template <typename V, Is<HostModuleEndRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "unloaded_at", r.unloaded_at);
}

template <typename V, Is<CallPathRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "frames", r.frames);
}

template <typename V, Is<SourceFrameRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "frame", r.frame);
  v(2, "function", r.function);
  v(3, "file", r.file);
  v(4, "line", r.line);
}

template <typename V, Is<CubinRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "context", r.context);
  v(3, "size", r.size);
  v(4, "hash", r.hash);
  v(5, "saved_as", r.saved_as);
}

template <typename V, Is<KernelRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "cubin", r.cubin);
  v(3, "name", r.name);
}

template <typename V, Is<ObjectRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "kind", r.kind);
  v(3, "parent", or_none(r.parent));
  v(4, "device", r.device);
  v(5, "context", r.context);
  v(6, "address", r.address);
  v(7, "size", r.size);
  v(8, "pitch", r.pitch);
  v(9, "width", r.width);
  v(10, "allocated_by", r.allocated_by);
  v(11, "name", r.name);
  v(12, "opaque", r.opaque);
  v(13, "detail", r.detail);
}

template <typename V, Is<ObjectEndRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "at", r.at);
}

template <typename V, Is<FreeRequestRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "at", r.at);
}

template <typename V, Is<StreamNameRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "name", r.name);
}

template <typename V, Is<ObjectNameRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "name", r.name);
}

template <typename V, Is<AllocApi> R>
void visit_fields(V& v, R& r) {
  v(1, "object", or_none(r.object));
  v(2, "requested", r.requested);
  v(3, "error", r.error);
  v(4, "device_free", r.device_free);
}

template <typename V, Is<FreeApi> R>
void visit_fields(V& v, R& r) {
  v(1, "object", or_none(r.object));
  v(2, "stream_ordered", r.stream_ordered);
  v(3, "address", r.address);
  v(4, "error", r.error);
}

template <typename V, Is<Region> R>
void visit_fields(V& v, R& r) {
  v(1, "object", or_none(r.object));
  v(2, "offset", r.offset);
  v(3, "width", r.width);
  v(4, "height", r.height);
  v(5, "depth", r.depth);
  v(6, "pitch", r.pitch);
  v(7, "slice_pitch", r.slice_pitch);
  v(8, "is_host", r.is_host);
}

template <typename V, Is<MemcpyApi> R>
void visit_fields(V& v, R& r) {
  v(1, "direction", r.direction);
  v(2, "source", r.source);
  v(3, "destination", r.destination);
  v(4, "async", r.async);
  v(5, "source_stream", or_none(r.source_stream));
}

template <typename V, Is<MemsetApi> R>
void visit_fields(V& v, R& r) {
  v(1, "destination", r.destination);
  v(2, "element_size", r.element_size);
  v(3, "value", r.value);
  v(4, "async", r.async);
}

template <typename V, Is<LaunchApi> R>
void visit_fields(V& v, R& r) {
  v(1, "kernel", r.kernel);
  v(2, "grid", r.grid);
  v(3, "block", r.block);
  v(4, "cluster", r.cluster);
  v(5, "shared_bytes", r.shared_bytes);
  v(6, "instrumented", r.instrumented);
}

template <typename V, Is<EventApi> R>
void visit_fields(V& v, R& r) {
  v(1, "event", r.event);
  v(2, "recorded_by", r.recorded_by);
  v(3, "recorded", r.recorded);
}

template <typename V, Is<SynchronizeApi> R>
void visit_fields(V& v, R& r) {
  v(1, "scope", r.scope);
  v(2, "event", r.event);
  v(3, "recorded_by", r.recorded_by);
  v(4, "recorded", r.recorded);
  v(5, "query", r.query);
}

template <typename V, Is<GraphLaunchApi> R>
void visit_fields(V& v, R& r) {
  v(1, "graph", r.graph);
  v(2, "launch", r.launch);
}

template <typename V, Is<HostFunctionApi> R>
void visit_fields(V&, R&) {}

template <typename V, Is<MarkApi> R>
void visit_fields(V& v, R& r) {
  v(1, "kind", r.kind);
  v(2, "name", r.name);
}

template <typename V, Is<GpuApi> R>
void visit_fields(V& v, R& r) {
  v(1, "id", r.id);
  v(2, "kind", r.kind);
  v(3, "stream", or_none(r.stream));
  v(4, "context", r.context);
  v(5, "thread", r.thread);
  v(6, "host_begin_ns", r.host_begin_ns);
  v(7, "host_end_ns", r.host_end_ns);
  v(8, "blocks_host", r.blocks_host);
  v.name(9, "name", r.name);
  v(10, "call_path", r.call_path);
  v(11, "graph_launch", r.graph_launch);
  v(12, "depends_on", r.depends_on);
  v.payload(kFirstPayloadNumber, r.payload);
}

template <typename V, Is<TimeRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "api", r.api);
  v(2, "begin_ns", r.begin_ns);
  v(3, "end_ns", r.end_ns);
}

template <typename V, Is<ByteRange> R>
void visit_fields(V& v, R& r) {
  v(1, "begin", r.begin);
  v(2, "end", r.end);
}

template <typename V, Is<AccessRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "api", r.api);
  v(2, "object", or_none(r.object));
  v(3, "reads", r.reads);
  v(4, "writes", r.writes);
  v(5, "atomics", r.atomics);
  v(6, "min_access_bytes", r.min_access_bytes);
  v(7, "max_access_bytes", r.max_access_bytes);
  v(8, "bounds", r.bounds);
}

template <typename V, Is<AccessSiteRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "api", r.api);
  v(2, "object", or_none(r.object));
  v(3, "function", r.function);
  v(4, "offset", r.offset);
  v(5, "reads", r.reads);
  v(6, "writes", r.writes);
}

template <typename V, Is<AccessMapRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "api", r.api);
  v(2, "object", or_none(r.object));
  v(3, "cell_bytes", r.cell_bytes);
  v(4, "exact", r.exact);
  v(5, "read_ranges", r.read_ranges);
  v(6, "written_ranges", r.written_ranges);
  v(7, "counted_cells", r.counted_cells);
  v(8, "count_mean", r.count_mean);
  v(9, "count_variance", r.count_variance);
  v(10, "count_histogram", r.count_histogram);
  v(11, "hot_range", r.hot_range);
  v(12, "heat_strip", r.heat_strip);
  v(13, "accessed_bytes", r.accessed_bytes);
  v(14, "largest_unaccessed_bytes", r.largest_unaccessed_bytes);
  v(15, "block_every", r.block_every);
}

template <typename V, Is<CoverageRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "kind", r.kind);
  v(2, "api", r.api);
  v(3, "object", or_none(r.object));
  v(4, "count", r.count);
  v(5, "text", r.text);
}

template <typename V, Is<EndRecord> R>
void visit_fields(V& v, R& r) {
  v(1, "api_count", r.api_count);
  v(2, "exit_code_known", r.exit_code_known);
  v(3, "exit_code", r.exit_code);
  v(4, "still_running", r.still_running);
}

}  // namespace drgpum::trace

// SPDX-License-Identifier: Apache-2.0
#pragma once
// The record of one call that the program made to the GPU. record.h says what all records share.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "proto/trace/record_ids.h"

namespace drgpum::trace {

enum class ApiKind : std::uint8_t {
  kAlloc,
  kFree,
  kMemcpy,
  kMemset,
  kLaunch,
  kEventRecord,
  kStreamWait,    // a stream waits for an event
  kSynchronize,   // the host waits
  kGraphLaunch,   // brackets: the nodes follow as APIs with the same graph_launch
  kHostFunction,  // cudaLaunchHostFunc, stream callbacks
  kMark,          // a named moment: iteration, phase
};

struct AllocApi {
  ObjectId object = kNoObject;  // kNoObject: the allocation failed
  std::uint64_t requested = 0;
  std::int32_t error = 0;  // CUresult or cudaError_t; 0 on success
  std::optional<std::uint64_t> device_free = {};  // a failed one: what the device had left
  friend bool operator==(const AllocApi&, const AllocApi&) = default;
};

struct FreeApi {
  ObjectId object = kNoObject;  // kNoObject: a null pointer or an address that no object begins at
  bool stream_ordered = false;  // cudaFreeAsync: takes effect in stream order
  std::uint64_t address = 0;    // as passed
  std::int32_t error = 0;       // CUresult or cudaError_t; not 0: the object lives on
  friend bool operator==(const FreeApi&, const FreeApi&) = default;
};

// Where a copy or set touches memory. Rows of `width` bytes, `pitch` apart; slices of `height`
// rows. A linear range has height = depth = 1. `object` is kNoObject for pageable host memory and
// unknown device addresses (`is_host` tells which); then `offset` is an address.
struct Region {
  ObjectId object = kNoObject;
  std::uint64_t offset = 0;
  std::uint64_t width = 0;
  std::uint64_t height = 1;
  std::uint64_t depth = 1;
  std::uint64_t pitch = 0;
  std::uint64_t slice_pitch = 0;
  bool is_host = false;
  friend bool operator==(const Region&, const Region&) = default;
};

enum class CopyDirection : std::uint8_t {
  kHostToHost,
  kHostToDevice,
  kDeviceToHost,
  kDeviceToDevice
};

struct MemcpyApi {
  CopyDirection direction = CopyDirection::kHostToDevice;
  Region source;
  Region destination;
  bool async = false;
  StreamId source_stream = kNoStream;  // peer copies: the stream of the source context
  friend bool operator==(const MemcpyApi&, const MemcpyApi&) = default;
};

struct MemsetApi {
  Region destination;
  std::uint32_t element_size = 1;
  std::uint32_t value = 0;
  bool async = false;
  friend bool operator==(const MemsetApi&, const MemsetApi&) = default;
};

struct LaunchApi {
  KernelId kernel;
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t cluster[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  bool instrumented = false;  // accesses follow as AccessRecords; false: they are not known
  friend bool operator==(const LaunchApi&, const LaunchApi&) = default;
};

struct EventApi {  // kEventRecord, kStreamWait
  EventId event;
  ApiId recorded_by;      // kStreamWait: the kEventRecord that it waits for
  bool recorded = false;  // kStreamWait on an event never recorded waits for nothing
  friend bool operator==(const EventApi&, const EventApi&) = default;
};

enum class SyncScope : std::uint8_t { kStream, kEvent, kContext, kDevice };

struct SynchronizeApi {
  SyncScope scope = SyncScope::kDevice;
  EventId event;      // kEvent
  ApiId recorded_by;  // kEvent: the record that it waited for
  bool recorded = false;
  bool query = false;  // a *Query that returned success
  friend bool operator==(const SynchronizeApi&, const SynchronizeApi&) = default;
};

struct GraphLaunchApi {
  std::uint64_t graph = 0;  // id of the executable graph
  std::uint64_t launch = 0;
  friend bool operator==(const GraphLaunchApi&, const GraphLaunchApi&) = default;
};

struct HostFunctionApi {
  friend bool operator==(const HostFunctionApi&, const HostFunctionApi&) = default;
};

enum class MarkKind : std::uint8_t {
  kRangePush,
  kRangePop,  // with a name: the latest open range of that name, which need not be of this thread
              // nor the innermost; without: the innermost of the thread
  kInstant,
  kIteration,
  kCaptureStart,
  kCaptureStop
};

struct MarkApi {
  MarkKind kind = MarkKind::kInstant;
  std::string name;
  friend bool operator==(const MarkApi&, const MarkApi&) = default;
};

// A payload's field number in the file is its place in this list plus 20: append only.
using ApiPayload = std::variant<AllocApi, FreeApi, MemcpyApi, MemsetApi, LaunchApi, EventApi,
                                SynchronizeApi, GraphLaunchApi, HostFunctionApi, MarkApi>;

// One call that the program made to the GPU.
struct GpuApi {
  ApiId id;
  ApiKind kind = ApiKind::kMark;
  StreamId stream = kNoStream;  // kNoStream: host-only (cudaMalloc) or all streams (device sync)
  ContextId context;
  ThreadId thread;
  std::uint64_t host_begin_ns = 0;
  std::uint64_t host_end_ns = 0;
  bool blocks_host = false;  // the host went on only when the work was done (and, for a free,
                             // only when all work of the device was done)
  std::string name;          // the function called, e.g. "cudaMemcpyAsync"
  CallPathId call_path = kNoCallPath;
  std::optional<std::uint64_t> graph_launch;  // the API is a node of this graph launch
  std::vector<ApiId> depends_on;              // graph nodes: the nodes of this launch before it
  ApiPayload payload;
  friend bool operator==(const GpuApi&, const GpuApi&) = default;
};

// Begin and end on the device, virtual or from a timing pass.
struct TimeRecord {
  ApiId api;
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  friend bool operator==(const TimeRecord&, const TimeRecord&) = default;
};

}  // namespace drgpum::trace

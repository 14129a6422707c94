// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a trace says about memory, packed for ten million calls: the columns that order and
// patterns read. One Evidence holds one process.
//
// APIs are named by their index, which is their id in the trace and their place in issue order.
// Objects are named by their index here, in the order in which the trace declares them.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "proto/base/result.h"
#include "proto/trace/record.h"

namespace drgpum {

inline constexpr std::uint32_t kNone = 0xffffffffu;
inline constexpr std::uint64_t kNoTime = 0xffffffffffffffffu;

// What a call touches of an object, as bits of Use::flags().
enum UseFlag : std::uint32_t {
  kUseReads = 1,
  kUseWrites = 2,
  kUseKernel = 4,    // a launch; else a copy or set
  kUseFromHost = 8,  // a host-to-device copy or a set: may be moved before the first launch
  kUseToHost = 16,   // a device-to-host copy: may be moved after the last launch
  kUseSet = 32,
};

// One call's use of one object.
struct Use {
  std::uint32_t api = 0;
  std::uint32_t packed = 0;  // flags in the low 6 bits, place in `details` + 1 above (0: none)
  std::uint32_t flags() const { return packed & 63; }
  bool reads() const { return packed & kUseReads; }
  bool writes() const { return packed & kUseWrites; }
  bool by_kernel() const { return packed & kUseKernel; }
  std::uint32_t detail() const { return (packed >> 6) - 1; }  // only when has_detail()
  bool has_detail() const { return (packed >> 6) != 0; }
};

// Bytes of one object that a copy or set touches: `rows` runs of `width` bytes, `pitch` apart,
// `slices` of them, `slice_pitch` apart. Offsets are within the object.
struct Extent {
  std::uint64_t offset = 0;
  std::uint64_t width = 0;
  std::uint64_t rows = 1;
  std::uint64_t slices = 1;
  std::uint64_t pitch = 0;
  std::uint64_t slice_pitch = 0;
  std::uint64_t bytes() const { return width * rows * slices; }
};

// What is known of a use besides its flags. A copy or set without details covers the whole object;
// a launch without details may touch any byte.
struct UseDetail {
  trace::ByteRange bounds;               // every touched byte is in here; empty: not known
  std::uint32_t extent_read = kNone;     // copies: the part read, exact
  std::uint32_t extent_written = kNone;  // copies and sets: the part written, exact
  std::uint32_t map = kNone;             // launches: the reduced access map
};

struct Api {
  trace::ApiKind kind = trace::ApiKind::kMark;
  std::uint8_t flags = 0;  // ApiFlag
  std::uint16_t name = 0;  // in `names`
  std::uint16_t context = 0;
  std::uint16_t thread = 0;
  std::uint32_t stream = kNone;
  std::uint32_t call_path = 0;
  // kAlloc, kFree: the object; kLaunch: the kernel; kStreamWait, kSynchronize on an event: the
  // record it waits for; kMemcpy: the stream of the source context; else kNone.
  std::uint32_t payload = kNone;
};

enum ApiFlag : std::uint8_t {
  kApiPresent = 1,  // not lost
  kApiBlocksHost = 2,
  kApiInstrumented = 4,  // kLaunch
  kApiFailed = 8,
  kApiInGraph = 16,
  kApiScopeShift = 5,  // kSynchronize: trace::SyncScope in the two bits above
};

struct GraphNode {  // of an API with kApiInGraph
  std::uint32_t api = 0;
  std::uint64_t launch = 0;
  std::vector<std::uint32_t> depends_on;
};

struct Object {
  trace::ObjectKind kind = trace::ObjectKind::kDevice;
  bool opaque = false;
  bool ended = false;  // freed, or gone with its module or pool; else its context or trace ended
  bool has_children = false;
  std::uint16_t device = 0;
  std::uint16_t context = 0;
  std::uint32_t id = 0;  // in the trace
  std::uint32_t parent = kNone;
  std::uint32_t min_access_bytes = 0;  // by any launch; 0: not known
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint64_t pitch = 0;
  std::uint64_t width = 0;
  std::uint32_t alloc = 0;  // the live interval is [alloc, end) in issue order
  std::uint32_t end = 0;
  std::uint32_t free = kNone;  // the kFree API
  std::uint32_t name = 0;      // in `names`; 0: none
  bool on_device() const { return kind != trace::ObjectKind::kHostPinned; }
};

struct Stream {
  trace::StreamKind kind = trace::StreamKind::kBlocking;
  std::uint16_t context = 0;
  std::uint32_t id = 0;
  std::uint32_t end = kNone;  // destroyed before this API
  std::uint32_t name = 0;     // in `names`; 0: none
};

// From call `api` on the program has given the object back; its memory waits for streams.
struct FreeRequest {
  std::uint32_t object = 0;
  std::uint32_t api = 0;
};

struct ObjectDetail {
  std::uint32_t object = 0;
  std::uint32_t text = 0;  // in `names`
};

// A phase of the program begins or ends with a kMark (phases.h pairs them).
struct RangeMark {
  std::uint32_t api = 0;
  std::uint32_t name = 0;  // in `names`; 0 of an end: the innermost of its thread
  bool begins = false;
};

struct FailedAllocation {
  std::uint32_t api = 0;
  std::uint64_t requested = 0;
  std::int32_t error = 0;
  std::optional<std::uint64_t> device_free = {};
};

struct Evidence {
  std::string path;  // of the trace, as given
  std::uint64_t file_bytes = 0;
  trace::ProcessRecord process;
  std::vector<trace::DeviceRecord> devices;
  std::vector<std::uint16_t> context_device;  // by context index
  bool has_end = false;
  trace::EndRecord last;  // when has_end

  std::vector<Api> apis;
  std::vector<std::string> names;  // [0] is empty
  std::vector<Stream> streams;
  std::vector<std::uint32_t> launches;         // APIs that are launches, rising
  std::vector<std::uint32_t> unseen_launches;  // those whose accesses are not known, rising
  std::vector<GraphNode> graph_nodes;          // by rising api
  std::vector<std::string> kernels;            // mangled names by kernel id
  std::vector<Object> objects;
  std::vector<FailedAllocation> failed;
  std::vector<FreeRequest> free_requests;    // in the order of the trace
  std::vector<ObjectDetail> object_details;  // likewise
  std::vector<std::uint32_t> iteration_marks;  // APIs at which iterations begin, rising
  std::vector<RangeMark> range_marks;          // in the order of the trace
  std::vector<std::uint64_t> use_begin;  // by object, and one more: into `uses`
  std::vector<Use> uses;                 // per object in issue order, one per API
  std::vector<UseDetail> details;
  std::vector<Extent> extents;
  std::vector<trace::AccessMapRecord> maps;
  std::vector<trace::CoverageRecord> coverage;
  std::uint32_t thread_count = 1;
  // By API, up to the last that has a time: when the device began it. Empty without times.
  std::vector<std::uint64_t> begin_ns;  // kNoTime: not known
  std::uint64_t last_end_ns = 0;

  std::uint32_t api_count() const { return static_cast<std::uint32_t>(apis.size()); }
  // False: only allocations and frees are there, so nothing is known to be unused or idle.
  bool records_accesses() const { return process.mode != "allocations"; }
  // The process lived on when the trace ended: what is alive then has not leaked.
  bool still_running() const { return has_end && last.still_running; }
  std::span<const Use> uses_of(std::uint32_t object) const {
    return {uses.data() + use_begin[object], uses.data() + use_begin[object + 1]};
  }
  const GraphNode* graph_node(std::uint32_t api) const;  // null when it is none
  // Launches issued in [begin, end).
  std::uint32_t launches_within(std::uint32_t begin, std::uint32_t end) const;
  // The first and last launch issued in [begin, end) whose accesses are not known; else kNone.
  std::uint32_t first_unseen(std::uint32_t begin, std::uint32_t end) const;
  std::uint32_t last_unseen(std::uint32_t begin, std::uint32_t end) const;
};

// Takes records in file order. Records that name unknown things are counted in `coverage`, never
// trusted.
class EvidenceBuilder {
 public:
  EvidenceBuilder();
  ~EvidenceBuilder();
  // kUnsupported: more than 2^32 - 2 APIs, 2^26 details or 2^16 contexts, threads or devices.
  Status add(const trace::Record& record);
  Evidence finish() &&;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// The records of a trace: plain values, one struct per record, as written by the profiler and read
// offline. FORMAT.md says how they lie in the file, trace.proto gives the same as a schema.
//
// Order in the file: a record comes after every record that it names (a launch after its kernel,
// an access after its launch and object); fields that name a place in the sequence of calls
// (`allocated_by`, `at`, `loaded_at`) may name the next API. An object comes before its kAlloc API.
// GpuApi records lie in the file in the order of their ids, which rise by one from 0 in issue
// order: the order in which the host entered the calls, one thread's calls among another's in the
// order in which they took the writer's lock. A call that the driver refused is recorded with its
// `error` and has no effect. All byte ranges are half-open. Sizes are bytes, times are ns.

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "proto/trace/api_record.h"
#include "proto/trace/record_ids.h"

namespace drgpum::trace {

// The first record. One trace holds one process.
struct ProcessRecord {
  std::uint32_t format_version = 1;
  std::string tool_version;
  std::uint64_t pid = 0;
  std::uint64_t parent_pid = 0;
  std::string host_name;
  std::string executable;  // absolute path
  std::vector<std::string> argv;
  std::string working_directory;
  std::uint64_t start_unix_ns = 0;  // when the library was loaded; other times count from here
  std::string mode;                 // "object", "intra"; "allocations": no accesses
  std::string options;              // the DRGPUM_* options in force, as key=value lines
  std::string rank;                 // of an MPI or SLURM launcher; empty without one
  friend bool operator==(const ProcessRecord&, const ProcessRecord&) = default;
};

enum class DeviceKind : std::uint8_t { kGpu, kEmulated };

struct DeviceRecord {
  DeviceId id;
  DeviceKind kind = DeviceKind::kGpu;
  std::string name;
  std::uint64_t memory_bytes = 0;
  std::uint32_t compute_major = 0;
  std::uint32_t compute_minor = 0;
  std::string sanitizer_abi;  // what the ABI probe found, e.g. "13.x: RESOURCE 33, GRAPHS 7"
  friend bool operator==(const DeviceRecord&, const DeviceRecord&) = default;
};

struct ContextRecord {
  ContextId id;
  DeviceId device;
  friend bool operator==(const ContextRecord&, const ContextRecord&) = default;
};

// After everything that ended with the context; objects still alive in it have leaked.
struct ContextEndRecord {
  ContextId id;
  ApiId at;  // the next API to be issued when it was destroyed
  friend bool operator==(const ContextEndRecord&, const ContextEndRecord&) = default;
};

enum class StreamKind : std::uint8_t {
  kLegacyDefault,     // handle 0 or cudaStreamLegacy
  kPerThreadDefault,  // cudaStreamPerThread, one per host thread
  kBlocking,          // synchronises with the legacy default stream
  kNonBlocking,
};

struct StreamRecord {
  StreamId id;
  ContextId context;
  StreamKind kind = StreamKind::kBlocking;
  std::string name;  // from NVTX; may be empty
  friend bool operator==(const StreamRecord&, const StreamRecord&) = default;
};

// A name that came after the stream did (NVTX).
struct StreamNameRecord {
  StreamId id;
  std::string name;
  friend bool operator==(const StreamNameRecord&, const StreamNameRecord&) = default;
};

struct StreamEndRecord {
  StreamId id;
  ApiId at;
  friend bool operator==(const StreamEndRecord&, const StreamEndRecord&) = default;
};

// A host ELF file mapped into the program. Call-path frames fall into these.
struct HostModuleRecord {
  ModuleId id;
  std::string path;
  std::string build_id;     // lower-case hex; empty when the file has none
  std::uint64_t begin = 0;  // mapped addresses [begin, end)
  std::uint64_t end = 0;
  std::uint64_t load_bias = 0;  // address = load_bias + the ELF file's virtual address
  ApiId loaded_at;              // frames of APIs with ids in [loaded_at, unloaded_at) belong to it
  friend bool operator==(const HostModuleRecord&, const HostModuleRecord&) = default;
};

struct HostModuleEndRecord {
  ModuleId id;
  ApiId unloaded_at;
  friend bool operator==(const HostModuleEndRecord&, const HostModuleEndRecord&) = default;
};

// Return addresses, innermost first, frames of the tool and of the CUDA libraries already cut.
// Subtract one from each before looking up a line. An id is used only while the modules of its
// frames stay loaded: after an unload the same addresses get a new id.
// A frame that a SourceFrameRecord describes is its number instead.
struct CallPathRecord {
  CallPathId id;
  std::vector<std::uint64_t> frames;
  friend bool operator==(const CallPathRecord&, const CallPathRecord&) = default;
};

// A frame whose line the recorder knew, of an interpreter say: no module is looked at. It comes
// before the call paths that hold it.
struct SourceFrameRecord {
  std::uint64_t frame = 0;  // what stands for it in CallPathRecord::frames
  std::string function;
  std::string file;
  std::uint32_t line = 0;  // 0: not known
  friend bool operator==(const SourceFrameRecord&, const SourceFrameRecord&) = default;
};

// A loaded device module. Its image is kept beside the trace under its hash when it was saved.
struct CubinRecord {
  CubinId id;
  ContextId context;
  std::uint64_t size = 0;
  std::string hash;      // lower-case hex of the image; empty when there was none
  std::string saved_as;  // file name beside the trace; empty when not saved
  friend bool operator==(const CubinRecord&, const CubinRecord&) = default;
};

struct KernelRecord {
  KernelId id;
  CubinId cubin;
  std::string name;  // mangled
  friend bool operator==(const KernelRecord&, const KernelRecord&) = default;
};

enum class ObjectKind : std::uint8_t {
  kDevice,   // cudaMalloc, cuMemAlloc
  kPitched,  // cudaMallocPitch, cudaMalloc3D
  kManaged,
  kAsync,         // cudaMallocAsync and pools
  kHostPinned,    // cudaMallocHost, cudaHostAlloc, cudaHostRegister
  kModuleGlobal,  // __device__, __constant__ and __managed__ variables
  kArray,         // cudaMallocArray; not addressable
  kVirtual,       // mapped by cuMemMap
  kImported,      // IPC, external memory
  kDeviceHeap,    // malloc() in a kernel
  kSubObject,     // a tensor or block inside a pool: `parent` says which
};

struct ObjectRecord {
  ObjectId id;
  ObjectKind kind = ObjectKind::kDevice;
  ObjectId parent = kNoObject;
  DeviceId device;
  ContextId context;
  std::uint64_t address = 0;
  std::uint64_t size = 0;   // as asked for; for kPitched the whole padded block
  std::uint64_t pitch = 0;  // kPitched: bytes from row to row, else 0
  std::uint64_t width = 0;  // kPitched: bytes used in each row, else 0
  ApiId allocated_by;   // the kAlloc API; for module globals the API before which they were loaded
  std::string name;     // a symbol or an NVTX name; may be empty
  bool opaque = false;  // may be accessed in ways the tool cannot see
  std::string detail;   // what the program or its framework noted about it; may be empty
  friend bool operator==(const ObjectRecord&, const ObjectRecord&) = default;
};

// The end of an object that no kFree API ended: its module was unloaded, its import closed, its
// pool destroyed.
struct ObjectEndRecord {
  ObjectId id;
  ApiId at;  // the next API to be issued when it ended
  friend bool operator==(const ObjectEndRecord&, const ObjectEndRecord&) = default;
};

// The program gave the object back with call `at`, a kMark, but its allocator keeps the memory for
// streams that may still use it: the object lives until its kFree. None where both happen at once.
struct FreeRequestRecord {
  ObjectId id;
  ApiId at;
  friend bool operator==(const FreeRequestRecord&, const FreeRequestRecord&) = default;
};

// A name that came after the object did (NVTX, drgpum.h).
struct ObjectNameRecord {
  ObjectId id;
  std::string name;
  friend bool operator==(const ObjectNameRecord&, const ObjectNameRecord&) = default;
};

// What one launch did to one object, as reduced on the device. Map fields are absent at object
// level.
struct AccessRecord {
  ApiId api;
  ObjectId object = kNoObject;
  bool reads = false;
  bool writes = false;
  bool atomics = false;
  std::uint32_t min_access_bytes = 0;  // narrowest and widest access seen; 0: not known
  std::uint32_t max_access_bytes = 0;
  std::optional<ByteRange> bounds;  // smallest range that holds every accessed byte
  friend bool operator==(const AccessRecord&, const AccessRecord&) = default;
};

// Where in a kernel one launch touched one object, counted per lane. Graph nodes that share their
// accesses with others of their function have none of their own.
struct AccessSiteRecord {
  ApiId api;
  ObjectId object = kNoObject;
  KernelId function;  // the kernel, or a device function that it calls
  // Of the instruction: bytes of machine code from where the function begins; on the emulated
  // device its line, from 1, in the PTX that the module's CubinRecord names.
  std::uint64_t offset = 0;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;  // an atomic counts in both
  friend bool operator==(const AccessSiteRecord&, const AccessSiteRecord&) = default;
};

// An access map, reduced: see proto/trace/access_map.h once intra-object mode is on.
struct AccessMapRecord {
  ApiId api;
  ObjectId object = kNoObject;
  std::uint32_t cell_bytes = 0;        // bytes that one cell of the map stands for
  bool exact = false;                  // cell_bytes <= narrowest access
  std::vector<ByteRange> read_ranges;  // runs of cells, merged, offsets in the object
  std::vector<ByteRange> written_ranges;
  std::uint64_t counted_cells = 0;             // cells with a count above 0; 0: counts were off
  double count_mean = 0;                       // over the accessed cells
  double count_variance = 0;                   // population variance over the accessed cells
  std::vector<std::uint64_t> count_histogram;  // bin k: cells with counts in [2^k, 2^(k+1))
  ByteRange hot_range;
  std::vector<std::uint32_t> heat_strip;  // at most 4,096 cells over the object
  // Absent in traces of before they were recorded, and 1 for all blocks.
  std::optional<std::uint64_t> accessed_bytes;            // read or written
  std::optional<std::uint64_t> largest_unaccessed_bytes;  // of one run
  std::optional<std::uint64_t> block_every;               // the map is that of one block in so many
  friend bool operator==(const AccessMapRecord&, const AccessMapRecord&) = default;
};

enum class CoverageKind : std::uint8_t {
  kUnpatchedKernel,  // a launch ran without patches
  kUnsampledLaunch,  // sampling, whitelist or launch-skip left it out
  kSlotsFull,        // no launch slot was free
  kUnknownAddress,   // accesses that hit no known object
  kOpaqueObject,
  kUnknownInstruction,  // an instruction id the installed library lacks
  kLostRecords,
  kToolDisabled,  // the tool turned itself off; text says why
  kSizeLimit,     // --max-size reached
  kCoarseMap,     // cells wider than the narrowest access
  kNoCounts,
  kUntimedCall,  // work of the device that the timing run did not show again
  kLostSites,    // accesses whose AccessSiteRecord is missing
  kSampledBlocks,  // launches whose maps and sites are those of some of their blocks
  kHistoryCut,       // what lived before the history began is known by its end only
  kUnmatchedFree,    // frees of what the history never allocated
  kUnrecordedEnd,    // objects that others replaced, or that are gone, without a free
  kBadField,         // values of an imported file that cannot be
  kMissingSegments,  // objects outside every block of device memory that is known
};

struct CoverageRecord {
  CoverageKind kind = CoverageKind::kLostRecords;
  std::optional<ApiId> api;
  ObjectId object = kNoObject;
  std::uint64_t count = 1;
  std::string text;
  friend bool operator==(const CoverageRecord&, const CoverageRecord&) = default;
};

// The last record of a trace that ended in order.
struct EndRecord {
  ApiId api_count;  // ids are [0, api_count)
  bool exit_code_known = false;
  std::int32_t exit_code = 0;
  bool still_running = false;  // the program went on: what lives has not leaked
  friend bool operator==(const EndRecord&, const EndRecord&) = default;
};

// A record's number in the file is its place in this list plus one: append only.
using Record = std::variant<ProcessRecord, DeviceRecord, ContextRecord, ContextEndRecord,
                            StreamRecord, StreamEndRecord, HostModuleRecord, HostModuleEndRecord,
                            CallPathRecord, CubinRecord, KernelRecord, ObjectRecord,
                            ObjectNameRecord, GpuApi, TimeRecord, AccessRecord, AccessMapRecord,
                            CoverageRecord, EndRecord, ObjectEndRecord, AccessSiteRecord,
                            SourceFrameRecord, FreeRequestRecord, StreamNameRecord>;

}  // namespace drgpum::trace

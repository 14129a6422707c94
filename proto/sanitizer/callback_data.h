// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the Sanitizer library hands to a callback, one struct per kind of event, laid out as the
// library lays them out (x86-64). Fields after a "since" remark are absent before that release:
// reading them needs Generation::kCuda12_4 or later. Sizes in bytes; handles are the driver API's.
// Source: NVIDIA's Sanitizer API reference; layout compared with NVIDIA's header by tests.

#include <cstddef>
#include <cstdint>

#include "proto/sanitizer/callback_ids.h"

namespace drgpum::sanitizer {

using Context = void*;       // CUcontext
using Stream = void*;        // CUstream: null, 1 and 2 name default streams
using StreamHandle = void*;  // one per stream, default streams included
using Module = void*;        // CUmodule
using Library = void*;       // CUlibrary
using Function = void*;      // CUfunction
using LaunchHandle = void*;  // one launch, until its kLaunchEnd
using MemoryPool = void*;    // CUmemoryPool
using Array = void*;         // CUarray
using Event = void*;         // CUevent
using Graph = void*;         // CUgraph
using GraphExec = void*;     // CUgraphExec
using GraphNode = void*;     // CUgraphNode
using Device = std::int32_t;

enum class ApiSite : std::uint32_t { kEnter = 0, kExit = 1 };

// Driver and runtime domains. `function_name` is constant; `parameters` is the public
// <function>_params struct; `return_value` points at the result, at exit only.
struct ApiData {
  ApiSite site;
  const char* function_name;
  const void* parameters;
  const void* return_value;
  const char* symbol_name;  // launches: mangled kernel name
  Context context;
};

struct ContextData {
  Context context;
  Device device;  // valid for creation only
};

struct StreamData {
  Context context;
  Stream stream;  // null once destroyed
  StreamHandle stream_handle;
};

struct ModuleData {
  Context context;
  Module module;
  std::size_t image_size;
  const char* image;  // the cubin; on the emulated device, the PTX that runs
  Library library;    // since 12.x
};

enum MemoryFlag : std::uint32_t {
  kMemoryOfModule = 0x1,  // __device__ variables
  kMemoryManaged = 0x2,
  kMemoryHostMapped = 0x4,
  kMemoryHostPinned = 0x8,
  kMemoryPeer = 0x10,
  kMemoryPeerAtomic = 0x20,
  kMemoryCooperativeRuntime = 0x40,  // the driver's own, for grid-wide barriers
  kMemoryDynamicParallelism = 0x80,  // the driver's own, for launches from kernels
};

enum MemoryPermission : std::uint32_t {
  kMayRead = 0x1,
  kMayWrite = 0x2,
  kMayAtomic = 0x4,
  kMayAll = 0x7,
};

enum class Visibility : std::uint32_t { kInvalid = 0, kGlobal = 1, kHost = 2, kStream = 3 };

struct MemoryData {
  std::uint64_t address;
  std::uint64_t size;
  Context context;
  Device device;
  Stream stream;
  StreamHandle stream_handle;
  MemoryPool pool;
  std::uint32_t flags;        // MemoryFlag
  std::uint32_t permissions;  // MemoryPermission
  Visibility visibility;
  Device source_device;  // where the bytes are, for peer mappings
};

struct PoolData {
  MemoryPool pool;
  Device device;
  Device peer_device;
};

struct ArrayData {
  Context context;
  Array array;
  std::uint64_t width, height, depth;  // elements; height and depth 0 where the array lacks them
};

struct LazyFunctionsData {
  Context context;
  Module module;
  const Function* functions;
  std::uint32_t function_count;
};

struct VirtualRangeData {
  std::uint64_t address;
  std::uint64_t size;
};

struct SynchronizeData {
  Context context;
  Stream stream;  // kStreamSynchronized only
  StreamHandle stream_handle;
};

struct LaunchData {
  Context context;
  Stream stream;
  StreamHandle stream_handle;
  Module module;
  Function function;
  const char* function_name;  // mangled
  std::uint32_t grid[3];
  std::uint32_t block[3];
  std::uint32_t cluster[3];
  std::uint64_t grid_id;
  LaunchHandle launch;
  Device device;
  Context api_context;  // since 12.x
  Stream api_stream;
  StreamHandle api_stream_handle;
};

enum class CopyDirection : std::uint32_t {
  kUnknown = 0,
  kHostToHost = 1,
  kHostToDevice = 2,
  kDeviceToHost = 3,
  kDeviceToDevice = 4,
};

struct MemcpyData {
  Context source_context;
  Context destination_context;
  Stream source_stream;
  StreamHandle source_stream_handle;
  Stream destination_stream;
  StreamHandle destination_stream_handle;
  std::uint64_t source_address;
  std::uint64_t destination_address;
  std::uint64_t size;  // of the whole copy
  std::uint64_t width, height, depth;
  std::uint64_t source_pitch;
  std::uint64_t destination_pitch;
  std::uint32_t is_async;
  CopyDirection direction;
  Context api_context;  // since 12.x
  Stream api_stream;
  StreamHandle api_stream_handle;
};

struct MemsetData {
  Context context;
  Stream stream;
  StreamHandle stream_handle;
  std::uint64_t address;
  std::uint64_t width;  // elements
  std::uint64_t height;
  std::uint64_t pitch;
  std::uint32_t element_size;  // 1, 2 or 4
  std::uint32_t value;
  std::uint32_t is_async;
};

enum class BatchMemopType : std::uint32_t { k32Bit = 0, k64Bit = 1 };

struct BatchMemopData {
  Context context;
  Stream stream;
  StreamHandle stream_handle;
  std::uint64_t address;
  std::uint64_t value;
  BatchMemopType type;
};

struct ManagedData {
  Context context;
  Visibility visibility;
  Stream stream;
  StreamHandle stream_handle;
  std::uint64_t address;
};

struct GraphExecData {
  Graph graph;
  GraphExec exec;
  std::uint32_t is_device_launch;  // since 12.x
  std::uint32_t launches_device_graphs;
  Context device_graphs_context;
};

// The tail after the union moved between releases: read it with graph_node_is_upload().
struct GraphNodeData {
  GraphExec exec;
  std::uint32_t launch_id;
  GraphNode node;
  std::uint32_t node_type;  // CUgraphNodeType
  union {
    LaunchData launch;
    MemoryData allocation;
    std::uint64_t freed_address;
    MemcpyData copy;  // since 12.x
    MemsetData set;   // since 12.x
  };
  std::uint32_t is_upload;
};

struct GraphLaunchData {
  Context context;
  Stream stream;
  StreamHandle stream_handle;
  GraphExec exec;
  std::uint32_t is_upload;
};

struct EventData {
  Event event;
  Context context;
  Stream stream;
  StreamHandle stream_handle;
};

struct ExternalMemoryData {
  Context context;
  Device device;
  void* memory;  // CUexternalMemory
  std::uint64_t address;
  std::uint64_t size;
};

static_assert(sizeof(ApiData) == 48 && sizeof(ContextData) == 16 && sizeof(StreamData) == 24);
static_assert(sizeof(ModuleData) == 40 && sizeof(MemoryData) == 72 && sizeof(PoolData) == 16);
static_assert(sizeof(ArrayData) == 40 && sizeof(LazyFunctionsData) == 32);
static_assert(sizeof(SynchronizeData) == 24 && sizeof(LaunchData) == 136);
static_assert(sizeof(MemcpyData) == 144 && sizeof(MemsetData) == 72);
static_assert(sizeof(BatchMemopData) == 48 && sizeof(ManagedData) == 40);
static_assert(sizeof(GraphExecData) == 32 && sizeof(GraphNodeData) == 184);
static_assert(sizeof(GraphLaunchData) == 40 && sizeof(EventData) == 32);
static_assert(sizeof(ExternalMemoryData) == 40);

// Whether the node belongs to an upload (nothing runs) and not to a launch.
inline bool graph_node_is_upload(Generation generation, const GraphNodeData& data) {
  constexpr std::size_t kOffset11_8 = 144;  // its union was smaller
  const std::size_t offset =
      generation == Generation::kCuda11_8 ? kOffset11_8 : offsetof(GraphNodeData, is_upload);
  const auto* bytes = reinterpret_cast<const unsigned char*>(&data) + offset;
  return (bytes[0] | bytes[1] | bytes[2] | bytes[3]) != 0;
}

}  // namespace drgpum::sanitizer

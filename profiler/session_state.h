// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a session remembers of contexts, streams, modules, launches and open calls.

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "profiler/api_traits.h"
#include "profiler/call_path.h"
#include "profiler/code_map.h"
#include "profiler/launch_memory.h"
#include "profiler/live_objects.h"
#include "profiler/map_plan.h"
#include "profiler/map_reduction.h"
#include "profiler/module_globals.h"
#include "profiler/pattern_kernels.h"
#include "profiler/pending_frees.h"
#include "proto/base/strong_id.h"
#include "proto/sanitizer/callback_data.h"
#include "proto/trace/record.h"

namespace drgpum::profiler {

// A launch's region: its LaunchSlot, the marks, the access sites, and where the objects' maps are;
// offsets in bytes.
struct SlotLayout {
  std::uint64_t marks;
  std::uint64_t sites;
  std::uint64_t maps;
  std::uint64_t bytes;
};
constexpr SlotLayout slot_layout(std::size_t objects, std::uint32_t sites, bool with_maps) {
  constexpr std::uint64_t kMarks = 128;  // keeps them on a cache line of their own
  const std::uint64_t at_sites = (kMarks + objects * sizeof(std::uint32_t) + 15) / 16 * 16;
  const std::uint64_t maps = at_sites + sites * sizeof(device::AccessSite);
  return {kMarks, at_sites, maps, maps + (with_maps ? objects * sizeof(device::ObjectMap) : 0)};
}

struct StreamState {
  StreamId id;
  ContextId context;
  trace::StreamKind kind = trace::StreamKind::kBlocking;
  sanitizer::StreamHandle handle = nullptr;
  sanitizer::Stream program_handle = nullptr;  // what the program calls it
  std::uint64_t done = 0;  // launches with `submitted` up to this number have finished
};

// One device copy of an ObjectTable; in use while a launch in flight searches it.
struct TableCopy {
  std::shared_ptr<const ObjectTable> table;
  Region region;
  std::unordered_set<const StreamState*> ready_on;  // streams whose later launches see the bytes
};

// Variables of modules and the objects told for them, in whichever order the two come.
struct GlobalNames {
  std::vector<ModuleGlobal> unclaimed;
  std::vector<std::pair<ObjectId, std::uint64_t>> unnamed;  // with their sizes
};

struct ContextState : std::enable_shared_from_this<ContextState> {
  ContextId id;
  DeviceId device;
  sanitizer::Context handle = nullptr;
  bool ends = false;  // a call that ends it was entered
  bool ended = false;
  bool patches_tried = false;
  bool patches_loaded = false;
  std::unordered_map<sanitizer::StreamHandle, StreamState> streams;
  std::uint64_t map_budget = 0;  // bytes for access maps; part of what the user allows
  LaunchMemory maps{0};
  LaunchMemory memory{0};
  LaunchMemory scratch{0};  // for the pattern kernels: launches find their room as if there were none
  GlobalNames globals;
  std::shared_ptr<TableCopy> table;  // the newest; gives its region back to `memory`
  bool memory_refused = false;       // the device had no room for another chunk
  bool reduces = false;  // maps may wait for the pattern kernels, which are there or being loaded
  std::shared_ptr<const PatternKernels> patterns;
  std::uint64_t maps_out = 0;       // bytes of maps of launches that have not been read back
  std::uint64_t most_maps_out = 0;  // the most so far
  std::uint64_t maps_waiting = 0;   // bytes of maps that wait to be reduced
  std::uint64_t unmapped_bytes = 0;  // of the program's on the device that have no address
};

struct DeviceModule {
  CubinId id;
  CodeMap code;  // inside the objects only
  ContextId context;
  bool patched = false;
  std::uint32_t cell_shift = 2;  // of access maps: 4 bytes unless narrower accesses are known of
};

struct KernelState {
  KernelId id;
  std::shared_ptr<DeviceModule> module;
  bool located = false;       // its module's code was asked for
  std::uint32_t sites = 512;  // entries for the access sites of the next launch, a power of two
  bool selected = true;
  bool told_unpatched = false;
  std::unordered_set<std::uint32_t> touched;  // objects, where maps are made
};

// The map of an object that a launch touched.
struct TouchedMap {
  const PlannedMap* plan = nullptr;
  std::uint32_t mark = 0;  // what the object saw
  bool reduced = false;
  ReducedMap map;
};

// What is recorded of a launch's maps, by object, and objects some of whose counts are full.
struct HarvestedMaps {
  std::vector<trace::AccessMapRecord> records;
  std::vector<std::pair<ObjectId, std::uint64_t>> full;  // with the number of cells
};

// A launch whose marks are still on the device.
struct LaunchInFlight {
  std::list<LaunchInFlight>::iterator self;
  ApiId api;
  std::shared_ptr<ContextState> context;
  StreamState* stream = nullptr;
  std::shared_ptr<const ObjectTable> objects;
  std::shared_ptr<TableCopy> table;
  Region region;
  MapPlan plan;  // no maps at object level
  Region map_region;
  sanitizer::Function function = nullptr;
  std::shared_ptr<DeviceModule> module;  // which may be unloaded by now
  std::uint32_t sites = 0;      // entries for access sites
  std::uint64_t code_base = 0;  // that they count from
  std::uint64_t header = 0;          // graph nodes: where the function's slot header lies
  std::vector<ApiId> same_function;  // further nodes that share the marks
  std::uint64_t submitted = 0;       // its place among submitted launches, from 1; 0: not yet
  bool taken = false;                // some thread is reading it back
  bool waits = false;                // its maps wait to be reduced on the device
};

// What the program holds on the device that is no range of addresses: arrays, physical memory.
struct HeldBytes {
  std::weak_ptr<ContextState> context;
  std::uint64_t bytes = 0;
};

struct GraphState {
  std::uint64_t id = 0;
  bool allocates = false;  // a node of it was seen to
};

struct EventState {
  EventId id;
  bool recorded = false;
  ApiId recorded_by;
  StreamState* stream = nullptr;
  std::uint64_t submitted = 0;  // launches submitted when it was recorded
};

// The outermost CUDA call that a thread is in, and the one call in it that matters.
struct OpenCall {
  const ApiTraits* outermost = nullptr;
  const void* outermost_parameters = nullptr;
  const ApiTraits* traits = nullptr;  // of the call with a role; null while none is open
  const void* parameters = nullptr;   // of that call
  std::uint32_t depth = 0;
  std::uint32_t role_depth = 0;
  std::uint64_t begin_ns = 0;
  std::uint64_t submitted = 0;  // launches submitted when the call with the role was entered
  std::uint64_t next_api = 0;   // id of the next API then
  bool issued = false;          // `api` is what the call with the role issued
  ApiId api;
  bool allocated = false;     // a resource callback told of the allocation
  std::uint64_t freeing = 0;  // address being freed
  LiveObject freed;           // what was there
  bool has_freed = false;
  StreamState* waits_for = nullptr;  // null: everything of the context
  bool makes_room = false;           // the tool takes no memory of the device until it returns
  DeviceId room_on;
  bool path_known = false;
  CallPathId path;
};

// One launch of a graph, while its nodes are told.
struct GraphReplay {
  std::uint64_t launch = 0;
  sanitizer::Stream stream = nullptr;
  sanitizer::StreamHandle stream_handle = nullptr;
  std::unordered_map<sanitizer::GraphNode, ApiId> nodes;
  std::vector<ApiId> dependencies;  // of the node being told
  std::vector<LaunchInFlight*> launches;
};

// Trivially destructible, so that calls made while a thread ends do no harm.
struct ThreadState {
  const void* owner = nullptr;  // the session that the rest belongs to
  ThreadId id;
  bool busy = false;  // inside our own code: callbacks that it causes are not the program's
  bool outside_callbacks = false;  // where a GPU's Sanitizer library allows CUDA calls
  OpenCall call;
  LaunchInFlight* launch = nullptr;  // between its begin and its end
  GraphReplay* replay = nullptr;     // owned
  std::uint64_t calls = 0;           // outermost calls so far
  std::uint64_t innermost = 0;       // return address in the program, of the last call path
  RecentEvents recent_events;
  RawCallPath raw;
};

}  // namespace drgpum::profiler

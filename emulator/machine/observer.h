// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the machine tells its observers (the stand-ins for the Sanitizer and CUPTI libraries), and
// what it does for them. libcuda.so.1 exports one symbol for it:
//     extern "C" drgpum::emulator::Machine* drgpum_emulator_machine();
// Handles are the driver API's (CUcontext, CUstream, CUmodule ...) as opaque pointers. All calls
// come on the thread that made the API call, and none while the machine's lock is held: an observer
// may call Machine from a callback. Both sides are built together; this is no stable ABI.

#include <cstddef>
#include <cstdint>
#include <span>

#include "emulator/exec/access_hook.h"
#include "emulator/exec/executor.h"
#include "proto/base/result.h"

namespace drgpum::emulator {

using Handle = void*;

enum class ApiDomain : std::uint8_t { kDriver, kRuntime };
enum class Site : std::uint8_t { kEnter, kExit };

// One call of a public API function. `id` is the public callback id of that function in its domain.
struct ApiCall {
  Site site = Site::kEnter;
  ApiDomain domain = ApiDomain::kDriver;
  std::uint32_t id = 0;
  const char* function = nullptr;    // "cuMemAlloc_v2"
  const void* parameters = nullptr;  // the public <function>_params struct
  void* return_value = nullptr;      // at exit: CUresult* or cudaError_t*
  const char* symbol = nullptr;      // launches: the kernel's mangled name
  Handle context = nullptr;
};

enum class Phase : std::uint8_t { kStarting, kFinished };

struct ContextEvent {
  bool creation = true;  // false: destruction
  Phase phase = Phase::kFinished;
  Handle context = nullptr;
  std::int32_t device = 0;
};

struct StreamEvent {
  bool creation = true;
  Handle context = nullptr;
  Handle stream = nullptr;  // as the program holds it; null and 1 and 2 are the default streams
  Handle unique = nullptr;  // distinct for every stream, default streams included
};

struct ModuleEvent {
  bool loaded = true;  // false: about to be unloaded
  Handle context = nullptr;
  Handle module = nullptr;
  std::span<const std::byte> image;  // the PTX text that is executed
};

enum MemoryFlags : std::uint32_t {
  kMemoryModule = 1,
  kMemoryManaged = 2,
  kMemoryHostMapped = 4,
  kMemoryHostPinned = 8,
  kMemoryPeer = 16,
};

enum class MemoryKind : std::uint8_t {
  kDeviceAlloc,
  kDeviceFree,
  kHostAlloc,
  kHostFree,
  kAsyncAlloc,
  kAsyncFree,
  kAsyncFreeDone,
  kVirtualReserve,
  kVirtualRelease
};

struct MemoryEvent {
  MemoryKind kind = MemoryKind::kDeviceAlloc;
  Handle context = nullptr;
  std::int32_t device = 0;
  std::uint64_t address = 0;
  std::uint64_t size = 0;
  std::uint32_t flags = 0;  // MemoryFlags
  Handle stream = nullptr;
  Handle unique_stream = nullptr;
  Handle pool = nullptr;
  Handle module = nullptr;  // module globals; else null
};

struct PoolEvent {
  bool creation = true;
  Handle context = nullptr;
  std::int32_t device = 0;
  Handle pool = nullptr;
};

struct ArrayEvent {
  bool creation = true;
  Handle context = nullptr;
  Handle array = nullptr;
  std::uint64_t width = 0, height = 0, depth = 0;
};

struct SynchronizeEvent {
  Handle context = nullptr;
  Handle stream = nullptr;  // null with whole_context
  Handle unique_stream = nullptr;
  bool whole_context = false;
};

enum class LaunchPhase : std::uint8_t { kBegin, kAfterSetup, kEnd };

struct LaunchEvent {
  LaunchPhase phase = LaunchPhase::kBegin;
  Handle context = nullptr;
  Handle stream = nullptr;
  Handle unique_stream = nullptr;
  Handle module = nullptr;
  Handle function = nullptr;
  const char* name = nullptr;  // mangled
  exec::Dim3 grid, block, cluster;
  std::uint32_t shared_bytes = 0;
  std::uint64_t grid_id = 0;
  Handle launch = nullptr;  // names this launch until its kEnd
  std::int32_t device = 0;
  std::uint32_t workers = 0;  // threads that run its blocks; 0: not known
  bool in_graph = false;      // a node of a graph launch
  // kBegin: an observer may put its hook here; it is used for this launch and must live until kEnd.
  exec::AccessHook** hook = nullptr;
};

struct CopyEvent {
  Handle source_context = nullptr, destination_context = nullptr;
  Handle source_stream = nullptr, destination_stream = nullptr;
  Handle unique_source_stream = nullptr, unique_destination_stream = nullptr;
  std::uint64_t source = 0, destination = 0;  // addresses; 0 for arrays
  std::uint64_t size = 0;                     // bytes of the whole copy
  std::uint64_t width = 0, height = 1, depth = 1;
  std::uint64_t source_pitch = 0, destination_pitch = 0;
  bool is_async = false;
  std::uint32_t direction =
      0;  // 0 unknown, 1 host to device, 2 device to host, 3 host to host, 4 device to device
};

struct SetEvent {
  Handle context = nullptr, stream = nullptr, unique_stream = nullptr;
  std::uint64_t address = 0, width = 0, height = 1, pitch = 0;
  std::uint32_t element_size = 1, value = 0;
  bool is_async = false;
};

enum class EventAction : std::uint8_t { kCreated, kDestroyed, kRecord, kStreamWait, kSynchronize };

struct EventEvent {
  EventAction action = EventAction::kCreated;
  Handle context = nullptr, event = nullptr, stream = nullptr, unique_stream = nullptr;
};

enum class GraphAction : std::uint8_t {
  kExecCreated,
  kExecDestroying,
  kLaunchBegin,
  kLaunchEnd,
  kNodeBegin,
  kNodeEnd
};

struct GraphEvent {
  GraphAction action = GraphAction::kExecCreated;
  Handle context = nullptr, graph = nullptr, exec = nullptr, node = nullptr, stream = nullptr,
         unique_stream = nullptr;
  std::uint64_t launch_id = 0;
  std::uint32_t node_type = 0;  // CUgraphNodeType
  const LaunchEvent* kernel = nullptr;
  const CopyEvent* copy = nullptr;
  const SetEvent* set = nullptr;
  const MemoryEvent* memory = nullptr;
};

// What happened on the device, in virtual time, once known: for the CUPTI stand-in.
struct ActivityEvent {
  enum class Kind : std::uint8_t {
    kKernel,
    kMemcpy,
    kMemset,
    kMemory,
    kSynchronize
  } kind = Kind::kKernel;
  std::uint64_t begin_ns = 0, end_ns = 0, bytes = 0, address = 0, grid_id = 0;
  Handle context = nullptr, stream = nullptr, unique_stream = nullptr;
  const char* name = nullptr;
  exec::Dim3 grid, block;
  std::uint32_t detail = 0;  // copy direction, memory operation, synchronisation scope
};

// Every callback does nothing unless overridden. One that throws ends the program: do not.
class Observer {
 public:
  virtual ~Observer() = default;
  // Whether CUDA calls that give a device work are refused while it is being told something.
  [[nodiscard]] virtual bool forbids_calls() const { return false; }
  virtual void on_api(const ApiCall&) {}
  virtual void on_context(const ContextEvent&) {}
  virtual void on_stream(const StreamEvent&) {}
  virtual void on_module(const ModuleEvent&) {}
  virtual void on_memory(const MemoryEvent&) {}
  virtual void on_pool(const PoolEvent&) {}
  virtual void on_array(const ArrayEvent&) {}
  virtual void on_synchronize(const SynchronizeEvent&) {}
  virtual void on_launch(const LaunchEvent&) {}
  virtual void on_copy(const CopyEvent&) {}
  virtual void on_set(const SetEvent&) {}
  virtual void on_event(const EventEvent&) {}
  virtual void on_graph(const GraphEvent&) {}
  virtual void on_managed_attach(Handle /*context*/, Handle /*stream*/, std::uint64_t /*address*/,
                                 std::uint64_t /*size*/) {}
  virtual void on_activity(const ActivityEvent&) {}
};

struct FunctionCode {
  std::uint64_t pc = 0;
  std::uint64_t size = 0;
  std::uint32_t index = 0;  // in the executable's program
};

// What the machine does for an observer. Nothing here is told to observers.
class Machine {
 public:
  virtual ~Machine() = default;
  // At most a few; told in order of addition.
  virtual void add_observer(Observer* observer) = 0;
  virtual void remove_observer(Observer* observer) = 0;

  // Runtime API calls, reported by the runtime stand-in.
  virtual void report_api(const ApiCall& call) = 0;

  // The observer's own device and pinned host memory: no events, not counted as the program's, but
  // taken from the same device size. 0 when the device is full.
  virtual std::uint64_t allocate_device(Handle context, std::uint64_t size) = 0;
  virtual bool free_device(Handle context, std::uint64_t address) = 0;
  virtual void* allocate_host(Handle context, std::uint64_t size) = 0;
  virtual bool free_host(Handle context, void* pointer) = 0;
  virtual Status copy_to_device(std::uint64_t destination, const void* source, std::uint64_t size,
                                Handle unique_stream) = 0;
  virtual Status copy_to_host(void* destination, std::uint64_t source, std::uint64_t size,
                              Handle unique_stream) = 0;
  virtual Status set(std::uint64_t destination, int value, std::uint64_t size,
                     Handle unique_stream) = 0;
  virtual Status synchronize(Handle unique_stream) = 0;

  // Where the host program stands in virtual time, in nanoseconds.
  virtual std::uint64_t now_ns() { return 0; }

  virtual Handle current_context() = 0;
  virtual Handle unique_stream(Handle context, Handle stream) = 0;
  virtual Handle stream_of(Handle unique_stream) = 0;

  virtual Result<FunctionCode> find_function(Handle module, const char* name) = 0;
  virtual const exec::Executable* executable_of(Handle module) = 0;
  // Loads a tool's image (a fatbin or PTX) with device globals of its own; for patches.
  virtual Result<const exec::Executable*> load_tool_image(Handle context,
                                                          std::span<const std::byte> image) = 0;
};

}  // namespace drgpum::emulator

extern "C" drgpum::emulator::Machine* drgpum_emulator_machine();

// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of the emulated machine. One lock guards all of it; no observer is called under it.

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "emulator/machine/access_log.h"
#include "emulator/machine/context.h"
#include "emulator/machine/device.h"
#include "emulator/machine/graph.h"
#include "emulator/machine/handle_set.h"
#include "emulator/machine/host_queue.h"
#include "emulator/machine/module.h"
#include "emulator/machine/observer.h"
#include "emulator/machine/settings.h"
#include "emulator/machine/texture.h"
#include "emulator/memory/device_memory.h"

namespace drgpum::emulator {

// Memory of the virtual memory interface, and what of an address range shows which part of it.
struct Physical {
  PhysicalMemory memory;
  std::uint32_t references = 1;  // handles and mappings
  std::uint32_t handles = 1;
  bool released = false;  // no handle is left
};

// What cuLink collects: PTX texts, and the one made of them.
struct LinkState {
  std::vector<std::string> texts;
  std::string linked;
  std::string errors;            // log
  char* error_buffer = nullptr;  // the program's, with room for `error_room` bytes
  std::size_t error_room = 0;
};

struct Mapping {
  std::uint64_t size = 0;
  std::uint64_t offset = 0;
  Physical* physical = nullptr;
  Block* block = nullptr;  // once access is granted
  CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_NONE;
};

class MachineCore final : public Machine {
 public:
  // The process's machine. It is there from the first call and never goes away.
  static MachineCore& instance();

  // Reads the settings and reserves memory; once. What it returned first it returns again.
  CUresult initialise();
  [[nodiscard]] bool is_initialised() const { return initialised_.load(std::memory_order_acquire); }

  [[nodiscard]] bool observed() const {
    return observer_count_.load(std::memory_order_relaxed) != 0;
  }
  // Calls `tell` with each observer, on this thread, which must not hold the lock.
  void tell_observers(const std::function<void(Observer&)>& tell);

  // A line about something the program has to know: on stderr, and in the status file as
  // "kind<TAB>text" for the launcher.
  void report_problem(std::string_view kind, std::string_view text);
  // Only with DRGPUM_EMULATOR_LOG.
  void log(std::string_view text) const;

  std::mutex& lock() { return lock_; }

  // Guarded by the lock.
  Settings settings;
  std::unique_ptr<DeviceMemory> memory;
  std::unique_ptr<AccessLog> access_log;  // nullptr: none
  std::deque<Device> devices;
  HandleSet<Context> contexts;  // those alive
  HandleSet<Stream> streams;
  HandleSet<Event> events;
  HandleSet<Module> modules;
  HandleSet<Library> libraries;
  HandleSet<Pool> pools;
  HandleSet<Array> arrays;
  HandleSet<MipmappedArray> mipmapped_arrays;
  Textures textures;
  HandleSet<Graph> graphs;
  HandleSet<GraphExec> graph_execs;
  HandleSet<Capture> captures;
  HandleSet<UserObject> user_objects;
  HandleSet<LinkState> links;
  HandleSet<Physical> physicals;
  std::unordered_map<const void*, Function*> functions;
  std::unordered_map<const void*, Kernel*> kernels;
  std::map<std::uint64_t, std::uint64_t> reservations;  // address -> size
  std::map<std::uint64_t, Mapping> mappings;            // by address
  std::uint64_t next_code_address = 0x5000'0000'0000;
  std::uint64_t next_grid_id = 1;

  // Thread safe on their own.
  HostClock clock;
  HostQueue host_queue;
  std::uint64_t next_id() { return next_id_.fetch_add(1, std::memory_order_relaxed); }

  // Takes a context out of use; what holds its handle finds it gone.
  void retire(Context* context);

  Context* context_of_thread() const;  // nullptr for none
  std::vector<Context*>& context_stack() const;
  // The stream that a handle means in a context; nullptr for a bad handle.
  Stream* resolve_stream(Context& context, const void* handle, bool per_thread_default);

  // Machine
  void add_observer(Observer* observer) override;
  void remove_observer(Observer* observer) override;
  void report_api(const ApiCall& call) override;
  std::uint64_t allocate_device(Handle context, std::uint64_t size) override;
  bool free_device(Handle context, std::uint64_t address) override;
  void* allocate_host(Handle context, std::uint64_t size) override;
  bool free_host(Handle context, void* pointer) override;
  Status copy_to_device(std::uint64_t destination, const void* source, std::uint64_t size,
                        Handle unique_stream) override;
  Status copy_to_host(void* destination, std::uint64_t source, std::uint64_t size,
                      Handle unique_stream) override;
  Status set(std::uint64_t destination, int value, std::uint64_t size,
             Handle unique_stream) override;
  Status synchronize(Handle unique_stream) override;
  std::uint64_t now_ns() override { return clock.now(); }
  Handle current_context() override;
  Handle unique_stream(Handle context, Handle stream) override;
  Handle stream_of(Handle unique_stream) override;
  Result<FunctionCode> find_function(Handle module, const char* name) override;
  const exec::Executable* executable_of(Handle module) override;
  Result<const exec::Executable*> load_tool_image(Handle context,
                                                  std::span<const std::byte> image) override;

 private:
  MachineCore() = default;
  CUresult start();

  using Observers = std::vector<Observer*>;
  std::mutex lock_;
  std::mutex start_lock_;
  std::mutex observers_lock_;
  std::shared_ptr<const Observers> observers_ = std::make_shared<Observers>();
  std::atomic<std::size_t> observer_count_{0};
  std::atomic<bool> initialised_{false};
  CUresult start_result_ = CUDA_ERROR_NOT_INITIALIZED;
  bool started_ = false;
  std::atomic<std::uint64_t> next_id_{1};
  std::vector<std::unique_ptr<Context>> retired_;
  std::vector<std::unique_ptr<Module>> tool_modules_;
};

// True while this thread runs an observer's callback: calls made from there are not reported.
bool inside_observer();
// And when that observer is not to give devices work.
bool calls_are_forbidden();

// Holds the machine's lock. What is to be told to observers is kept until the lock is free.
class Section {
 public:
  explicit Section(MachineCore& core) : core_(core), held_(core.lock()) {}
  ~Section();
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;

  MachineCore& core() { return core_; }

  // When the section ends.
  template <typename Tell>
  void tell(Tell tell) {
    if (core_.observed()) later_.emplace_back(std::move(tell));
  }
  // Now, with the lock free meanwhile; what was kept for later goes first.
  template <typename Tell>
  void tell_now(Tell tell) {
    if (!core_.observed()) return;
    later_.emplace_back(std::move(tell));
    flush();
  }
  // Waits for host functions, with the lock free meanwhile.
  void await(std::uint64_t ticket);

 private:
  void flush();

  MachineCore& core_;
  std::unique_lock<std::mutex> held_;
  std::vector<std::function<void(Observer&)>> later_;
};

}  // namespace drgpum::emulator

// SPDX-License-Identifier: Apache-2.0
#pragma once
// One profiled process: callbacks of the Sanitizer library in, trace records out. One lock guards
// all state; it is never held while the library is called, so that the driver's locks and ours
// cannot block each other. Nothing throws out of here, ends the program or prints.

#include <atomic>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

#include "profiler/host_modules.h"
#include "profiler/kernel_filter.h"
#include "profiler/map_reader.h"
#include "profiler/options.h"
#include "profiler/python_frames.h"
#include "profiler/recorder.h"
#include "profiler/reduction_queue.h"
#include "profiler/session_state.h"
#include "profiler/told.h"
#include "proto/sanitizer/abi.h"

namespace drgpum::profiler {

class Session {
 public:
  struct Setup {
    sanitizer::SanitizerApi api{};
    sanitizer::Generation generation = sanitizer::Generation::kCuda12_4;
    std::string abi;  // for a person: what the probe found
    Options options;
    KernelFilter filter;
    std::unique_ptr<trace::TraceWriter> writer;
    std::string trace_path;
    std::uint64_t start_ns = 0;  // monotonic; times in the trace count from here
    PythonInterpreter python;
  };

  explicit Session(Setup setup);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // What sanitizer::Callback is called with, in the numbers of the library.
  void on_callback(sanitizer::Domain domain, std::uint32_t id, const void* data) noexcept;

  // What the program says about itself.
  void on_told(Told told) noexcept;

  // Reads back what is still on the device; waits for its streams. For the start of exit().
  void drain() noexcept;
  // Ends the trace. Later callbacks are ignored.
  void finish(bool exit_code_known, int exit_code) noexcept;
  // In a forked child: no record is written any more.
  void abandon() noexcept;

  [[nodiscard]] const MapTraffic& map_traffic() const { return map_traffic_; }

  // Empty, or why recording stopped.
  [[nodiscard]] std::string failure() const;

 private:
  using Lock = std::unique_lock<std::mutex>;
  using ContextPointer = std::shared_ptr<ContextState>;
  using Patience = std::chrono::milliseconds;  // with maps that are just being reduced
  static constexpr Patience kPatience{30'000};  // where the driver holds no lock

  // session.cpp: dispatch, contexts, streams, and what all others need.
  void dispatch(ThreadState& thread, sanitizer::Domain domain, std::uint32_t id, const void* data);
  void on_resource(ThreadState& thread, std::uint32_t id, const void* data);
  void disable(const std::string& why) noexcept;
  ThreadState& this_thread();
  [[nodiscard]] std::uint64_t now() const;
  ContextPointer context_of(const Lock&, sanitizer::Context handle, int device = -1);
  ContextPointer create_context(const Lock&, sanitizer::Context handle, int device,
                                const trace::DeviceRecord* described);
  void on_context_created(const sanitizer::ContextData& data);
  void on_context_destroyed(ThreadState& thread, const sanitizer::ContextData& data);
  StreamState& stream_of(const Lock&, ThreadState& thread, ContextState& context,
                         sanitizer::Stream stream, sanitizer::StreamHandle handle);
  void on_stream(ThreadState& thread, const sanitizer::StreamData& data, bool created);
  CallPathId call_path(const Lock&, ThreadState& thread);
  trace::GpuApi new_api(const Lock&, ThreadState& thread, trace::ApiKind kind,
                        const ContextState& context, const char* fallback_name);
  void cover(trace::CoverageKind kind, std::string text, std::optional<ApiId> api = std::nullopt,
             std::uint64_t count = 1, ObjectId object = trace::kNoObject);

  // session_end.cpp: how a recording ends.
  void drain_all();

  // session_calls.cpp: entering and leaving API functions.
  void on_call(ThreadState& thread, sanitizer::Domain domain, std::uint32_t id,
               const sanitizer::ApiData& data);
  const ApiTraits& traits_of_call(sanitizer::Domain domain, std::uint32_t id, const char* name);
  void on_role_enter(ThreadState& thread, const sanitizer::ApiData& data);
  void on_role_exit(ThreadState& thread, const sanitizer::ApiData& data, std::int32_t error);
  void issue_synchronize(const Lock&, ThreadState& thread, ContextState& context, bool query);
  void finish_synchronize(ThreadState& thread, const sanitizer::ApiData& data, std::int32_t error);
  void finish_query(ThreadState& thread, const sanitizer::ApiData& data, std::int32_t error);
  void issue_mark(ThreadState& thread, const sanitizer::ApiData& data);

  // session_objects.cpp: allocations and frees.
  void on_memory(ThreadState& thread, std::uint32_t id, const sanitizer::MemoryData& data);
  void on_allocation(ThreadState& thread, std::uint32_t id, const sanitizer::MemoryData& data);
  void on_free(ThreadState& thread, std::uint32_t id, const sanitizer::MemoryData& data);
  void add_object(const Lock&, ThreadState& thread, const ContextState& context,
                  trace::ObjectRecord object, std::uint64_t requested, const StreamState* stream);
  void end_object(const Lock&, const LiveObject& object);
  void name_globals(const Lock&, ContextState& context);
  void issue_free(const Lock&, ThreadState& thread, const ContextState& context,
                  std::uint64_t address, const StreamState* stream);
  void enter_free(ThreadState& thread, const sanitizer::ApiData& data);
  void exit_free(ThreadState& thread, const sanitizer::ApiData& data, std::int32_t error);
  void exit_allocation(ThreadState& thread, const sanitizer::ApiData& data, std::int32_t error);
  void on_array(ThreadState& thread, const sanitizer::ArrayData& data, bool created);
  void note_texture(const OpenCall& call);
  void on_external_memory(ThreadState& thread, std::uint32_t id,
                          const sanitizer::ExternalMemoryData& data);

  // session_copies.cpp: copies, sets, events.
  void on_copy(ThreadState& thread, const sanitizer::MemcpyData& data);
  void on_set(ThreadState& thread, const sanitizer::MemsetData& data);
  void on_event(ThreadState& thread, std::uint32_t id, const sanitizer::EventData& data);
  trace::Region region_at(std::uint64_t address, std::uint64_t bytes, bool is_host) const;

  // session_told.cpp: pools, blocks, names and marks that the program tells of.
  void take(const Lock&, ThreadState& thread, const Told& told);
  void take_what_waited(const Lock&);
  void mark(const Lock&, ThreadState& thread, const Told& told);
  [[nodiscard]] const ContextState* context_with(const Lock&, ContextId id) const;
  void add_part(const Lock&, ThreadState& thread, const Told& told);
  void issue_part(const Lock&, ThreadState& thread, const Told& told, const ContextState& context,
                  LiveObject part);
  void free_part(const Lock&, ThreadState& thread, const char* call, const LiveObject& part);
  void end_pool(const Lock&, ThreadState& thread, const Told& told);
  void end_block(const Lock&, ThreadState& thread, const Told& told);
  void request_free(const Lock&, ThreadState& thread, const char* call, const LiveObject& block);
  void event_has_come(const Lock&, ThreadState& thread, sanitizer::Event event);
  void give_name(const Lock&, ObjectId object, const std::string& name);
  void name_object(const Lock&, const Told& told);
  void name_stream(const Lock&, const Told& told);
  void label(const Lock&, ThreadState& thread, const Told& told);
  void end_orphans(const Lock&, std::uint64_t begin, std::uint64_t end);
  void settle_told(const Lock&);

  // session_modules.cpp: device modules.
  void on_module(const sanitizer::ModuleData& data);
  void on_module_unload(const sanitizer::ModuleData& data);
  std::string save_image(const std::string& hash, const sanitizer::ModuleData& data);
  bool patch(const ContextPointer& context, const sanitizer::ModuleData& data);
  bool load_patches(const ContextPointer& context);
  void forget_kernels_of(const Lock&, const DeviceModule& module);
  void forget_modules_of(const Lock&, const ContextState& context);

  // session_launch.cpp: kernels, launches.
  std::shared_ptr<KernelState> kernel_of(const Lock&, const sanitizer::LaunchData& data);
  void on_launch(ThreadState& thread, std::uint32_t id, const sanitizer::LaunchData& data);
  void begin_launch(ThreadState& thread, const sanitizer::LaunchData& data);
  void end_launch(ThreadState& thread);
  void disarm(const ThreadState& thread, const sanitizer::LaunchData& data);
  bool wants_launch(const Lock&, KernelState& kernel, const trace::GpuApi& api);
  void plan_maps_of(Lock& lock, LaunchInFlight& launch, const KernelState& kernel);
  bool arm(Lock& lock, LaunchInFlight& launch, KernelState& kernel,
           const sanitizer::LaunchData& data);
  bool upload(const LaunchInFlight& launch, bool with_table, const sanitizer::LaunchData& data);
  bool upload_maps(const LaunchInFlight& launch, device::LaunchSlot* slot,
                   sanitizer::StreamHandle stream);
  void drop_launch(const Lock&, LaunchInFlight* launch);

  // session_memory.cpp: the tool's memory on a device.
  std::optional<Region> reserve(Lock& lock, ContextState& context, LaunchMemory& memory,
                                std::uint64_t bytes);
  std::optional<Region> add_chunk(Lock& lock, ContextState& context, LaunchMemory& memory,
                                  std::uint64_t bytes);
  ScratchMemory scratch_memory();
  std::optional<Region> reserve_scratch(ContextState& context, std::uint64_t bytes);
  void make_room(ThreadState& thread, const sanitizer::ApiData& data);
  void room_was_made(ThreadState& thread);
  std::uint64_t bytes_held(const Lock&, DeviceId device) const;
  std::uint64_t bytes_used(const Lock&, DeviceId device) const;
  bool may_be_short(const Lock&, const ContextState& context, std::uint64_t asked,
                    bool is_guess) const;
  bool has_room(sanitizer::Context context, std::uint64_t bytes);
  void give_back(const ContextPointer& context, bool may_wait);
  void hold_bytes(const Lock&, const ContextPointer& context, std::uint64_t handle,
                  std::uint64_t bytes);
  void release_bytes(const Lock&, std::uint64_t handle);
  void note_physical(const sanitizer::ApiData& data, const OpenCall& call);
  void free_chunks(Lock& lock, const ContextState& context,
                   const std::vector<std::uint64_t>& chunks);

  // session_sites.cpp: where in kernels accesses happen.
  void plan_sites(Lock& lock, LaunchInFlight& launch, KernelState& kernel,
                  const sanitizer::LaunchData& data);
  void locate_code(Lock& lock, KernelState& kernel, const sanitizer::LaunchData& data);
  void write_sites(const Lock&, const LaunchInFlight& launch, const unsigned char* bytes);
  CodeFunction* function_at(const Lock&, DeviceModule& module, std::uint64_t address);

  // session_graphs.cpp: graph launches.
  void on_graph(ThreadState& thread, std::uint32_t id, const void* data);
  void read_dependencies(const sanitizer::GraphExecData& data);
  void forget_graph(const sanitizer::GraphExecData& data);
  void begin_graph(ThreadState& thread, const sanitizer::GraphLaunchData& data);
  void end_graph(ThreadState& thread);
  void note_allocation(sanitizer::GraphExec exec);
  void begin_node(ThreadState& thread, const sanitizer::GraphNodeData& node);
  std::optional<std::uint64_t> graph_header(Lock& lock, ContextState& context,
                                            sanitizer::Function function);
  bool share_marks(const Lock&, ThreadState& thread, sanitizer::Function function, ApiId api);

  // session_harvest.cpp: reading marks back.
  void note_done(const Lock&, const ContextState& context, const StreamState* stream,
                 std::uint64_t submitted);
  void harvest();
  void read_back(const std::vector<LaunchInFlight*>& launches);
  bool write_marks(const Lock& lock, LaunchInFlight* launch, const unsigned char* bytes);
  void write_accesses(const Lock&, const LaunchInFlight& launch, const unsigned char* bytes);
  void drain_context(const ContextPointer& context);
  void harvest_late(const ContextPointer& context);

  // session_maps.cpp: access maps of launches that are read back.
  void make_patterns_ready(const ContextPointer& context);
  bool may_wait(const Lock&, const LaunchInFlight& launch) const;
  bool leave_waiting(const Lock&, LaunchInFlight* launch, const unsigned char* bytes);
  void reduce_waiting(ReductionQueue::Work& work) noexcept;
  void load_patterns(ContextState& context);
  void do_waiting(ReductionQueue::Work& work, MapReader& reader, bool may_launch);
  void settle_maps(const ContextPointer& context, Patience patience);
  void settle_context(sanitizer::Context handle, Patience patience, bool ends);
  void note_touched(const Lock&, const LaunchInFlight& launch, const unsigned char* bytes);
  void write_maps(const Lock&, const LaunchInFlight& launch, const unsigned char* bytes,
                  const HarvestedMaps& maps);

  const Setup setup_;
  const sanitizer::SanitizerApi& api_ = setup_.api;
  const Options& options_ = setup_.options;
  std::atomic<bool> closed_{false};
  std::atomic<bool> ends_{false};      // exit() has begun
  std::atomic<bool> draining_{false};  // its thread reads back; others give way
  std::atomic<bool> told_of_instructions_{false};
  mutable std::mutex mutex_;  // guards everything below
  std::mutex patch_mutex_;    // serialises patch calls; taken before mutex_, if both
  mutable std::mutex harvest_mutex_;  // one thread reads back at a time; before mutex_, if both
  Recorder recorder_;
  std::string failure_;
  HostModules host_modules_;
  CallPaths call_paths_;
  PythonFrames python_frames_;
  LiveObjects live_;
  LaunchSampler sampler_;
  std::unordered_map<sanitizer::Context, ContextPointer> contexts_;
  std::vector<ContextPointer> past_contexts_;  // streams and launches may still point into them
  ContextPointer last_context_;
  std::unordered_map<std::uint32_t, std::uint64_t> device_bytes_;  // of devices already described
  std::unordered_map<sanitizer::Module, std::shared_ptr<DeviceModule>> modules_;
  std::unordered_map<sanitizer::Function, std::shared_ptr<KernelState>> kernels_;
  std::unordered_map<sanitizer::Event, EventState> events_;
  std::unordered_map<sanitizer::Array, ObjectId> arrays_;
  std::unordered_set<std::string> saved_images_;
  std::list<LaunchInFlight> in_flight_;  // in the order of their launches
  std::uint64_t submitted_ = 0;          // launches so far that reached their stream
  std::uint64_t unsampled_ = 0;
  std::unordered_map<std::uint64_t, HeldBytes> held_bytes_;  // by handle
  std::unordered_map<std::uint32_t, std::uint64_t> rooms_being_made_;  // calls, by device
  std::unordered_map<sanitizer::GraphExec, GraphState> graphs_;
  std::unordered_map<sanitizer::Function, std::uint64_t> graph_headers_;  // device addresses
  std::unordered_map<sanitizer::GraphExec,
                     std::unordered_map<sanitizer::GraphNode, std::vector<sanitizer::GraphNode>>>
      graph_dependencies_;
  std::uint64_t next_graph_ = 0;
  std::uint64_t next_graph_launch_ = 0;
  bool capturing_ = true;             // inside what bounds the recording
  std::uint64_t open_captures_ = 0;   // ranges that bound it
  std::uint64_t told_elsewhere_ = 0;  // pools, blocks and names in memory that is not known
  PendingFrees pending_;
  std::uint32_t next_object_ = 0;
  std::uint32_t next_context_ = 0;
  std::uint32_t next_stream_ = 0;
  std::uint32_t next_event_ = 0;
  std::uint32_t next_kernel_ = 0;
  std::uint32_t next_cubin_ = 0;
  std::atomic<std::uint32_t> next_thread_{0};
  std::uint64_t block_sampled_ = 0;     // launches
  MapTraffic map_traffic_;
  std::vector<unsigned char> staging_;  // under harvest_mutex_, as is the next
  MapReader reader_;
  MapReader waiting_reader_;   // of the thread that reduces
  ReductionQueue reductions_;  // last: its thread uses the others
};

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#include "profiler/session.h"

#include <algorithm>
#include <ctime>
#include <exception>
#include <type_traits>

#include "profiler/device_info.h"
#include "profiler/unwind_rule.h"

namespace drgpum::profiler {
namespace {

using sanitizer::Domain;

std::uint64_t monotonic_ns() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

template <typename T>
const T& as(const void* data) {
  return *static_cast<const T*>(data);
}

// Handles 0, 1 and 2 name the default streams.
trace::StreamKind kind_of_stream(sanitizer::Stream stream, const OpenCall& call) {
  const auto handle = reinterpret_cast<std::uintptr_t>(stream);
  if (handle == 1) return trace::StreamKind::kLegacyDefault;
  if (handle == 2) return trace::StreamKind::kPerThreadDefault;
  const ApiTraits* traits = call.outermost;
  if (handle == 0) {
    return traits != nullptr && traits->per_thread_default ? trace::StreamKind::kPerThreadDefault
                                                           : trace::StreamKind::kLegacyDefault;
  }
  constexpr std::uint32_t kNonBlockingFlag = 1;  // cudaStreamNonBlocking, CU_STREAM_NON_BLOCKING
  const bool flagged = call.traits != nullptr && call.traits->role == ApiRole::kCreateStream &&
                       (parameter_word(call.parameters, 1) & kNonBlockingFlag) != 0;
  return flagged ? trace::StreamKind::kNonBlocking : trace::StreamKind::kBlocking;
}

// A thread that calls without a pause would take the locks again and again, and the exit would have
// to wait for it.
void give_way() {
  constexpr timespec kMoment{0, 100'000};
  nanosleep(&kMoment, nullptr);
}

}  // namespace

Session::Session(Setup setup)
    : setup_(std::move(setup)),
      recorder_(std::move(const_cast<Setup&>(setup_).writer)),
      python_frames_(setup_.python),
      sampler_(setup_.options),
      capturing_(setup_.options.capture_range.empty()),
      reader_(setup_.api, setup_.options, scratch_memory(), &map_traffic_),
      waiting_reader_(setup_.api, setup_.options, scratch_memory(), &map_traffic_),
      reductions_([this](ReductionQueue::Work& work) { reduce_waiting(work); }) {}

Session::~Session() = default;

std::uint64_t Session::now() const {
  return monotonic_ns() - setup_.start_ns;
}

std::string Session::failure() const {
  const Lock lock(mutex_);
  return failure_;
}

ThreadState& Session::this_thread() {
  // Calls come from destructors of static objects too, when those of thread_local objects are over.
  static_assert(std::is_trivially_destructible_v<ThreadState>);
  thread_local ThreadState state;
  if (state.owner != this) {
    state = ThreadState{};
    state.owner = this;
    state.id = ThreadId{next_thread_++};
  }
  return state;
}

void Session::on_callback(Domain domain, std::uint32_t id, const void* data) noexcept {
  if (closed_.load(std::memory_order_acquire)) return;
  ThreadState& thread = this_thread();
  if (thread.busy) return;
  if (draining_.load(std::memory_order_relaxed)) give_way();
  thread.busy = true;
  try {
    dispatch(thread, domain, sanitizer::canonical_id(setup_.generation, domain, id), data);
  } catch (const std::exception& error) {
    disable(error.what());
  } catch (...) {
    disable("unknown failure");
  }
  thread.busy = false;
}

void Session::disable(const std::string& why) noexcept {
  closed_.store(true, std::memory_order_release);
  try {
    const Lock lock(mutex_);
    if (!failure_.empty()) return;
    failure_ = why;
    cover(trace::CoverageKind::kToolDisabled, why);
    recorder_.finish();
  } catch (...) {
    closed_.store(true, std::memory_order_release);  // nothing more can be told
  }
}

void Session::dispatch(ThreadState& thread, Domain domain, std::uint32_t id, const void* data) {
  using namespace sanitizer;
  switch (domain) {
    case Domain::kDriverApi:
    case Domain::kRuntimeApi:
      return on_call(thread, domain, id, as<ApiData>(data));
    case Domain::kResource:
      return on_resource(thread, id, data);
    case Domain::kLaunch:
      return on_launch(thread, id, as<LaunchData>(data));
    case Domain::kMemcpy:
      return id == kMemcpyStarting ? on_copy(thread, as<MemcpyData>(data)) : void();
    case Domain::kMemset:
      return id == kMemsetStarting ? on_set(thread, as<MemsetData>(data)) : void();
    case Domain::kEvents:
      return on_event(thread, id, as<EventData>(data));
    case Domain::kGraphs:
      return on_graph(thread, id, data);
    case Domain::kExternalMemory:
      return on_external_memory(thread, id, as<ExternalMemoryData>(data));
    default:
      return;  // synchronisations are recorded from the calls that ask for them
  }
}

void Session::on_resource(ThreadState& thread, std::uint32_t id, const void* data) {
  using namespace sanitizer;
  switch (id) {
    case kContextCreationFinished:
      return on_context_created(as<ContextData>(data));
    case kContextDestroyStarting:
      return on_context_destroyed(thread, as<ContextData>(data));
    case kStreamCreated:
      return on_stream(thread, as<StreamData>(data), true);
    case kStreamDestroyStarting:
      return on_stream(thread, as<StreamData>(data), false);
    case kModuleLoaded:
      return on_module(as<ModuleData>(data));
    case kModuleUnloadStarting:
      return on_module_unload(as<ModuleData>(data));
    case kDeviceMemoryAlloc:
    case kDeviceMemoryFree:
    case kHostMemoryAlloc:
    case kHostMemoryFree:
    case kMemoryAllocAsync:
    case kMemoryFreeAsync:
    case kPoolImportPointer:
      return on_memory(thread, id, as<MemoryData>(data));
    case kArrayCreated:
    case kArrayDestroyed:
      return on_array(thread, as<ArrayData>(data), id == kArrayCreated);
    default:
      return;
  }
}

void Session::on_context_created(const sanitizer::ContextData& data) {
  const DeviceId device{static_cast<std::uint32_t>(data.device)};
  trace::DeviceRecord described = describe_device(device);
  ContextPointer context;
  {
    const Lock lock(mutex_);
    if (contexts_.contains(data.context)) return;
    context = create_context(lock, data.context, data.device, &described);
  }
  make_patterns_ready(context);
}

Session::ContextPointer Session::create_context(const Lock& lock, sanitizer::Context handle,
                                                int device, const trace::DeviceRecord* described) {
  auto context = std::make_shared<ContextState>();
  context->id = ContextId{next_context_++};
  context->device = DeviceId{static_cast<std::uint32_t>(std::max(device, 0))};
  context->handle = handle;
  if (!device_bytes_.contains(context->device.value)) {
    trace::DeviceRecord record = described == nullptr ? trace::DeviceRecord{} : *described;
    record.id = context->device;
    record.kind = options_.emulated ? trace::DeviceKind::kEmulated : trace::DeviceKind::kGpu;
    record.sanitizer_abi = setup_.abi;
    device_bytes_[context->device.value] = record.memory_bytes;
    recorder_.write(record);
  }
  constexpr std::uint64_t kLeastBudget = 64 << 20;
  constexpr std::uint64_t kShare = 20;  // of the device's memory, as --map-memory says
  const std::uint64_t share = device_bytes_[context->device.value] / kShare;
  const std::uint64_t budget =
      options_.map_memory != 0 ? options_.map_memory : std::max(share, kLeastBudget);
  // Inside the objects, a quarter goes to the slots and what reduces maps, the rest to the maps.
  const bool inside = options_.mode == Mode::kIntra;
  const std::uint64_t scratch = inside ? budget / 32 : 0;
  context->map_budget = inside ? budget / 4 * 3 : 0;
  context->memory = LaunchMemory(budget - context->map_budget - scratch);
  context->scratch = LaunchMemory(scratch);
  context->maps = LaunchMemory(context->map_budget);
  recorder_.write(trace::ContextRecord{context->id, context->device});
  contexts_[handle] = context;
  last_context_ = context;
  take_what_waited(lock);
  return context;
}

// A context that nobody told of, or none at all, is taken as it comes: the program may have made it
// before the tool was there.
Session::ContextPointer Session::context_of(const Lock& lock, sanitizer::Context handle,
                                            int device) {
  if (handle == nullptr && last_context_ != nullptr) return last_context_;
  const auto found = contexts_.find(handle);
  if (found != contexts_.end()) return found->second;
  return create_context(lock, handle, device, nullptr);
}

void Session::on_context_destroyed(ThreadState&, const sanitizer::ContextData& data) {
  // As a rule done when the call was entered; the driver may hold what the other thread needs.
  settle_context(data.context, Patience{1000}, true);
  const Lock lock(mutex_);
  const auto found = contexts_.find(data.context);
  if (found == contexts_.end()) return;
  const ContextPointer context = found->second;
  context->ended = true;
  recorder_.write_after_kept(trace::ContextEndRecord{context->id, recorder_.next_api()});
  live_.remove_of_context(context->id);
  forget_modules_of(lock, *context);
  contexts_.erase(found);
  past_contexts_.push_back(context);
  if (last_context_ == context) last_context_.reset();
}

StreamState& Session::stream_of(const Lock&, ThreadState& thread, ContextState& context,
                                sanitizer::Stream stream, sanitizer::StreamHandle handle) {
  // Without a handle of its own, a stream is told from others by what the program calls it.
  const auto [entry, is_new] =
      context.streams.try_emplace(handle != nullptr ? handle : stream, StreamState{});
  StreamState& state = entry->second;
  if (is_new) {
    state.id = StreamId{next_stream_++};
    state.context = context.id;
    state.handle = handle;
    state.program_handle = stream;
    state.kind = kind_of_stream(stream, thread.call);
    recorder_.write(trace::StreamRecord{state.id, context.id, state.kind, ""});
  }
  return state;
}

void Session::on_stream(ThreadState& thread, const sanitizer::StreamData& data, bool created) {
  const Lock lock(mutex_);
  const ContextPointer context = context_of(lock, data.context);
  StreamState& stream = stream_of(lock, thread, *context, data.stream, data.stream_handle);
  if (created) return;
  recorder_.write_after_kept(trace::StreamEndRecord{stream.id, recorder_.next_api()});
  // Launches in flight keep pointing at the state, so it moves aside instead of going away.
  auto node =
      context->streams.extract(data.stream_handle != nullptr ? data.stream_handle : data.stream);
  node.key() = &stream;
  context->streams.insert(std::move(node));
}

CallPathId Session::call_path(const Lock&, ThreadState& thread) {
  if (thread.call.depth != 0 && thread.call.path_known) return thread.call.path;
  capture_call_path(&thread.raw);
  const ModuleChanges changes = host_modules_.refresh();
  for (const ModuleId module : changes.unloaded) {
    recorder_.write(trace::HostModuleEndRecord{module, recorder_.next_api()});
  }
  if (!changes.unloaded.empty()) {
    call_paths_.forget();
    forget_unwind_rules();
  }
  for (const HostModule& module : changes.loaded) {
    recorder_.write(trace::HostModuleRecord{module.id, module.path, module.build_id, module.begin,
                                            module.end, module.load_bias, recorder_.next_api()});
  }
  const auto native = program_part({thread.raw.frames.data(), thread.raw.count}, host_modules_);
  thread.innermost = native.empty() ? 0 : native.front();
  const auto frames = python_frames_.merged(native);
  for (trace::SourceFrameRecord& frame : python_frames_.take_new()) {
    recorder_.write(std::move(frame));
  }
  const CallPaths::Interned path = call_paths_.intern(frames);
  if (path.is_new) {
    recorder_.write(trace::CallPathRecord{path.id, {frames.begin(), frames.end()}});
  }
  // The runtime call that started the tool was entered before it could be told of.
  if (thread.call.outermost != nullptr && !thread.call.outermost->is_runtime && path.is_new) {
    const std::string name =
        runtime_function({thread.raw.frames.data(), thread.raw.count}, native, host_modules_);
    if (!name.empty()) thread.call.outermost = &remember_traits(name);
  }
  thread.call.path = path.id;
  thread.call.path_known = true;
  return path.id;
}

trace::GpuApi Session::new_api(const Lock& lock, ThreadState& thread, trace::ApiKind kind,
                               const ContextState& context, const char* fallback_name) {
  trace::GpuApi api;
  api.kind = kind;
  api.context = context.id;
  api.thread = thread.id;
  const OpenCall& call = thread.call;
  api.call_path = call_path(lock, thread);
  api.name = call.depth != 0 && call.outermost != nullptr ? call.outermost->name : fallback_name;
  api.host_begin_ns = call.depth != 0 ? call.begin_ns : now();
  if (thread.replay != nullptr) {
    api.name = fallback_name;
    api.graph_launch = thread.replay->launch;
    api.depends_on = thread.replay->dependencies;
  }
  return api;
}

void Session::cover(trace::CoverageKind kind, std::string text, std::optional<ApiId> api,
                    std::uint64_t count, ObjectId object) {
  const trace::CoverageRecord record{kind, api, object, count, std::move(text)};
  if (api) return recorder_.write_about(*api, record);
  recorder_.write_after_kept(record);
}

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
// Kernels and launches: arming each launch with its slot.

#include <algorithm>
#include <cstring>

#include "profiler/session.h"
#include "proto/device/mark_access.h"

namespace drgpum::profiler {

using sanitizer::Code;

std::shared_ptr<KernelState> Session::kernel_of(const Lock&, const sanitizer::LaunchData& data) {
  std::shared_ptr<KernelState>& known = kernels_[data.function];
  if (known != nullptr) return known;
  known = std::make_shared<KernelState>();
  KernelState& kernel = *known;
  kernel.id = KernelId{next_kernel_++};
  const auto module = modules_.find(data.module);
  kernel.module = module == modules_.end() ? nullptr : module->second;
  const std::string name = data.function_name == nullptr ? "" : data.function_name;
  kernel.selected = setup_.filter.passes(name);
  const CubinId cubin = kernel.module == nullptr ? CubinId{trace::kNoId} : kernel.module->id;
  recorder_.write(trace::KernelRecord{kernel.id, cubin, name});
  return known;
}

bool Session::wants_launch(const Lock&, KernelState& kernel, const trace::GpuApi& api) {
  if (!capturing_ || !kernel.selected || !sampler_.takes(kernel.id, api.call_path)) {
    ++unsampled_;
    return false;
  }
  if (kernel.module != nullptr && kernel.module->patched) return true;
  if (!kernel.told_unpatched) {
    cover(trace::CoverageKind::kUnpatchedKernel, "a kernel whose module could not be patched");
  }
  kernel.told_unpatched = true;
  return false;
}

void Session::on_launch(ThreadState& thread, std::uint32_t id, const sanitizer::LaunchData& data) {
  if (id == sanitizer::kLaunchBegin) return begin_launch(thread, data);
  if (id == sanitizer::kLaunchEnd) return end_launch(thread);
}

void Session::begin_launch(ThreadState& thread, const sanitizer::LaunchData& data) {
  Lock lock(mutex_);
  const ContextPointer context = context_of(lock, data.context, data.device);
  StreamState& stream = stream_of(lock, thread, *context, data.stream, data.stream_handle);
  // Kept while the lock is not held: another thread may end the context.
  const std::shared_ptr<KernelState> known_kernel = kernel_of(lock, data);
  KernelState& kernel = *known_kernel;
  trace::GpuApi api = new_api(lock, thread, trace::ApiKind::kLaunch, *context, "kernel launch");
  api.stream = stream.id;
  trace::LaunchApi payload;
  payload.kernel = kernel.id;
  for (int i = 0; i < 3; ++i) {
    payload.grid[i] = data.grid[i];
    payload.block[i] = data.block[i];
    payload.cluster[i] = std::max<std::uint32_t>(data.cluster[i], 1);
  }
  if (thread.call.outermost != nullptr && thread.call.depth == 1) {
    payload.shared_bytes =
        dynamic_shared_bytes(*thread.call.outermost, thread.call.outermost_parameters);
  }
  payload.instrumented = wants_launch(lock, kernel, api);
  api.payload = payload;
  const bool observed = payload.instrumented;
  const ApiId issued = recorder_.issue(std::move(api));
  if (thread.replay != nullptr && observed && share_marks(lock, thread, data.function, issued)) {
    return;
  }
  if (!observed) {
    lock.unlock();
    disarm(thread, data);
    return;
  }
  LaunchInFlight& launch = in_flight_.emplace_back();
  launch.self = std::prev(in_flight_.end());
  launch.api = issued;
  launch.context = context;
  launch.stream = &stream;
  launch.objects = live_.table();
  thread.launch = &launch;
  launch.function = data.function;
  if (thread.replay != nullptr) {
    launch.header = graph_header(lock, *context, data.function).value_or(0);
  }
  const bool has_user_data = thread.replay == nullptr || launch.header != 0;
  if (has_user_data && arm(lock, launch, kernel, data)) return;
  if (trace::GpuApi* kept = recorder_.kept(issued)) {
    std::get<trace::LaunchApi>(kept->payload).instrumented = false;
  }
  drop_launch(lock, &launch);
  thread.launch = nullptr;
  cover(trace::CoverageKind::kSlotsFull,
        context->memory_refused ? "the device had no memory left for the launch's marks"
                                : "no launch slot was free; a synchronisation frees them",
        issued);
}

bool Session::arm(Lock& lock, LaunchInFlight& launch, KernelState& kernel,
                  const sanitizer::LaunchData& data) {
  ContextState& context = *launch.context;
  const std::size_t objects = launch.objects->ranges.size();
  if (context.table != nullptr && context.table->table != launch.objects) context.table.reset();
  if (options_.mode == Mode::kIntra) {
    plan_sites(lock, launch, kernel, data);
    plan_maps_of(lock, launch, kernel);
  }
  const auto region =
      reserve(lock, context, context.memory,
              slot_layout(objects, launch.sites, !launch.plan.maps.empty()).bytes);
  if (!region) return false;
  launch.region = *region;
  if (context.table == nullptr || context.table->table != launch.objects) {
    const auto place = reserve(lock, context, context.memory,
                               std::max<std::size_t>(objects, 1) * sizeof(device::ObjectRange));
    if (!place) return false;
    context.table = std::shared_ptr<TableCopy>(
        new TableCopy{launch.objects, *place, {}}, [&context](TableCopy* done) {
          context.memory.release(done->region);  // the last user holds the lock
          delete done;
        });
  }
  launch.table = context.table;
  const bool with_table = !launch.table->ready_on.contains(launch.stream);
  lock.unlock();
  const bool uploaded = upload(launch, with_table, data);
  lock.lock();
  if (uploaded) launch.table->ready_on.insert(launch.stream);
  return uploaded;
}

// Several launches may be in flight, so one takes no more than a part of the budget; less where the
// device itself has no room.
void Session::plan_maps_of(Lock& lock, LaunchInFlight& launch, const KernelState& kernel) {
  constexpr std::uint64_t kLaunchesInFlight = 4;
  constexpr std::uint64_t kLeast = 64 << 10;  // bytes
  ContextState& context = *launch.context;
  const std::uint32_t cell_shift = kernel.module == nullptr ? 2 : kernel.module->cell_shift;
  for (std::uint64_t limit = context.map_budget / kLaunchesInFlight; limit != 0; limit /= 4) {
    launch.plan = plan_maps(*launch.objects, cell_shift, limit,
                            [&](ObjectId id) { return kernel.touched.contains(id.value); });
    if (launch.plan.maps.empty()) return;
    if (const auto region = reserve(lock, context, context.maps, launch.plan.bytes)) {
      launch.map_region = *region;
      context.maps_out += region->bytes;
      context.most_maps_out = std::max(context.most_maps_out, context.maps_out);
      return;
    }
    if (!context.memory_refused || launch.plan.bytes <= kLeast) break;
    limit = std::min(limit, launch.plan.bytes);
  }
  launch.plan = {};
  cover(trace::CoverageKind::kSlotsFull,
        "no memory was free for the launch's access maps; its accesses are known by object",
        launch.api);
}

// On the launch's own stream, so that the kernel finds the bytes and other streams go on. The same
// table may be written by several streams: the bytes are equal.
bool Session::upload(const LaunchInFlight& launch, bool with_table,
                     const sanitizer::LaunchData& data) {
  const auto pointer = [](std::uint64_t address) { return reinterpret_cast<void*>(address); };
  const std::vector<device::ObjectRange>& ranges = launch.objects->ranges;
  if (with_table && !ranges.empty()) {
    auto* source = const_cast<device::ObjectRange*>(ranges.data());
    if (api_.memcpy_host_to_device_async(pointer(launch.table->region.address), source,
                                         ranges.size() * sizeof(device::ObjectRange),
                                         data.stream_handle) != Code::kSuccess) {
      return false;
    }
  }
  device::LaunchSlot slot{};
  slot.version = device::kLayoutVersion;
  slot.object_count = static_cast<std::uint32_t>(ranges.size());
  slot.objects = launch.table->region.address;
  const SlotLayout layout = slot_layout(ranges.size(), launch.sites, !launch.plan.maps.empty());
  slot.marks = launch.region.address + layout.marks;
  slot.block_every = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(options_.block_every, std::uint32_t{UINT32_MAX}));
  if (launch.sites != 0) {
    slot.sites = launch.region.address + layout.sites;
    slot.code_base = device::site_step(launch.code_base);
    slot.site_mask = launch.sites - 1;
    slot.site_shift = device::site_shift(slot.object_count);
  }
  if (!launch.plan.maps.empty() && !upload_maps(launch, &slot, data.stream_handle)) return false;
  // Small slots go in one transfer with their zeros; large ones are cleared on the device.
  constexpr std::size_t kSmall = 16 << 10;
  const std::size_t zeros = layout.maps - layout.marks;  // marks and sites
  std::vector<unsigned char> bytes(zeros <= kSmall ? layout.marks + zeros : sizeof slot);
  std::memcpy(bytes.data(), &slot, sizeof slot);
  if (zeros > kSmall &&
      api_.memset(pointer(slot.marks), 0, zeros, data.stream_handle) != Code::kSuccess) {
    return false;
  }
  void* const address = pointer(launch.region.address);
  if (api_.memcpy_host_to_device_async(address, bytes.data(), bytes.size(), data.stream_handle) !=
      Code::kSuccess) {
    return false;
  }
  if (launch.header != 0) {
    return api_.memcpy_host_to_device_async(pointer(launch.header), &slot, sizeof slot,
                                            data.stream_handle) == Code::kSuccess;
  }
  return api_.set_launch_callback_data(data.launch, data.function, data.stream_handle, address) ==
         Code::kSuccess;
}

// A launch that is not observed, of a function that graphs gave user data: that data is theirs.
void Session::disarm(const ThreadState& thread, const sanitizer::LaunchData& data) {
  std::uint64_t header = 0;
  {
    const Lock lock(mutex_);
    const auto known = graph_headers_.find(data.function);
    if (known == graph_headers_.end()) return;
    header = known->second;
  }
  if (thread.replay == nullptr) {
    static_cast<void>(
        api_.set_launch_callback_data(data.launch, data.function, data.stream_handle, nullptr));
    return;
  }
  device::LaunchSlot nothing{};
  static_cast<void>(api_.memcpy_host_to_device_async(reinterpret_cast<void*>(header), &nothing,
                                                     sizeof nothing, data.stream_handle));
}

// On a GPU the headers of all nodes are written before the graph runs, so the nodes of one function
// share the marks of the first.
bool Session::share_marks(const Lock&, ThreadState& thread, sanitizer::Function function,
                          ApiId api) {
  if (options_.emulated) return false;  // each node runs before the next is told
  for (LaunchInFlight* launch : thread.replay->launches) {
    if (launch->function != function) continue;
    launch->same_function.push_back(api);
    return true;
  }
  return false;
}

// The maps' memory, cleared, and their addresses behind the marks.
bool Session::upload_maps(const LaunchInFlight& launch, device::LaunchSlot* slot,
                          sanitizer::StreamHandle stream) {
  const auto pointer = [](std::uint64_t address) { return reinterpret_cast<void*>(address); };
  const std::size_t objects = launch.objects->ranges.size();
  std::vector<device::ObjectMap> maps =
      device_maps(launch.plan, objects, launch.map_region.address);
  slot->maps = launch.region.address + slot_layout(objects, launch.sites, true).maps;
  return api_.memset(pointer(launch.map_region.address), 0, launch.plan.bytes, stream) ==
             Code::kSuccess &&
         api_.memcpy_host_to_device_async(pointer(slot->maps), maps.data(),
                                          maps.size() * sizeof maps[0], stream) == Code::kSuccess;
}

void Session::end_launch(ThreadState& thread) {
  if (thread.launch == nullptr) return;
  ContextPointer context;
  {
    const Lock lock(mutex_);
    context = thread.launch->context;
    thread.launch->submitted = ++submitted_;
    thread.launch = nullptr;
  }
  harvest_late(context);
}

void Session::drop_launch(const Lock&, LaunchInFlight* launch) {
  if (launch->region.bytes != 0) launch->context->memory.release(launch->region);
  if (launch->map_region.bytes != 0) {
    ContextState& context = *launch->context;
    context.maps.release(launch->map_region);
    (launch->waits ? context.maps_waiting : context.maps_out) -= launch->map_region.bytes;
  }
  in_flight_.erase(launch->self);
}

}  // namespace drgpum::profiler

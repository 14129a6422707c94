// SPDX-License-Identifier: Apache-2.0
// Device modules, kernels and launches: patching, and arming each launch with its slot.

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/session.h"
#include "proto/device/mark_access.h"
#include "proto/device/patches.h"
#include "proto/sanitizer/patching.h"

namespace drgpum::profiler {
namespace {

using sanitizer::Code;
using sanitizer::Instruction;

// Two FNV-1a sums from different seeds: names images, guards against nothing.
std::string hash_of(const char* bytes, std::size_t size) {
  std::uint64_t sums[2] = {0xcbf29ce484222325ull, 0x84222325cbf29ce4ull};
  for (std::size_t i = 0; i < size; ++i) {
    for (std::uint64_t& sum : sums) {
      sum = (sum ^ static_cast<unsigned char>(bytes[i])) * 0x100000001b3ull;
    }
    sums[1] ^= sums[0] >> 29;
  }
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(sums[0]),
                static_cast<unsigned long long>(sums[1]));
  return text;
}

bool write_new_file(const std::string& path, const char* bytes, std::size_t size) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) return false;
  std::size_t written = 0;
  while (written < size) {
    const ssize_t count = write(file, bytes + written, size - written);
    if (count <= 0) break;
    written += static_cast<std::size_t>(count);
  }
  close(file);
  return written == size;
}

}  // namespace

void Session::on_module(const sanitizer::ModuleData& data) {
  ContextPointer context;
  trace::CubinRecord record;
  {
    const Lock lock(mutex_);
    context = context_of(lock, data.context);
    record.id = CubinId{next_cubin_++};
  }
  record.context = context->id;
  record.size = data.image_size;
  const bool has_image = data.image != nullptr && data.image_size != 0;
  if (has_image) {
    record.hash = hash_of(data.image, data.image_size);
    record.saved_as = save_image(record.hash, data);
  }
  auto module = std::make_shared<DeviceModule>();
  module->id = record.id;
  module->context = record.context;
  module->patched = patch(context, data);
  if (has_image && options_.mode == Mode::kIntra && module->patched) {
    module->code = CodeMap({data.image, data.image_size});
  }
  if (has_image) module->cell_shift = narrowest_access_shift({data.image, data.image_size});
  std::vector<ModuleGlobal> globals;
  if (has_image) globals = globals_in_ptx({data.image, data.image_size});
  const Lock lock(mutex_);
  recorder_.write(record);
  // What an earlier module did not claim belongs to it alone.
  context->globals.unclaimed = std::move(globals);
  name_globals(lock, *context);
  context->globals.unnamed.clear();
  auto& known = modules_[data.module];
  if (known != nullptr) forget_kernels_of(lock, *known);
  known = std::move(module);
}

void Session::on_module_unload(const sanitizer::ModuleData& data) {
  const Lock lock(mutex_);
  const auto found = modules_.find(data.module);
  if (found == modules_.end()) return;
  forget_kernels_of(lock, *found->second);
  modules_.erase(found);
}

// The driver may give their handles to others. Launches that use them keep what they need.
void Session::forget_kernels_of(const Lock&, const DeviceModule& module) {
  std::erase_if(graph_headers_, [&](const auto& entry) {
    const auto kernel = kernels_.find(entry.first);
    return kernel != kernels_.end() && kernel->second->module.get() == &module;
  });
  std::erase_if(kernels_, [&](const auto& entry) { return entry.second->module.get() == &module; });
}

// A context takes its modules with it, and the driver need not tell of each.
void Session::forget_modules_of(const Lock& lock, const ContextState& context) {
  std::erase_if(modules_, [&](const auto& entry) {
    if (entry.second->context != context.id) return false;
    forget_kernels_of(lock, *entry.second);
    return true;
  });
}

// Beside the trace, once for each content; "" when it could not be written.
std::string Session::save_image(const std::string& hash, const sanitizer::ModuleData& data) {
  const std::string folder = setup_.trace_path + ".modules";
  const auto slash = setup_.trace_path.rfind('/');
  const std::string beside =
      (slash == std::string::npos ? folder : folder.substr(slash + 1)) + "/" + hash;
  {
    const Lock lock(mutex_);
    if (saved_images_.contains(hash)) return beside;
  }
  mkdir(folder.c_str(), 0755);
  const std::string path = folder + "/" + hash;
  const bool saved = write_new_file(path, data.image, data.image_size) ||
                     (options_.replace_output && access(path.c_str(), R_OK) == 0);
  if (!saved) return "";
  const Lock lock(mutex_);
  saved_images_.insert(hash);
  return beside;
}

bool Session::load_patches(const ContextPointer& context) {
  if (context->patches_tried) return context->patches_loaded;
  context->patches_tried = true;
  // PTX is all that the emulated device takes; a GPU gets machine code where its driver can read
  // it.
  Code code = Code::kUnknown;
  if (!options_.emulated) code = api_.add_patches(device::patch_image().data(), context->handle);
  if (code != Code::kSuccess) {
    code = api_.add_patches(device::portable_patch_image().data(), context->handle);
  }
  context->patches_loaded = code == Code::kSuccess;
  if (!context->patches_loaded) {
    const Lock lock(mutex_);
    cover(trace::CoverageKind::kUnpatchedKernel,
          "the Sanitizer library refused the patches (code " +
              std::to_string(static_cast<unsigned>(code)) + "); no kernel's accesses are known");
  }
  return context->patches_loaded;
}

bool Session::patch(const ContextPointer& context, const sanitizer::ModuleData& data) {
  if (!setup_.filter.passes_all() && data.image != nullptr) {
    const auto names = kernel_names_in({data.image, data.image_size});
    const bool none_selected =
        !names.empty() && std::none_of(names.begin(), names.end(), [&](const std::string& name) {
          return setup_.filter.passes(name);
        });
    if (none_selected) return false;
  }
  const std::lock_guard patching(patch_mutex_);
  if (!load_patches(context)) return false;
  const device::PatchNames& names =
      options_.mode == Mode::kIntra ? device::kMapPatches : device::kMarkPatches;
  const auto request = [&](Instruction instruction, const char* function) {
    return api_.patch_instructions(instruction, data.module, function) == Code::kSuccess;
  };
  const bool has_global = request(Instruction::kGlobalAccess, names.global);
  bool has_all = request(Instruction::kAsyncCopy, names.async_copy);
  has_all &= request(Instruction::kBulkGlobalToShared, names.bulk_load);
  has_all &= request(Instruction::kBulkSharedToGlobal, names.bulk_store);
  has_all &= request(Instruction::kBulkReduceToGlobal, names.bulk_reduce);
  request(Instruction::kDeviceMalloc, device::kDeviceMallocPatch);
  request(Instruction::kDeviceFree, device::kDeviceFreePatch);
  const bool patched = has_global && api_.patch_module(data.module) == Code::kSuccess;
  // The emulated device runs no instruction that it cannot report.
  if (patched && !has_all && !options_.emulated && !told_of_instructions_.exchange(true)) {
    const Lock lock(mutex_);
    cover(trace::CoverageKind::kUnknownInstruction,
          "the Sanitizer library reports no bulk copies (cp.async.bulk, TMA)");
  }
  return patched;
}

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

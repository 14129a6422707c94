// SPDX-License-Identifier: Apache-2.0
// Which callback belongs to which event of the machine.
#include "emulator/sanitizer/reporter.h"

#include <cstring>

#include <cuda.h>

#include "emulator/sanitizer/callback_structs.h"

namespace drgpum::emulator::sanitizer {
namespace {

namespace abi = drgpum::sanitizer;

abi::ResourceId id_of(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kDeviceAlloc:
      return abi::kDeviceMemoryAlloc;
    case MemoryKind::kDeviceFree:
      return abi::kDeviceMemoryFree;
    case MemoryKind::kHostAlloc:
      return abi::kHostMemoryAlloc;
    case MemoryKind::kHostFree:
      return abi::kHostMemoryFree;
    case MemoryKind::kAsyncAlloc:
      return abi::kMemoryAllocAsync;
    case MemoryKind::kAsyncFree:
      return abi::kMemoryFreeAsync;
    case MemoryKind::kAsyncFreeDone:
      return abi::kMemoryFreeAsyncDone;
    case MemoryKind::kVirtualReserve:
      return abi::kVirtualReserve;
    case MemoryKind::kVirtualRelease:
      return abi::kVirtualRelease;
  }
  return abi::kDeviceMemoryAlloc;
}

abi::LaunchId id_of(LaunchPhase phase) {
  switch (phase) {
    case LaunchPhase::kBegin:
      return abi::kLaunchBegin;
    case LaunchPhase::kAfterSetup:
      return abi::kLaunchAfterSyscallSetup;
    case LaunchPhase::kEnd:
      return abi::kLaunchEnd;
  }
  return abi::kLaunchEnd;
}

abi::EventId id_of(EventAction action) {
  switch (action) {
    case EventAction::kCreated:
      return abi::kEventCreated;
    case EventAction::kDestroyed:
      return abi::kEventDestroyed;
    case EventAction::kRecord:
      return abi::kEventRecord;
    case EventAction::kStreamWait:
      return abi::kEventStreamWait;
    case EventAction::kSynchronize:
      return abi::kEventSynchronize;
  }
  return abi::kEventSynchronize;
}

bool succeeded(const ApiCall& call) {
  CUresult result = CUDA_ERROR_UNKNOWN;
  if (call.return_value != nullptr) std::memcpy(&result, call.return_value, sizeof result);
  return result == CUDA_SUCCESS;
}

}  // namespace

void Reporter::on_api(const ApiCall& call) {
  const bool runtime = call.domain == ApiDomain::kRuntime;
  const abi::ApiData data{
      .site = call.site == Site::kEnter ? abi::ApiSite::kEnter : abi::ApiSite::kExit,
      .function_name = call.function,
      .parameters = call.parameters,
      .return_value = call.site == Site::kExit ? call.return_value : nullptr,
      .symbol_name = call.symbol,
      .context = call.context};
  gate_.fire(runtime ? Domain::kRuntimeApi : Domain::kDriverApi, call.id, &data);
  const bool ends_init = !runtime && call.site == Site::kExit &&
                         std::strcmp(call.function, "cuInit") == 0 && succeeded(call);
  if (ends_init && !initialized_.exchange(true))
    gate_.fire(Domain::kResource, abi::kInitFinished, nullptr);
}

void Reporter::on_context(const ContextEvent& event) {
  const abi::ContextData data{event.context, event.device};
  const bool starting = event.phase == Phase::kStarting;
  if (event.creation) {
    gate_.fire(Domain::kResource,
               starting ? abi::kContextCreationStarting : abi::kContextCreationFinished, &data);
    return;
  }
  gate_.fire(Domain::kResource,
             starting ? abi::kContextDestroyStarting : abi::kContextDestroyFinished, &data);
  if (!starting) patches_.context_destroyed(event.context);
}

void Reporter::on_stream(const StreamEvent& event) {
  abi::StreamData data{event.context, event.stream, event.unique};
  if (event.creation) return gate_.fire(Domain::kResource, abi::kStreamCreated, &data);
  gate_.fire(Domain::kResource, abi::kStreamDestroyStarting, &data);
  data.stream = nullptr;
  gate_.fire(Domain::kResource, abi::kStreamDestroyFinished, &data);
}

void Reporter::on_module(const ModuleEvent& event) {
  const abi::ModuleData data{.context = event.context,
                             .module = event.module,
                             .image_size = event.image.size(),
                             .image = reinterpret_cast<const char*>(event.image.data()),
                             .library = nullptr};
  if (event.loaded) {
    patches_.module_loaded(event.context, event.module);
    return gate_.fire(Domain::kResource, abi::kModuleLoaded, &data);
  }
  gate_.fire(Domain::kResource, abi::kModuleUnloadStarting, &data);
  patches_.module_unloading(event.module);
}

void Reporter::on_memory(const MemoryEvent& event) {
  if (event.kind == MemoryKind::kVirtualReserve || event.kind == MemoryKind::kVirtualRelease) {
    const abi::VirtualRangeData range{event.address, event.size};
    return gate_.fire(Domain::kResource, id_of(event.kind), &range);
  }
  const abi::MemoryData data = struct_of(event);
  gate_.fire(Domain::kResource, id_of(event.kind), &data);
}

void Reporter::on_pool(const PoolEvent& event) {
  const abi::PoolData data{event.pool, event.device, event.device};
  gate_.fire(Domain::kResource, event.creation ? abi::kPoolCreated : abi::kPoolDestroying, &data);
}

void Reporter::on_array(const ArrayEvent& event) {
  const abi::ArrayData data{event.context, event.array, event.width, event.height, event.depth};
  gate_.fire(Domain::kResource, event.creation ? abi::kArrayCreated : abi::kArrayDestroyed, &data);
}

void Reporter::on_synchronize(const SynchronizeEvent& event) {
  const abi::SynchronizeData data{event.context, event.stream, event.unique_stream};
  gate_.fire(Domain::kSynchronize,
             event.whole_context ? abi::kContextSynchronized : abi::kStreamSynchronized, &data);
}

void Reporter::on_launch(const LaunchEvent& event) {
  if (event.phase == LaunchPhase::kBegin) patches_.begin_launch(event);
  const abi::LaunchData data = struct_of(event);
  gate_.fire(Domain::kLaunch, id_of(event.phase), &data);
  if (event.phase == LaunchPhase::kBegin && event.hook != nullptr)
    if (exec::AccessHook* hook = patches_.arm_launch(event)) *event.hook = hook;
  if (event.phase == LaunchPhase::kEnd) patches_.end_launch(event);
}

void Reporter::on_copy(const CopyEvent& event) {
  const abi::MemcpyData data = struct_of(event);
  gate_.fire(Domain::kMemcpy, abi::kMemcpyStarting, &data);
}

void Reporter::on_set(const SetEvent& event) {
  const abi::MemsetData data = struct_of(event);
  gate_.fire(Domain::kMemset, abi::kMemsetStarting, &data);
}

void Reporter::on_event(const EventEvent& event) {
  const abi::EventData data{event.event, event.context, event.stream, event.unique_stream};
  gate_.fire(Domain::kEvents, id_of(event.action), &data);
}

void Reporter::on_graph(const GraphEvent& event) {
  switch (event.action) {
    case GraphAction::kExecCreated: {
      abi::GraphExecData data{event.graph, nullptr, 0, 0, nullptr};
      gate_.fire(Domain::kGraphs, abi::kGraphExecCreating, &data);
      data.exec = event.exec;
      return gate_.fire(Domain::kGraphs, abi::kGraphExecCreated, &data);
    }
    case GraphAction::kExecDestroying: {
      const abi::GraphExecData data{event.graph, event.exec, 0, 0, nullptr};
      return gate_.fire(Domain::kGraphs, abi::kGraphExecDestroying, &data);
    }
    case GraphAction::kLaunchBegin:
    case GraphAction::kLaunchEnd: {
      const abi::GraphLaunchData data{event.context, event.stream, event.unique_stream, event.exec,
                                      0};
      const bool begin = event.action == GraphAction::kLaunchBegin;
      return gate_.fire(Domain::kGraphs, begin ? abi::kGraphLaunchBegin : abi::kGraphLaunchEnd,
                        &data);
    }
    case GraphAction::kNodeBegin:
    case GraphAction::kNodeEnd:
      return fire_node(event);
  }
}

void Reporter::fire_node(const GraphEvent& event) {
  abi::GraphNodeData data{};
  data.exec = event.exec;
  data.launch_id = static_cast<std::uint32_t>(event.launch_id);
  data.node = event.node;
  data.node_type = event.node_type;
  if (event.kernel != nullptr) data.launch = struct_of(*event.kernel);
  if (event.copy != nullptr) data.copy = struct_of(*event.copy);
  if (event.set != nullptr) data.set = struct_of(*event.set);
  if (event.memory != nullptr) {
    if (event.node_type == CU_GRAPH_NODE_TYPE_MEM_FREE)
      data.freed_address = event.memory->address;
    else
      data.allocation = struct_of(*event.memory);
  }
  const bool begin = event.action == GraphAction::kNodeBegin;
  if (begin && event.kernel != nullptr) patches_.begin_launch(*event.kernel);
  gate_.fire(Domain::kGraphs, begin ? abi::kGraphNodeLaunchBegin : abi::kGraphNodeLaunchEnd, &data);
  if (event.kernel == nullptr) return;
  if (!begin) return patches_.end_launch(*event.kernel);
  if (event.kernel->hook != nullptr)
    if (exec::AccessHook* hook = patches_.arm_launch(*event.kernel)) *event.kernel->hook = hook;
}

void Reporter::on_managed_attach(Handle context, Handle stream, std::uint64_t address,
                                 std::uint64_t /*size*/) {
  abi::ManagedData data{};
  data.context = context;
  data.visibility = stream == nullptr ? abi::Visibility::kGlobal : abi::Visibility::kStream;
  data.stream = stream;
  data.stream_handle = machine_->unique_stream(context, stream);
  data.address = address;
  gate_.fire(Domain::kManaged, abi::kAttachMemory, &data);
}

}  // namespace drgpum::emulator::sanitizer

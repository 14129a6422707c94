// SPDX-License-Identifier: Apache-2.0
// Graph launches: a bracket, then the nodes that run, in the order in which the driver tells them.
// Kernels of a graph take their user data from the function, not from the launch: a slot header at
// a fixed address says where this replay's marks go.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include <dlfcn.h>

#include "profiler/session.h"

namespace drgpum::profiler {
namespace {

using sanitizer::Code;

// CUgraphNodeType, from the driver API's reference.
enum NodeType : std::uint32_t {
  kKernelNode = 0,
  kCopyNode = 1,
  kSetNode = 2,
  kHostNode = 3,
  kAllocNode = 10,
  kFreeNode = 11,
};

using Nodes = std::vector<sanitizer::GraphNode>;

// cuGraphGetNodes, cuGraphNodeGetDependencies: both fill a list for a handle.
Nodes ask_driver(const char* function, void* handle) {
  using Function = int(void*, sanitizer::GraphNode*, std::size_t*);
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return {};
  auto* const ask = reinterpret_cast<Function*>(dlsym(driver, function));
  dlclose(driver);
  std::size_t count = 0;
  if (ask == nullptr || ask(handle, nullptr, &count) != 0 || count == 0) return {};
  Nodes nodes(count);
  if (ask(handle, nodes.data(), &count) != 0) return {};
  nodes.resize(count);
  return nodes;
}

}  // namespace

void Session::on_graph(ThreadState& thread, std::uint32_t id, const void* data) {
  switch (id) {
    case sanitizer::kGraphLaunchBegin:
      return begin_graph(thread, *static_cast<const sanitizer::GraphLaunchData*>(data));
    case sanitizer::kGraphExecDestroying:
      return forget_graph(*static_cast<const sanitizer::GraphExecData*>(data));
    case sanitizer::kGraphExecCreated:
      return read_dependencies(*static_cast<const sanitizer::GraphExecData*>(data));
    case sanitizer::kGraphLaunchEnd:
      return end_graph(thread);
    case sanitizer::kGraphNodeLaunchBegin: {
      const auto& node = *static_cast<const sanitizer::GraphNodeData*>(data);
      if (thread.replay == nullptr) return;
      if (!sanitizer::graph_node_is_upload(setup_.generation, node)) begin_node(thread, node);
      return;
    }
    default:
      return;
  }
}

// Asked of the emulated device only: the Sanitizer API forbids driver calls in callbacks, so on a
// GPU the nodes of a launch count as unordered.
void Session::read_dependencies(const sanitizer::GraphExecData& data) {
  if (!options_.emulated) return;
  std::unordered_map<sanitizer::GraphNode, Nodes> dependencies;
  for (const sanitizer::GraphNode node : ask_driver("cuGraphGetNodes", data.graph)) {
    dependencies[node] = ask_driver("cuGraphNodeGetDependencies", node);
  }
  const Lock lock(mutex_);
  graph_dependencies_[data.exec] = std::move(dependencies);
}

// The driver may give its handle to another.
void Session::forget_graph(const sanitizer::GraphExecData& data) {
  const Lock lock(mutex_);
  graphs_.erase(data.exec);
  graph_dependencies_.erase(data.exec);
}

void Session::begin_graph(ThreadState& thread, const sanitizer::GraphLaunchData& data) {
  if (data.is_upload != 0) return;
  const Lock lock(mutex_);
  const ContextPointer context = context_of(lock, data.context);
  StreamState& stream = stream_of(lock, thread, *context, data.stream, data.stream_handle);
  const auto [graph, is_new] = graphs_.try_emplace(data.exec, GraphState{next_graph_});
  if (is_new) ++next_graph_;
  trace::GpuApi api =
      new_api(lock, thread, trace::ApiKind::kGraphLaunch, *context, "cudaGraphLaunch");
  api.stream = stream.id;
  const std::uint64_t launch = next_graph_launch_++;
  api.payload = trace::GraphLaunchApi{graph->second.id, launch};
  recorder_.issue(std::move(api));
  delete thread.replay;  // one that never ended
  thread.replay = new GraphReplay{launch, data.stream, data.stream_handle, {}, {}, {}};
}

void Session::end_graph(ThreadState& thread) {
  if (thread.replay == nullptr) return;
  const std::unique_ptr<GraphReplay> replay(std::exchange(thread.replay, nullptr));
  ContextPointer context;
  {
    const Lock lock(mutex_);
    ++submitted_;
    for (LaunchInFlight* launch : replay->launches) {
      launch->submitted = submitted_;
      context = launch->context;
    }
  }
  if (context != nullptr) harvest_late(context);
}

void Session::note_allocation(sanitizer::GraphExec exec) {
  const Lock lock(mutex_);
  const auto graph = graphs_.find(exec);
  if (graph != graphs_.end()) graph->second.allocates = true;
}

void Session::begin_node(ThreadState& thread, const sanitizer::GraphNodeData& node) {
  GraphReplay& replay = *thread.replay;
  replay.dependencies.clear();
  ApiId next;
  {
    const Lock lock(mutex_);
    next = recorder_.next_api();
    for (const sanitizer::GraphNode before : graph_dependencies_[node.exec][node.node]) {
      const auto known = replay.nodes.find(before);
      if (known != replay.nodes.end()) replay.dependencies.push_back(known->second);
    }
  }
  std::sort(replay.dependencies.begin(), replay.dependencies.end());
  switch (node.node_type) {
    case kKernelNode:
      begin_launch(thread, node.launch);
      if (thread.launch != nullptr) replay.launches.push_back(thread.launch);
      thread.launch = nullptr;
      break;
    case kCopyNode:
      on_copy(thread, node.copy);
      break;
    case kSetNode:
      on_set(thread, node.set);
      break;
    case kAllocNode:
      note_allocation(node.exec);
      on_allocation(thread, sanitizer::kMemoryAllocAsync, node.allocation);
      break;
    case kFreeNode: {
      const Lock lock(mutex_);
      const ContextPointer context = context_of(lock, nullptr);
      issue_free(lock, thread, *context, node.freed_address,
                 &stream_of(lock, thread, *context, replay.stream, replay.stream_handle));
      break;
    }
    case kHostNode: {
      const Lock lock(mutex_);
      const ContextPointer context = context_of(lock, nullptr);
      trace::GpuApi api =
          new_api(lock, thread, trace::ApiKind::kHostFunction, *context, "host function");
      api.payload = trace::HostFunctionApi{};
      recorder_.issue(std::move(api));
      break;
    }
    default:
      return;  // empty nodes, child graphs, events: nothing that touches memory
  }
  replay.nodes[node.node] = next;
}

// Makes the function's user data point at a header of its own, once.
std::optional<std::uint64_t> Session::graph_header(Lock& lock, ContextState& context,
                                                   sanitizer::Function function) {
  const auto known = graph_headers_.find(function);
  if (known != graph_headers_.end()) return known->second;
  const auto region = reserve(lock, context, context.memory, sizeof(device::LaunchSlot));
  if (!region) return std::nullopt;
  lock.unlock();
  const Code code =
      api_.set_callback_data(function, reinterpret_cast<const void*>(region->address));
  lock.lock();
  if (code != Code::kSuccess) {
    context.memory.release(*region);
    return std::nullopt;
  }
  graph_headers_[function] = region->address;
  return region->address;
}

}  // namespace drgpum::profiler

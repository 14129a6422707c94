// SPDX-License-Identifier: Apache-2.0
// Executable graphs.

#include "emulator/driver/graph_call.h"

namespace drgpum::emulator::driver {
namespace {

void tell_exec(Section& section, GraphExec& exec, GraphAction action) {
  GraphEvent event;
  event.action = action;
  event.context = exec.context;
  event.graph = const_cast<Graph*>(exec.source);  // the handle that the program holds
  event.exec = &exec;
  section.tell_now([&](Observer& o) { o.on_graph(event); });
}

CUresult instantiate(CUgraphExec* result, CUgraph which, cuuint64_t flags) {
  ContextCall call;
  if (call.error != CUDA_SUCCESS) return call.error;
  Graph* graph = find_graph(call, which);
  if (graph == nullptr || result == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0)
    return unsupported("launching a graph from the device");
  auto made = std::make_unique<GraphExec>();
  made->graph = clone(*graph);
  made->source = graph;
  made->flags = flags;
  made->context = call.context;
  if (!made->graph->nodes.empty() && made->graph->in_order().empty())
    return CUDA_ERROR_INVALID_VALUE;  // a cycle
  GraphExec* exec = call.core().graph_execs.add(std::move(made));
  *result = reinterpret_cast<CUgraphExec>(exec);
  tell_exec(call, *exec, GraphAction::kExecCreated);
  return CUDA_SUCCESS;
}

// Memory that the graph's last launch left allocated goes back before it is allocated anew, when
// the graph was made to do so.
CUresult free_left_over(StreamCall& call, const GraphExec& exec) {
  if ((exec.flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) == 0) return CUDA_SUCCESS;
  for (const auto& node : exec.graph->nodes) {
    const auto* alloc = std::get_if<AllocWork>(&node->work);
    if (alloc == nullptr || call.core().mappings.count(alloc->address) == 0) continue;
    const CUresult result = call.submit(FreeWork{alloc->address});
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}

bool holds_left_over(MachineCall& call, const GraphExec& exec) {
  for (const auto& node : exec.graph->nodes)
    if (const auto* alloc = std::get_if<AllocWork>(&node->work))
      if (call.core().mappings.count(alloc->address) != 0) return true;
  return false;
}

// Whether the graphs have the same shape, so that the one's parameters fit the other.
const GraphNode* first_difference(const Graph& now, const Graph& next,
                                  CUgraphExecUpdateResult* what) {
  *what = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  if (now.nodes.size() != next.nodes.size()) {
    *what = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return nullptr;
  }
  for (std::size_t i = 0; i < now.nodes.size(); ++i) {
    const GraphNode& a = *now.nodes[i];
    const GraphNode& b = *next.nodes[i];
    if (a.type != b.type)
      *what = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
    else if (a.before.size() != b.before.size())
      *what = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    if (*what != CU_GRAPH_EXEC_UPDATE_SUCCESS) return &b;
  }
  return nullptr;
}

}  // namespace

CUresult cuGraphInstantiateWithFlags(CUgraphExec* result, CUgraph graph, unsigned long long flags) {
  return instantiate(result, graph, flags);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* result, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult made = instantiate(result, graph, parameters->flags);
  parameters->hErrNode_out = nullptr;
  parameters->result_out =
      made == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  return made;
}

CUresult cuGraphExecGetFlags(CUgraphExec which, cuuint64_t* flags) {
  MachineCall call;
  const GraphExec* exec = call.core().graph_execs.get(which);
  if (exec == nullptr || flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *flags = exec->flags;
  return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec which, CUstream stream) {
  StreamCall call(stream);
  if (call.error != CUDA_SUCCESS) return call.error;
  return call.core().graph_execs.get(which) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec which, CUstream stream) {
  StreamCall call(stream);
  if (call.error != CUDA_SUCCESS) return call.error;
  GraphExec* exec = call.core().graph_execs.get(which);
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (call.on->capture != nullptr) {  // it becomes a child of the graph being recorded
    Graph& graph = *call.on->capture->graph;
    graph.children.push_back(clone(*exec->graph));
    return call.submit(ChildWork{graph.children.back().get()});
  }
  const CUresult freed = free_left_over(call, *exec);
  if (freed != CUDA_SUCCESS) return freed;
  if (holds_left_over(call, *exec)) return CUDA_ERROR_INVALID_VALUE;
  return run_graph(call, *call.on, *exec);
}

CUresult cuGraphExecDestroy(CUgraphExec which) {
  MachineCall call;
  GraphExec* exec = call.core().graph_execs.get(which);
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  tell_exec(call, *exec, GraphAction::kExecDestroying);
  release_held(call, *exec->graph);
  call.core().graph_execs.remove(exec);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecUpdate(CUgraphExec which, CUgraph graph_handle,
                           CUgraphExecUpdateResultInfo* info) {
  MachineCall call;
  GraphExec* exec = call.core().graph_execs.get(which);
  const Graph* graph = find_graph(call, graph_handle);
  if (exec == nullptr || graph == nullptr || info == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *info = {};
  const GraphNode* differs = first_difference(*exec->graph, *graph, &info->result);
  info->errorNode = handle_of_node(const_cast<GraphNode*>(differs));  // NOLINT: a handle
  if (info->result != CU_GRAPH_EXEC_UPDATE_SUCCESS) return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  release_held(call, *exec->graph);
  exec->graph = clone(*graph);
  exec->source = graph;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec which, CUgraphNode handle, unsigned enabled) {
  MachineCall call;
  const GraphExec* exec = call.core().graph_execs.get(which);
  GraphNode* node = exec != nullptr ? find_node_in(*exec, handle) : nullptr;
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  node->enabled = enabled != 0;
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec which, CUgraphNode handle, unsigned* enabled) {
  MachineCall call;
  const GraphExec* exec = call.core().graph_execs.get(which);
  const GraphNode* node = exec != nullptr ? find_node_in(*exec, handle) : nullptr;
  if (node == nullptr || enabled == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *enabled = node->enabled ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute,
                                      void* value) {
  MachineCall call;
  const Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const bool high = attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
                    attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
  *static_cast<cuuint64_t*>(value) = high ? device->graph_used_high : device->graph_used;
  return CUDA_SUCCESS;
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute, void* value) {
  MachineCall call;
  Device* device = call.device(ordinal);
  if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  device->graph_used_high = device->graph_used;
  return CUDA_SUCCESS;
}

// Graphs give their memory back when they free it.
CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
  MachineCall call;
  return call.device(ordinal) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace drgpum::emulator::driver

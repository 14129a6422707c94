// SPDX-License-Identifier: Apache-2.0
// Nodes of graphs: added, read and changed, kind by kind.

#include <cstring>

#include "emulator/driver/copy_work.h"
#include "emulator/driver/function.h"
#include "emulator/driver/graph_call.h"

namespace drgpum::emulator::driver {
namespace {

// A call that adds a node: checks what all kinds have in common.
struct AddCall : ContextCall {
  AddCall(CUgraphNode* result_handle, CUgraph which, const CUgraphNode* handles, std::size_t count)
      : result(result_handle) {
    if (error != CUDA_SUCCESS) return;
    graph = find_graph(*this, which);
    if (graph == nullptr || result == nullptr)
      error = CUDA_ERROR_INVALID_VALUE;
    else
      error = read_nodes(*graph, handles, count, &dependencies);
  }
  CUresult add(CUgraphNodeType type, Work work) {
    *result = handle_of_node(graph->add(type, context, std::move(work), dependencies));
    return CUDA_SUCCESS;
  }

  CUgraphNode* result;
  Graph* graph = nullptr;
  std::vector<GraphNode*> dependencies;
};

// A call on a node whose work is a T.
template <typename T>
struct NodeCall : ContextCall {
  explicit NodeCall(CUgraphNode handle) {
    if (error != CUDA_SUCCESS) return;
    node = find_node(*this, handle);
    work = node != nullptr ? std::get_if<T>(&node->work) : nullptr;
    if (work == nullptr) error = CUDA_ERROR_INVALID_VALUE;
  }
  GraphNode* node = nullptr;
  T* work = nullptr;
};

// A call on the copy of a node in an executable graph.
template <typename T>
struct ExecNodeCall : ContextCall {
  ExecNodeCall(CUgraphExec which, CUgraphNode handle) {
    if (error != CUDA_SUCCESS) return;
    const GraphExec* exec = core().graph_execs.get(which);
    GraphNode* node = exec != nullptr ? find_node_in(*exec, handle) : nullptr;
    work = node != nullptr ? std::get_if<T>(&node->work) : nullptr;
    if (work == nullptr) error = CUDA_ERROR_INVALID_VALUE;
  }
  T* work = nullptr;
};

CUresult host_work_of(const CUDA_HOST_NODE_PARAMS* form, HostWork* work) {
  if (form == nullptr || form->fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *work = {form->fn, form->userData};
  return CUDA_SUCCESS;
}

CUmemorytype type_of(const CopyEnd& end) {
  return end.array != nullptr ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_UNIFIED;
}

CUDA_MEMCPY3D form_of(const CopyWork& work) {
  CUDA_MEMCPY3D form{};
  form.srcXInBytes = work.source.x;
  form.srcY = work.source.y;
  form.srcZ = work.source.z;
  form.srcMemoryType = type_of(work.source);
  form.srcDevice = work.source.address;
  form.srcArray = reinterpret_cast<CUarray>(work.source.array);
  form.srcPitch = work.source.pitch;
  form.srcHeight = work.source.rows;
  form.dstXInBytes = work.destination.x;
  form.dstY = work.destination.y;
  form.dstZ = work.destination.z;
  form.dstMemoryType = type_of(work.destination);
  form.dstDevice = work.destination.address;
  form.dstArray = reinterpret_cast<CUarray>(work.destination.array);
  form.dstPitch = work.destination.pitch;
  form.dstHeight = work.destination.rows;
  form.WidthInBytes = work.width;
  form.Height = work.height;
  form.Depth = work.depth;
  return form;
}

template <typename Call>
CUresult set_copy(Call& call, const CUDA_MEMCPY3D* form) {
  if (call.error != CUDA_SUCCESS) return call.error;
  if (form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CopyWork work;
  const CUresult result = copy_work_of(call, *form, &work);
  work.is_async = true;
  if (result == CUDA_SUCCESS) *call.work = work;
  return result;
}

template <typename Call>
CUresult set_set(Call& call, const CUDA_MEMSET_NODE_PARAMS* form) {
  if (call.error != CUDA_SUCCESS) return call.error;
  return form != nullptr ? set_work_of(*form, call.work) : CUDA_ERROR_INVALID_VALUE;
}

template <typename Call>
CUresult set_kernel(Call& call, const CUDA_KERNEL_NODE_PARAMS* form) {
  if (call.error != CUDA_SUCCESS) return call.error;
  KernelWork work;
  const CUresult result =
      form != nullptr ? kernel_work_of(call, *form, &work) : CUDA_ERROR_INVALID_VALUE;
  if (result == CUDA_SUCCESS) *call.work = std::move(work);
  return result;
}

template <typename Call>
CUresult set_event(Call& call, CUevent handle) {
  if (call.error != CUDA_SUCCESS) return call.error;
  Event* event = call.core().events.get(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  call.work->event = event;
  return CUDA_SUCCESS;
}

}  // namespace

GraphNode* find_node_in(const GraphExec& exec, const void* original) {
  for (const auto& node : exec.graph->nodes)
    if (node->cloned_from == original || node.get() == original) return node.get();
  return nullptr;
}

CUresult kernel_work_of(ContextCall& call, const CUDA_KERNEL_NODE_PARAMS& form, KernelWork* work) {
  const LaunchShape shape{{form.gridDimX, form.gridDimY, form.gridDimZ},
                          {form.blockDimX, form.blockDimY, form.blockDimZ},
                          {},
                          form.sharedMemBytes,
                          false};
  const void* function = form.func != nullptr ? static_cast<const void*>(form.func) : form.kern;
  return make_kernel_work(call, *call.context, function, shape, form.kernelParams, form.extra,
                          work);
}

CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_KERNEL_NODE_PARAMS* form) {
  AddCall call(node, graph, dependencies, count);
  if (call.error != CUDA_SUCCESS) return call.error;
  KernelWork work;
  const CUresult result =
      form != nullptr ? kernel_work_of(call, *form, &work) : CUDA_ERROR_INVALID_VALUE;
  return result == CUDA_SUCCESS ? call.add(CU_GRAPH_NODE_TYPE_KERNEL, std::move(work)) : result;
}

CUresult cuGraphKernelNodeGetParams(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS* form) {
  const NodeCall<KernelWork> call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  KernelWork& work = *call.work;
  // The array of pointers that the program gets points into the node.
  const auto& parameters = work.function->code().parameters;
  work.pointers.clear();
  for (const ptx::Parameter& parameter : parameters)
    work.pointers.push_back(work.parameters.data() + parameter.offset);
  *form = {};
  form->func = reinterpret_cast<CUfunction>(work.function);
  form->gridDimX = work.grid.x;
  form->gridDimY = work.grid.y;
  form->gridDimZ = work.grid.z;
  form->blockDimX = work.block.x;
  form->blockDimY = work.block.y;
  form->blockDimZ = work.block.z;
  form->sharedMemBytes = work.shared_bytes;
  form->kernelParams = work.pointers.data();
  form->ctx = reinterpret_cast<CUcontext>(call.node->context);
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetParams(CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS* form) {
  NodeCall<KernelWork> call(handle);
  return set_kernel(call, form);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS* form) {
  ExecNodeCall<KernelWork> call(exec, node);
  return set_kernel(call, form);
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode to, CUgraphNode from) {
  MachineCall call;
  GraphNode* target = find_node(call, to);
  const GraphNode* source = find_node(call, from);
  if (target == nullptr || source == nullptr) return CUDA_ERROR_INVALID_VALUE;
  target->attributes = source->attributes;
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                       CUkernelNodeAttrValue* value) {
  const NodeCall<KernelWork> call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::memset(value, 0, sizeof *value);
  const auto it = call.node->attributes.find(id);
  if (it != call.node->attributes.end()) *value = it->second;
  if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) value->cooperative = call.work->cooperative ? 1 : 0;
  return CUDA_SUCCESS;
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode handle, CUkernelNodeAttrID id,
                                       const CUkernelNodeAttrValue* value) {
  const NodeCall<KernelWork> call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  call.node->attributes[id] = *value;
  if (id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) call.work->cooperative = value->cooperative != 0;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_MEMCPY3D* form, CUcontext) {
  AddCall call(node, graph, dependencies, count);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CopyWork work;
  const CUresult result = copy_work_of(call, *form, &work);
  work.is_async = true;
  return result == CUDA_SUCCESS ? call.add(CU_GRAPH_NODE_TYPE_MEMCPY, work) : result;
}

CUresult cuGraphMemcpyNodeGetParams(CUgraphNode handle, CUDA_MEMCPY3D* form) {
  const NodeCall<CopyWork> call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *form = form_of(*call.work);
  return CUDA_SUCCESS;
}

CUresult cuGraphMemcpyNodeSetParams(CUgraphNode handle, const CUDA_MEMCPY3D* form) {
  NodeCall<CopyWork> call(handle);
  return set_copy(call, form);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D* form, CUcontext) {
  ExecNodeCall<CopyWork> call(exec, node);
  return set_copy(call, form);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                              std::size_t count, const CUDA_MEMSET_NODE_PARAMS* form, CUcontext) {
  AddCall call(node, graph, dependencies, count);
  if (call.error != CUDA_SUCCESS) return call.error;
  SetWork work;
  const CUresult result = form != nullptr ? set_work_of(*form, &work) : CUDA_ERROR_INVALID_VALUE;
  return result == CUDA_SUCCESS ? call.add(CU_GRAPH_NODE_TYPE_MEMSET, work) : result;
}

CUresult cuGraphMemsetNodeGetParams(CUgraphNode handle, CUDA_MEMSET_NODE_PARAMS* form) {
  const NodeCall<SetWork> call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const SetWork& work = *call.work;
  *form = {};
  form->dst = work.address;
  form->pitch = work.pitch;
  form->value = work.value;
  form->elementSize = work.element_size;
  form->width = work.width;
  form->height = work.height;
  return CUDA_SUCCESS;
}

CUresult cuGraphMemsetNodeSetParams(CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS* form) {
  NodeCall<SetWork> call(handle);
  return set_set(call, form);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* form, CUcontext) {
  ExecNodeCall<SetWork> call(exec, node);
  return set_set(call, form);
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                            std::size_t count, const CUDA_HOST_NODE_PARAMS* form) {
  AddCall call(node, graph, dependencies, count);
  if (call.error != CUDA_SUCCESS) return call.error;
  HostWork work;
  const CUresult result = host_work_of(form, &work);
  return result == CUDA_SUCCESS ? call.add(CU_GRAPH_NODE_TYPE_HOST, work) : result;
}

CUresult cuGraphHostNodeGetParams(CUgraphNode handle, CUDA_HOST_NODE_PARAMS* form) {
  const NodeCall<HostWork> call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *form = {call.work->function, call.work->data};
  return CUDA_SUCCESS;
}

CUresult cuGraphHostNodeSetParams(CUgraphNode handle, const CUDA_HOST_NODE_PARAMS* form) {
  const NodeCall<HostWork> call(handle);
  return call.error == CUDA_SUCCESS ? host_work_of(form, call.work) : call.error;
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS* form) {
  const ExecNodeCall<HostWork> call(exec, node);
  return call.error == CUDA_SUCCESS ? host_work_of(form, call.work) : call.error;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                  std::size_t count, CUgraph which) {
  AddCall call(node, graph, dependencies, count);
  if (call.error != CUDA_SUCCESS) return call.error;
  const Graph* child = find_graph(call, which);
  if (child == nullptr || child == call.graph) return CUDA_ERROR_INVALID_VALUE;
  call.graph->children.push_back(clone(*child));
  return call.add(CU_GRAPH_NODE_TYPE_GRAPH, ChildWork{call.graph->children.back().get()});
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode handle, CUgraph* graph) {
  const NodeCall<ChildWork> call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *graph = handle_of_graph(call.work->graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                             std::size_t count) {
  AddCall call(node, graph, dependencies, count);
  return call.error == CUDA_SUCCESS ? call.add(CU_GRAPH_NODE_TYPE_EMPTY, EmptyWork{}) : call.error;
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph,
                                   const CUgraphNode* dependencies, std::size_t count,
                                   CUevent handle) {
  AddCall call(node, graph, dependencies, count);
  if (call.error != CUDA_SUCCESS) return call.error;
  Event* event = call.core().events.get(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return call.add(CU_GRAPH_NODE_TYPE_EVENT_RECORD, EventRecordWork{event});
}

CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode handle, CUevent* event) {
  const NodeCall<EventRecordWork> call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *event = reinterpret_cast<CUevent>(call.work->event);
  return CUDA_SUCCESS;
}

CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode handle, CUevent event) {
  NodeCall<EventRecordWork> call(handle);
  return set_event(call, event);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  ExecNodeCall<EventRecordWork> call(exec, node);
  return set_event(call, event);
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                 std::size_t count, CUevent handle) {
  AddCall call(node, graph, dependencies, count);
  if (call.error != CUDA_SUCCESS) return call.error;
  Event* event = call.core().events.get(handle);
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  return call.add(CU_GRAPH_NODE_TYPE_WAIT_EVENT, EventWaitWork{event});
}

CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode handle, CUevent* event) {
  const NodeCall<EventWaitWork> call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *event = reinterpret_cast<CUevent>(call.work->event);
  return CUDA_SUCCESS;
}

CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode handle, CUevent event) {
  NodeCall<EventWaitWork> call(handle);
  return set_event(call, event);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node, CUevent event) {
  ExecNodeCall<EventWaitWork> call(exec, node);
  return set_event(call, event);
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                                std::size_t count, CUDA_MEM_ALLOC_NODE_PARAMS* form) {
  AddCall call(node, graph, dependencies, count);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (form == nullptr || form->bytesize == 0) return CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t rounded = (form->bytesize + kVirtualPage - 1) & ~(kVirtualPage - 1);
  const auto address = call.core().memory->reserve_virtual(rounded, kVirtualPage, 0);
  if (!address) return CUDA_ERROR_OUT_OF_MEMORY;
  form->dptr = *address;
  const int device = form->poolProps.location.id;
  if (call.device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
  return call.add(CU_GRAPH_NODE_TYPE_MEM_ALLOC, AllocWork{device, *address, form->bytesize});
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* form) {
  const NodeCall<AllocWork> call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (form == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *form = {};
  form->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  form->poolProps.location.id = call.work->device;
  form->bytesize = call.work->size;
  form->dptr = call.work->address;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies,
                               std::size_t count, CUdeviceptr address) {
  AddCall call(node, graph, dependencies, count);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (address == 0) return CUDA_ERROR_INVALID_VALUE;
  return call.add(CU_GRAPH_NODE_TYPE_MEM_FREE, FreeWork{address});
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* address) {
  const NodeCall<FreeWork> call(handle);
  if (call.error != CUDA_SUCCESS) return call.error;
  if (address == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *address = call.work->address;
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator::driver

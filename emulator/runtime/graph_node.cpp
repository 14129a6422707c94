// SPDX-License-Identifier: Apache-2.0
// Nodes of graphs: their parameters in the runtime's structs.
#include "emulator/runtime/box_copy.h"
#include "emulator/runtime/forward.h"
#include "emulator/runtime/registry.h"

namespace drgpum::emulator::runtime {
namespace {

static_assert(sizeof(cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS));
static_assert(sizeof(cudaHostNodeParams) == sizeof(CUDA_HOST_NODE_PARAMS));
static_assert(sizeof(cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS));

// Where a node goes.
struct Place {
  cudaGraphNode_t* node;
  cudaGraph_t graph;
  const cudaGraphNode_t* dependencies;
  std::size_t count;
};

cudaError_t driver_kernel(const cudaKernelNodeParams* from, CUDA_KERNEL_NODE_PARAMS* to) {
  if (from == nullptr) return cudaErrorInvalidValue;
  *to = {};
  RETURN_IF_CUDA_ERROR(registry().function_of(from->func, &to->func));
  to->gridDimX = from->gridDim.x;
  to->gridDimY = from->gridDim.y;
  to->gridDimZ = from->gridDim.z;
  to->blockDimX = from->blockDim.x;
  to->blockDimY = from->blockDim.y;
  to->blockDimZ = from->blockDim.z;
  to->sharedMemBytes = from->sharedMemBytes;
  to->kernelParams = from->kernelParams;
  to->extra = from->extra;
  return cudaSuccess;
}

cudaError_t add_kernel(const Place& place, const cudaKernelNodeParams* parameters) {
  CUDA_KERNEL_NODE_PARAMS converted;
  RETURN_IF_CUDA_ERROR(driver_kernel(parameters, &converted));
  return forward(CU(cuGraphAddKernelNode), place.node, place.graph, place.dependencies, place.count,
                 &converted);
}

cudaError_t add_copy(const Place& place, const CUDA_MEMCPY3D& copy) {
  return forward(CU(cuGraphAddMemcpyNode), place.node, place.graph, place.dependencies, place.count,
                 &copy, current_context());
}

cudaError_t add_set(const Place& place, const cudaMemsetParams* parameters) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return forward(CU(cuGraphAddMemsetNode), place.node, place.graph, place.dependencies, place.count,
                 parameters, current_context());
}

cudaError_t add_host(const Place& place, const cudaHostNodeParams* parameters) {
  return forward(CU(cuGraphAddHostNode), place.node, place.graph, place.dependencies, place.count,
                 parameters);
}

cudaError_t linear_copy(void* to, const void* from, std::size_t size, cudaMemcpyKind kind,
                        CUDA_MEMCPY3D* copy) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return driver_copy(to, from, size, kind, copy);
}

cudaError_t box_copy(const cudaMemcpy3DParms* parameters, CUDA_MEMCPY3D* copy) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  RETURN_IF_CUDA_ERROR(ensure_context());
  return driver_copy(*parameters, copy);
}

// The bytes of a variable from `offset` on.
cudaError_t symbol_bytes(const void* symbol, std::size_t offset, std::size_t size, void** bytes) {
  CUdeviceptr address = 0;
  std::size_t whole = 0;
  RETURN_IF_CUDA_ERROR(registry().address_of(symbol, &address, &whole));
  if (offset > whole || size > whole - offset) return cudaErrorInvalidValue;
  *bytes = reinterpret_cast<void*>(address + offset);
  return cudaSuccess;
}

}  // namespace

RUNTIME_API(cudaGraphAddKernelNode, v10000,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, const cudaKernelNodeParams* parameters),
            node, graph, dependencies, count, parameters) {
  return add_kernel({node, graph, dependencies, count}, parameters);
}

RUNTIME_API(cudaGraphKernelNodeGetParams, v10000,
            (cudaGraphNode_t node, cudaKernelNodeParams* parameters), node, parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  CUDA_KERNEL_NODE_PARAMS found{};
  RETURN_IF_CUDA_ERROR(forward(CU(cuGraphKernelNodeGetParams), node, &found));
  *parameters = {};
  parameters->func = const_cast<void*>(registry().entry_of(found.func));
  parameters->gridDim = {found.gridDimX, found.gridDimY, found.gridDimZ};
  parameters->blockDim = {found.blockDimX, found.blockDimY, found.blockDimZ};
  parameters->sharedMemBytes = found.sharedMemBytes;
  parameters->kernelParams = found.kernelParams;
  parameters->extra = found.extra;
  return cudaSuccess;
}

RUNTIME_API(cudaGraphKernelNodeSetParams, v10000,
            (cudaGraphNode_t node, const cudaKernelNodeParams* parameters), node, parameters) {
  CUDA_KERNEL_NODE_PARAMS converted;
  RETURN_IF_CUDA_ERROR(driver_kernel(parameters, &converted));
  return forward(CU(cuGraphKernelNodeSetParams), node, &converted);
}

RUNTIME_API(cudaGraphExecKernelNodeSetParams, v10010,
            (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaKernelNodeParams* parameters),
            exec, node, parameters) {
  CUDA_KERNEL_NODE_PARAMS converted;
  RETURN_IF_CUDA_ERROR(driver_kernel(parameters, &converted));
  return forward(CU(cuGraphExecKernelNodeSetParams), exec, node, &converted);
}

FORWARD_API(cudaGraphKernelNodeCopyAttributes, v11000, cuGraphKernelNodeCopyAttributes,
            (cudaGraphNode_t to, cudaGraphNode_t from), to, from)
FORWARD_API(cudaGraphKernelNodeGetAttribute, v11000, cuGraphKernelNodeGetAttribute,
            (cudaGraphNode_t node, cudaLaunchAttributeID attribute,
             cudaLaunchAttributeValue* value),
            node, attribute, value)
FORWARD_API(cudaGraphKernelNodeSetAttribute, v11000, cuGraphKernelNodeSetAttribute,
            (cudaGraphNode_t node, cudaLaunchAttributeID attribute,
             const cudaLaunchAttributeValue* value),
            node, attribute, value)

RUNTIME_API(cudaGraphAddMemcpyNode, v10000,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, const cudaMemcpy3DParms* parameters),
            node, graph, dependencies, count, parameters) {
  CUDA_MEMCPY3D copy;
  RETURN_IF_CUDA_ERROR(box_copy(parameters, &copy));
  return add_copy({node, graph, dependencies, count}, copy);
}

RUNTIME_API(cudaGraphAddMemcpyNode1D, v11010,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, void* to, const void* from, std::size_t size, cudaMemcpyKind kind),
            node, graph, dependencies, count, to, from, size, kind) {
  CUDA_MEMCPY3D copy;
  RETURN_IF_CUDA_ERROR(linear_copy(to, from, size, kind, &copy));
  return add_copy({node, graph, dependencies, count}, copy);
}

RUNTIME_API(cudaGraphAddMemcpyNodeToSymbol, v11010,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, const void* symbol, const void* from, std::size_t size,
             std::size_t offset, cudaMemcpyKind kind),
            node, graph, dependencies, count, symbol, from, size, offset, kind) {
  void* to = nullptr;
  RETURN_IF_CUDA_ERROR(symbol_bytes(symbol, offset, size, &to));
  CUDA_MEMCPY3D copy;
  RETURN_IF_CUDA_ERROR(linear_copy(to, from, size, kind, &copy));
  return add_copy({node, graph, dependencies, count}, copy);
}

RUNTIME_API(cudaGraphAddMemcpyNodeFromSymbol, v11010,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, void* to, const void* symbol, std::size_t size, std::size_t offset,
             cudaMemcpyKind kind),
            node, graph, dependencies, count, to, symbol, size, offset, kind) {
  void* from = nullptr;
  RETURN_IF_CUDA_ERROR(symbol_bytes(symbol, offset, size, &from));
  CUDA_MEMCPY3D copy;
  RETURN_IF_CUDA_ERROR(linear_copy(to, from, size, kind, &copy));
  return add_copy({node, graph, dependencies, count}, copy);
}

RUNTIME_API(cudaGraphMemcpyNodeGetParams, v10000,
            (cudaGraphNode_t node, cudaMemcpy3DParms* parameters), node, parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  CUDA_MEMCPY3D copy{};
  RETURN_IF_CUDA_ERROR(forward(CU(cuGraphMemcpyNodeGetParams), node, &copy));
  *parameters = runtime_copy(copy);
  return cudaSuccess;
}

RUNTIME_API(cudaGraphMemcpyNodeSetParams, v10000,
            (cudaGraphNode_t node, const cudaMemcpy3DParms* parameters), node, parameters) {
  CUDA_MEMCPY3D copy;
  RETURN_IF_CUDA_ERROR(box_copy(parameters, &copy));
  return forward(CU(cuGraphMemcpyNodeSetParams), node, &copy);
}

RUNTIME_API(cudaGraphMemcpyNodeSetParams1D, v11010,
            (cudaGraphNode_t node, void* to, const void* from, std::size_t size,
             cudaMemcpyKind kind),
            node, to, from, size, kind) {
  CUDA_MEMCPY3D copy;
  RETURN_IF_CUDA_ERROR(linear_copy(to, from, size, kind, &copy));
  return forward(CU(cuGraphMemcpyNodeSetParams), node, &copy);
}

RUNTIME_API(cudaGraphMemcpyNodeSetParamsToSymbol, v11010,
            (cudaGraphNode_t node, const void* symbol, const void* from, std::size_t size,
             std::size_t offset, cudaMemcpyKind kind),
            node, symbol, from, size, offset, kind) {
  void* to = nullptr;
  RETURN_IF_CUDA_ERROR(symbol_bytes(symbol, offset, size, &to));
  CUDA_MEMCPY3D copy;
  RETURN_IF_CUDA_ERROR(linear_copy(to, from, size, kind, &copy));
  return forward(CU(cuGraphMemcpyNodeSetParams), node, &copy);
}

RUNTIME_API(cudaGraphMemcpyNodeSetParamsFromSymbol, v11010,
            (cudaGraphNode_t node, void* to, const void* symbol, std::size_t size,
             std::size_t offset, cudaMemcpyKind kind),
            node, to, symbol, size, offset, kind) {
  void* from = nullptr;
  RETURN_IF_CUDA_ERROR(symbol_bytes(symbol, offset, size, &from));
  CUDA_MEMCPY3D copy;
  RETURN_IF_CUDA_ERROR(linear_copy(to, from, size, kind, &copy));
  return forward(CU(cuGraphMemcpyNodeSetParams), node, &copy);
}

RUNTIME_API(cudaGraphExecMemcpyNodeSetParamsToSymbol, v11010,
            (cudaGraphExec_t exec, cudaGraphNode_t node, const void* symbol, const void* from,
             std::size_t size, std::size_t offset, cudaMemcpyKind kind),
            exec, node, symbol, from, size, offset, kind) {
  void* to = nullptr;
  RETURN_IF_CUDA_ERROR(symbol_bytes(symbol, offset, size, &to));
  CUDA_MEMCPY3D copy;
  RETURN_IF_CUDA_ERROR(linear_copy(to, from, size, kind, &copy));
  return forward(CU(cuGraphExecMemcpyNodeSetParams), exec, node, &copy, current_context());
}

RUNTIME_API(cudaGraphExecMemcpyNodeSetParamsFromSymbol, v11010,
            (cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* symbol,
             std::size_t size, std::size_t offset, cudaMemcpyKind kind),
            exec, node, to, symbol, size, offset, kind) {
  void* from = nullptr;
  RETURN_IF_CUDA_ERROR(symbol_bytes(symbol, offset, size, &from));
  CUDA_MEMCPY3D copy;
  RETURN_IF_CUDA_ERROR(linear_copy(to, from, size, kind, &copy));
  return forward(CU(cuGraphExecMemcpyNodeSetParams), exec, node, &copy, current_context());
}

RUNTIME_API(cudaGraphExecMemcpyNodeSetParams, v10020,
            (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemcpy3DParms* parameters), exec,
            node, parameters) {
  CUDA_MEMCPY3D copy;
  RETURN_IF_CUDA_ERROR(box_copy(parameters, &copy));
  return forward(CU(cuGraphExecMemcpyNodeSetParams), exec, node, &copy, current_context());
}

RUNTIME_API(cudaGraphExecMemcpyNodeSetParams1D, v11010,
            (cudaGraphExec_t exec, cudaGraphNode_t node, void* to, const void* from,
             std::size_t size, cudaMemcpyKind kind),
            exec, node, to, from, size, kind) {
  CUDA_MEMCPY3D copy;
  RETURN_IF_CUDA_ERROR(linear_copy(to, from, size, kind, &copy));
  return forward(CU(cuGraphExecMemcpyNodeSetParams), exec, node, &copy, current_context());
}

RUNTIME_API(cudaGraphAddMemsetNode, v10000,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, const cudaMemsetParams* parameters),
            node, graph, dependencies, count, parameters) {
  return add_set({node, graph, dependencies, count}, parameters);
}

FORWARD_API(cudaGraphMemsetNodeGetParams, v10000, cuGraphMemsetNodeGetParams,
            (cudaGraphNode_t node, cudaMemsetParams* parameters), node, parameters)
FORWARD_API(cudaGraphMemsetNodeSetParams, v10000, cuGraphMemsetNodeSetParams,
            (cudaGraphNode_t node, const cudaMemsetParams* parameters), node, parameters)

RUNTIME_API(cudaGraphExecMemsetNodeSetParams, v10020,
            (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaMemsetParams* parameters), exec,
            node, parameters) {
  RETURN_IF_CUDA_ERROR(ensure_context());
  return forward(CU(cuGraphExecMemsetNodeSetParams), exec, node, parameters, current_context());
}

RUNTIME_API(cudaGraphAddHostNode, v10000,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, const cudaHostNodeParams* parameters),
            node, graph, dependencies, count, parameters) {
  return add_host({node, graph, dependencies, count}, parameters);
}

FORWARD_API(cudaGraphHostNodeGetParams, v10000, cuGraphHostNodeGetParams,
            (cudaGraphNode_t node, cudaHostNodeParams* parameters), node, parameters)
FORWARD_API(cudaGraphHostNodeSetParams, v10000, cuGraphHostNodeSetParams,
            (cudaGraphNode_t node, const cudaHostNodeParams* parameters), node, parameters)
FORWARD_API(cudaGraphExecHostNodeSetParams, v10020, cuGraphExecHostNodeSetParams,
            (cudaGraphExec_t exec, cudaGraphNode_t node, const cudaHostNodeParams* parameters),
            exec, node, parameters)

FORWARD_API(cudaGraphAddChildGraphNode, v10000, cuGraphAddChildGraphNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, cudaGraph_t child),
            node, graph, dependencies, count, child)
FORWARD_API(cudaGraphChildGraphNodeGetGraph, v10000, cuGraphChildGraphNodeGetGraph,
            (cudaGraphNode_t node, cudaGraph_t* graph), node, graph)
FORWARD_API(cudaGraphExecChildGraphNodeSetParams, v11010, cuGraphExecChildGraphNodeSetParams,
            (cudaGraphExec_t exec, cudaGraphNode_t node, cudaGraph_t child), exec, node, child)
FORWARD_API(cudaGraphAddEmptyNode, v10000, cuGraphAddEmptyNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count),
            node, graph, dependencies, count)

FORWARD_API(cudaGraphAddEventRecordNode, v11010, cuGraphAddEventRecordNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, cudaEvent_t event),
            node, graph, dependencies, count, event)
FORWARD_API(cudaGraphEventRecordNodeGetEvent, v11010, cuGraphEventRecordNodeGetEvent,
            (cudaGraphNode_t node, cudaEvent_t* event), node, event)
FORWARD_API(cudaGraphEventRecordNodeSetEvent, v11010, cuGraphEventRecordNodeSetEvent,
            (cudaGraphNode_t node, cudaEvent_t event), node, event)
FORWARD_API(cudaGraphExecEventRecordNodeSetEvent, v11010, cuGraphExecEventRecordNodeSetEvent,
            (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event), exec, node, event)
FORWARD_API(cudaGraphAddEventWaitNode, v11010, cuGraphAddEventWaitNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, cudaEvent_t event),
            node, graph, dependencies, count, event)
FORWARD_API(cudaGraphEventWaitNodeGetEvent, v11010, cuGraphEventWaitNodeGetEvent,
            (cudaGraphNode_t node, cudaEvent_t* event), node, event)
FORWARD_API(cudaGraphEventWaitNodeSetEvent, v11010, cuGraphEventWaitNodeSetEvent,
            (cudaGraphNode_t node, cudaEvent_t event), node, event)
FORWARD_API(cudaGraphExecEventWaitNodeSetEvent, v11010, cuGraphExecEventWaitNodeSetEvent,
            (cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event), exec, node, event)

FORWARD_API(cudaGraphAddMemAllocNode, v11040, cuGraphAddMemAllocNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, cudaMemAllocNodeParams* parameters),
            node, graph, dependencies, count, parameters)
FORWARD_API(cudaGraphMemAllocNodeGetParams, v11040, cuGraphMemAllocNodeGetParams,
            (cudaGraphNode_t node, cudaMemAllocNodeParams* parameters), node, parameters)
FORWARD_API(cudaGraphAddMemFreeNode, v11040, cuGraphAddMemFreeNode,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             std::size_t count, void* pointer),
            node, graph, dependencies, count, pointer)
FORWARD_API(cudaGraphMemFreeNodeGetParams, v11040, cuGraphMemFreeNodeGetParams,
            (cudaGraphNode_t node, void* pointer), node, pointer)

namespace {

cudaKernelNodeParams first_version(const cudaKernelNodeParamsV2& from) {
  cudaKernelNodeParams to{};
  to.func = from.func;
  to.gridDim = from.gridDim;
  to.blockDim = from.blockDim;
  to.sharedMemBytes = from.sharedMemBytes;
  to.kernelParams = from.kernelParams;
  to.extra = from.extra;
  return to;
}

cudaMemsetParams first_version(const cudaMemsetParamsV2& from) {
  return {from.dst, from.pitch, from.value, from.elementSize, from.width, from.height};
}

cudaError_t add_allocation(const Place& place, cudaMemAllocNodeParamsV2& parameters) {
  cudaMemAllocNodeParams first{};
  first.poolProps = parameters.poolProps;
  first.accessDescs = parameters.accessDescs;
  first.accessDescCount = parameters.accessDescCount;
  first.bytesize = parameters.bytesize;
  const cudaError_t error = forward(CU(cuGraphAddMemAllocNode), place.node, place.graph,
                                    place.dependencies, place.count, &first);
  parameters.dptr = first.dptr;
  return error;
}

cudaError_t add_node(const Place& place, cudaGraphNodeParams& parameters) {
  switch (parameters.type) {
    case cudaGraphNodeTypeKernel: {
      const cudaKernelNodeParams kernel = first_version(parameters.kernel);
      return add_kernel(place, &kernel);
    }
    case cudaGraphNodeTypeMemcpy: {
      CUDA_MEMCPY3D copy;
      RETURN_IF_CUDA_ERROR(box_copy(&parameters.memcpy.copyParams, &copy));
      return add_copy(place, copy);
    }
    case cudaGraphNodeTypeMemset: {
      const cudaMemsetParams set = first_version(parameters.memset);
      return add_set(place, &set);
    }
    case cudaGraphNodeTypeHost: {
      const cudaHostNodeParams host{parameters.host.fn, parameters.host.userData};
      return add_host(place, &host);
    }
    case cudaGraphNodeTypeGraph:
      return forward(CU(cuGraphAddChildGraphNode), place.node, place.graph, place.dependencies,
                     place.count, parameters.graph.graph);
    case cudaGraphNodeTypeEmpty:
      return forward(CU(cuGraphAddEmptyNode), place.node, place.graph, place.dependencies,
                     place.count);
    case cudaGraphNodeTypeWaitEvent:
      return forward(CU(cuGraphAddEventWaitNode), place.node, place.graph, place.dependencies,
                     place.count, parameters.eventWait.event);
    case cudaGraphNodeTypeEventRecord:
      return forward(CU(cuGraphAddEventRecordNode), place.node, place.graph, place.dependencies,
                     place.count, parameters.eventRecord.event);
    case cudaGraphNodeTypeMemAlloc:
      return add_allocation(place, parameters.alloc);
    case cudaGraphNodeTypeMemFree:
      return forward(CU(cuGraphAddMemFreeNode), place.node, place.graph, place.dependencies,
                     place.count, parameters.free.dptr);
    default:
      return cudaErrorNotSupported;
  }
}

}  // namespace

// Edges with data of their own (programmatic launches) are the driver's business only.
RUNTIME_API(cudaGraphAddNode, v12030,
            (cudaGraphNode_t * node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
             const cudaGraphEdgeData* data, std::size_t count, cudaGraphNodeParams* parameters),
            node, graph, dependencies, data, count, parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  if (data != nullptr) return cudaErrorNotSupported;
  return add_node({node, graph, dependencies, count}, *parameters);
}

}  // namespace drgpum::emulator::runtime

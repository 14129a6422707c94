// SPDX-License-Identifier: Apache-2.0
// Graphs as a whole. Handles, flags and result structs are the driver's.
#include "emulator/runtime/forward.h"

namespace drgpum::emulator::runtime {

static_assert(sizeof(cudaGraphEdgeData) == sizeof(CUgraphEdgeData));
static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS));
static_assert(sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo));

FORWARD_API(cudaGraphCreate, v10000, cuGraphCreate, (cudaGraph_t * graph, unsigned flags), graph,
            flags)
FORWARD_API(cudaGraphDestroy, v10000, cuGraphDestroy, (cudaGraph_t graph), graph)
FORWARD_API(cudaGraphClone, v10000, cuGraphClone, (cudaGraph_t * clone, cudaGraph_t graph), clone,
            graph)
FORWARD_API(cudaGraphNodeFindInClone, v10000, cuGraphNodeFindInClone,
            (cudaGraphNode_t * node, cudaGraphNode_t original, cudaGraph_t clone), node, original,
            clone)
FORWARD_API(cudaGraphNodeGetType, v10000, cuGraphNodeGetType,
            (cudaGraphNode_t node, cudaGraphNodeType* type), node, type)
FORWARD_API(cudaGraphGetNodes, v10000, cuGraphGetNodes,
            (cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count), graph, nodes, count)
FORWARD_API(cudaGraphGetRootNodes, v10000, cuGraphGetRootNodes,
            (cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count), graph, nodes, count)
FORWARD_API(cudaGraphGetEdges, v12030, cuGraphGetEdges,
            (cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, cudaGraphEdgeData* data,
             std::size_t* count),
            graph, from, to, data, count)
FORWARD_API(cudaGraphNodeGetDependencies, v12030, cuGraphNodeGetDependencies,
            (cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
             std::size_t* count),
            node, nodes, data, count)
FORWARD_API(cudaGraphNodeGetDependentNodes, v12030, cuGraphNodeGetDependentNodes,
            (cudaGraphNode_t node, cudaGraphNode_t* nodes, cudaGraphEdgeData* data,
             std::size_t* count),
            node, nodes, data, count)
FORWARD_API(cudaGraphAddDependencies, v12030, cuGraphAddDependencies,
            (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
             const cudaGraphEdgeData* data, std::size_t count),
            graph, from, to, data, count)
FORWARD_API(cudaGraphRemoveDependencies, v12030, cuGraphRemoveDependencies,
            (cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
             const cudaGraphEdgeData* data, std::size_t count),
            graph, from, to, data, count)
FORWARD_API(cudaGraphDestroyNode, v10000, cuGraphDestroyNode, (cudaGraphNode_t node), node)
FORWARD_API(cudaGraphDebugDotPrint, v11030, cuGraphDebugDotPrint,
            (cudaGraph_t graph, const char* path, unsigned flags), graph, path, flags)

FORWARD_API(cudaGraphInstantiate, v12000, cuGraphInstantiate,
            (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags), exec, graph,
            flags)
FORWARD_API(cudaGraphInstantiateWithFlags, v11040, cuGraphInstantiate,
            (cudaGraphExec_t * exec, cudaGraph_t graph, unsigned long long flags), exec, graph,
            flags)
FORWARD_API(cudaGraphInstantiateWithParams, v12000, cuGraphInstantiateWithParams,
            (cudaGraphExec_t * exec, cudaGraph_t graph, cudaGraphInstantiateParams* parameters),
            exec, graph, parameters)
FORWARD_API(cudaGraphExecGetFlags, v12000, cuGraphExecGetFlags,
            (cudaGraphExec_t exec, unsigned long long* flags), exec, flags)
FORWARD_API(cudaGraphExecDestroy, v10000, cuGraphExecDestroy, (cudaGraphExec_t exec), exec)
FORWARD_API(cudaGraphExecUpdate, v10020, cuGraphExecUpdate,
            (cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result), exec,
            graph, result)
FORWARD_STREAM_API(cudaGraphLaunch, v10000, v10000, cuGraphLaunch,
                   (cudaGraphExec_t exec, cudaStream_t stream), exec, stream)
FORWARD_STREAM_API(cudaGraphUpload, v10000, v10000, cuGraphUpload,
                   (cudaGraphExec_t exec, cudaStream_t stream), exec, stream)
FORWARD_API(cudaGraphNodeSetEnabled, v11060, cuGraphNodeSetEnabled,
            (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned enabled), exec, node, enabled)
FORWARD_API(cudaGraphNodeGetEnabled, v11060, cuGraphNodeGetEnabled,
            (cudaGraphExec_t exec, cudaGraphNode_t node, unsigned* enabled), exec, node, enabled)

FORWARD_STREAM_API(cudaStreamBeginCaptureToGraph, v12030, v12030, cuStreamBeginCaptureToGraph,
                   (cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* nodes,
                    const cudaGraphEdgeData* data, std::size_t count, cudaStreamCaptureMode mode),
                   stream, graph, nodes, data, count, mode)

FORWARD_API(cudaUserObjectCreate, v11030, cuUserObjectCreate,
            (cudaUserObject_t * object, void* pointer, cudaHostFn_t destroy, unsigned count,
             unsigned flags),
            object, pointer, destroy, count, flags)
FORWARD_API(cudaUserObjectRetain, v11030, cuUserObjectRetain,
            (cudaUserObject_t object, unsigned count), object, count)
FORWARD_API(cudaUserObjectRelease, v11030, cuUserObjectRelease,
            (cudaUserObject_t object, unsigned count), object, count)
FORWARD_API(cudaGraphRetainUserObject, v11030, cuGraphRetainUserObject,
            (cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags), graph,
            object, count, flags)
FORWARD_API(cudaGraphReleaseUserObject, v11030, cuGraphReleaseUserObject,
            (cudaGraph_t graph, cudaUserObject_t object, unsigned count), graph, object, count)

}  // namespace drgpum::emulator::runtime

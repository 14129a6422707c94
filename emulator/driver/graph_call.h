// SPDX-License-Identifier: Apache-2.0
#pragma once
// Graphs and nodes by their handles.

#include "emulator/driver/call.h"

namespace drgpum::emulator::driver {

inline CUgraph handle_of_graph(Graph* graph) {
  return reinterpret_cast<CUgraph>(graph);
}
inline CUgraphNode handle_of_node(GraphNode* node) {
  return reinterpret_cast<CUgraphNode>(node);
}

// A graph of the program's, one of its child nodes', or one that a stream is recorded into.
Graph* find_graph(MachineCall& call, const void* handle);

// The node, when a graph that is there holds it; else nullptr.
GraphNode* find_node(MachineCall& call, const void* handle);

// The node of an executable graph that was made from the given node.
GraphNode* find_node_in(const GraphExec& exec, const void* original);

// Nodes of one graph; CUDA_ERROR_INVALID_VALUE when one of them is not.
CUresult read_nodes(const Graph& graph, const CUgraphNode* handles, std::size_t count,
                    std::vector<GraphNode*>* nodes);

// Writes up to *count handles, and how many there are to *count; the rest of the array becomes 0.
CUresult write_nodes(const std::vector<GraphNode*>& nodes, CUgraphNode* handles,
                     std::size_t* count);

// Gives back what the graph and its children hold of the program's objects.
void release_held(MachineCall& call, Graph& graph);

// Work from the structs that describe nodes.
CUresult kernel_work_of(ContextCall& call, const CUDA_KERNEL_NODE_PARAMS& form, KernelWork* work);

}  // namespace drgpum::emulator::driver

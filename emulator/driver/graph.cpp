// SPDX-License-Identifier: Apache-2.0
// Graphs as a whole: made, copied, looked into, their edges.

#include <algorithm>

#include "emulator/driver/graph_call.h"

namespace drgpum::emulator::driver {
namespace {

Graph* child_with(const Graph& graph, const void* handle) {
  for (const auto& child : graph.children) {
    if (child.get() == handle) return child.get();
    if (Graph* deeper = child_with(*child, handle); deeper != nullptr) return deeper;
  }
  return nullptr;
}

GraphNode* node_in(const Graph& graph, const void* handle) {
  for (const auto& node : graph.nodes)
    if (node.get() == handle) return node.get();
  for (const auto& child : graph.children)
    if (GraphNode* node = node_in(*child, handle); node != nullptr) return node;
  return nullptr;
}

template <typename Change>
CUresult each_edge(CUgraph which, const CUgraphNode* from, const CUgraphNode* to, std::size_t count,
                   Change change) {
  MachineCall call;
  Graph* graph = find_graph(call, which);
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (count != 0 && (from == nullptr || to == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> sources, targets;
  if (read_nodes(*graph, from, count, &sources) != CUDA_SUCCESS ||
      read_nodes(*graph, to, count, &targets) != CUDA_SUCCESS)
    return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i)
    change(*sources[i], *targets[i]);
  return CUDA_SUCCESS;
}

std::vector<GraphNode*> sorted(const std::set<GraphNode*>& nodes) {
  std::vector<GraphNode*> list(nodes.begin(), nodes.end());
  std::sort(list.begin(), list.end(),
            [](const GraphNode* a, const GraphNode* b) { return a->id < b->id; });
  return list;
}

CUresult neighbours(CUgraphNode which, CUgraphNode* handles, std::size_t* count,
                    std::set<GraphNode*> GraphNode::*side) {
  MachineCall call;
  const GraphNode* node = find_node(call, which);
  if (node == nullptr || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return write_nodes(sorted(node->*side), handles, count);
}

void clear_edge_data(CUgraphEdgeData* data, const std::size_t* count) {
  if (data != nullptr) std::fill_n(data, *count, CUgraphEdgeData{});
}

}  // namespace

Graph* find_graph(MachineCall& call, const void* handle) {
  if (Graph* graph = call.core().graphs.get(handle); graph != nullptr) return graph;
  Graph* found = nullptr;
  call.core().graphs.for_each([&](Graph& graph) {
    if (found == nullptr) found = child_with(graph, handle);
  });
  return found;
}

GraphNode* find_node(MachineCall& call, const void* handle) {
  GraphNode* found = nullptr;
  call.core().graphs.for_each([&](Graph& graph) {
    if (found == nullptr) found = node_in(graph, handle);
  });
  return found;
}

CUresult read_nodes(const Graph& graph, const CUgraphNode* handles, std::size_t count,
                    std::vector<GraphNode*>* nodes) {
  if (count != 0 && handles == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    auto* node = reinterpret_cast<GraphNode*>(handles[i]);
    if (!graph.holds(node)) return CUDA_ERROR_INVALID_VALUE;
    nodes->push_back(node);
  }
  return CUDA_SUCCESS;
}

CUresult write_nodes(const std::vector<GraphNode*>& nodes, CUgraphNode* handles,
                     std::size_t* count) {
  if (handles != nullptr) {
    for (std::size_t i = 0; i < *count; ++i)
      handles[i] = i < nodes.size() ? handle_of_node(nodes[i]) : nullptr;
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
  return CUDA_SUCCESS;
}

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  MachineCall call;
  if (graph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *graph = handle_of_graph(call.core().graphs.make());
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph which) {
  MachineCall call;
  Graph* graph = call.core().graphs.get(which);
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  release_held(call, *graph);
  call.core().graphs.remove(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* result, CUgraph which) {
  MachineCall call;
  Graph* graph = find_graph(call, which);
  if (result == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *result = handle_of_graph(call.core().graphs.add(clone(*graph)));
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeFindInClone(CUgraphNode* result, CUgraphNode original, CUgraph which) {
  MachineCall call;
  const Graph* graph = find_graph(call, which);
  if (result == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (const auto& node : graph->nodes) {
    if (handle_of_node(node->cloned_from) != original) continue;
    *result = handle_of_node(node.get());
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphNodeGetType(CUgraphNode which, CUgraphNodeType* type) {
  MachineCall call;
  const GraphNode* node = find_node(call, which);
  if (node == nullptr || type == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *type = node->type;
  return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph which, CUgraphNode* handles, std::size_t* count) {
  MachineCall call;
  const Graph* graph = find_graph(call, which);
  if (graph == nullptr || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> nodes;
  for (const auto& node : graph->nodes)
    nodes.push_back(node.get());
  return write_nodes(nodes, handles, count);
}

CUresult cuGraphGetRootNodes(CUgraph which, CUgraphNode* handles, std::size_t* count) {
  MachineCall call;
  const Graph* graph = find_graph(call, which);
  if (graph == nullptr || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> roots;
  for (const auto& node : graph->nodes)
    if (node->before.empty()) roots.push_back(node.get());
  return write_nodes(roots, handles, count);
}

CUresult cuGraphGetEdges_v1(CUgraph which, CUgraphNode* from, CUgraphNode* to, std::size_t* count) {
  MachineCall call;
  const Graph* graph = find_graph(call, which);
  if (graph == nullptr || count == nullptr || (from == nullptr) != (to == nullptr))
    return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> sources, targets;
  for (const auto& node : graph->nodes)
    for (GraphNode* after : sorted(node->after)) {
      sources.push_back(node.get());
      targets.push_back(after);
    }
  std::size_t room = *count;
  write_nodes(sources, from, &room);
  return write_nodes(targets, to, count);
}

CUresult cuGraphGetEdges_v2(CUgraph which, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* data, std::size_t* count) {
  const CUresult result = cuGraphGetEdges_v1(which, from, to, count);
  if (result == CUDA_SUCCESS) clear_edge_data(data, count);
  return result;
}

CUresult cuGraphNodeGetDependencies_v1(CUgraphNode node, CUgraphNode* handles, std::size_t* count) {
  return neighbours(node, handles, count, &GraphNode::before);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* handles,
                                       CUgraphEdgeData* data, std::size_t* count) {
  const CUresult result = neighbours(node, handles, count, &GraphNode::before);
  if (result == CUDA_SUCCESS) clear_edge_data(data, count);
  return result;
}

CUresult cuGraphNodeGetDependentNodes_v1(CUgraphNode node, CUgraphNode* handles,
                                         std::size_t* count) {
  return neighbours(node, handles, count, &GraphNode::after);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* handles,
                                         CUgraphEdgeData* data, std::size_t* count) {
  const CUresult result = neighbours(node, handles, count, &GraphNode::after);
  if (result == CUDA_SUCCESS) clear_edge_data(data, count);
  return result;
}

CUresult cuGraphAddDependencies_v1(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   std::size_t count) {
  return each_edge(graph, from, to, count, [](GraphNode& source, GraphNode& target) {
    source.after.insert(&target);
    target.before.insert(&source);
  });
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, std::size_t count) {
  return cuGraphAddDependencies_v1(graph, from, to, count);
}

CUresult cuGraphRemoveDependencies_v1(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      std::size_t count) {
  return each_edge(graph, from, to, count, [](GraphNode& source, GraphNode& target) {
    source.after.erase(&target);
    target.before.erase(&source);
  });
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, std::size_t count) {
  return cuGraphRemoveDependencies_v1(graph, from, to, count);
}

CUresult cuGraphDestroyNode(CUgraphNode which) {
  MachineCall call;
  GraphNode* node = find_node(call, which);
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (GraphNode* before : node->before)
    before->after.erase(node);
  for (GraphNode* after : node->after)
    after->before.erase(node);
  std::erase_if(node->graph->nodes, [&](const auto& own) { return own.get() == node; });
  return CUDA_SUCCESS;
}

}  // namespace drgpum::emulator::driver

// SPDX-License-Identifier: Apache-2.0
// Building, copying, ordering and running graphs.

#include "emulator/machine/graph.h"

#include <algorithm>

#include "emulator/machine/submit.h"

namespace drgpum::emulator {

GraphNode* Graph::add(CUgraphNodeType type, Context* context, Work work,
                      const std::vector<GraphNode*>& dependencies) {
  auto node = std::make_unique<GraphNode>();
  node->graph = this;
  node->type = type;
  node->work = std::move(work);
  node->context = context;
  node->id = next_id++;
  for (GraphNode* before : dependencies) {
    node->before.insert(before);
    before->after.insert(node.get());
  }
  nodes.push_back(std::move(node));
  return nodes.back().get();
}

bool Graph::holds(const GraphNode* node) const {
  return std::any_of(nodes.begin(), nodes.end(),
                     [&](const auto& own) { return own.get() == node; });
}

std::vector<GraphNode*> Graph::in_order() const {
  std::map<const GraphNode*, std::size_t> missing;
  std::map<std::uint64_t, GraphNode*> ready;  // by id
  for (const auto& node : nodes) {
    missing[node.get()] = node->before.size();
    if (node->before.empty()) ready[node->id] = node.get();
  }
  std::vector<GraphNode*> order;
  while (!ready.empty()) {
    GraphNode* node = ready.begin()->second;
    ready.erase(ready.begin());
    order.push_back(node);
    for (GraphNode* next : node->after)
      if (--missing[next] == 0) ready[next->id] = next;
  }
  if (order.size() != nodes.size()) order.clear();
  return order;
}

std::unique_ptr<Graph> clone(const Graph& graph) {
  auto copy = std::make_unique<Graph>();
  std::map<const GraphNode*, GraphNode*> twin;
  for (const auto& node : graph.nodes) {
    GraphNode* made = copy->add(node->type, node->context, node->work, {});
    made->cloned_from = node.get();
    made->enabled = node->enabled;
    made->attributes = node->attributes;
    twin[node.get()] = made;
    if (auto* child = std::get_if<ChildWork>(&made->work)) {
      copy->children.push_back(clone(*child->graph));
      child->graph = copy->children.back().get();
    }
  }
  copy->held = graph.held;
  for (const auto& [object, count] : copy->held)
    object->references += count;
  for (const auto& node : graph.nodes)
    for (const GraphNode* before : node->before) {
      twin[node.get()]->before.insert(twin[before]);
      twin[before]->after.insert(twin[node.get()]);
    }
  return copy;
}

namespace {

// Runs the nodes of `graph` from `ready_ns` on; returns when the last is done. Nodes of child
// graphs run in the place of their parent.
CUresult run_nodes(Section& section, Stream& stream, GraphExec& exec, const Graph& graph,
                   std::uint64_t launch_id, std::uint64_t ready_ns, std::uint64_t* end_ns) {
  std::map<const GraphNode*, std::uint64_t> done;
  *end_ns = ready_ns;
  for (GraphNode* node : graph.in_order()) {
    NodePlace place{&exec, node, launch_id, ready_ns};
    for (const GraphNode* before : node->before)
      place.ready_ns = std::max(place.ready_ns, done[before]);
    Span when{place.ready_ns, place.ready_ns};
    CUresult result = CUDA_SUCCESS;
    if (const auto* child = std::get_if<ChildWork>(&node->work))
      result =
          run_nodes(section, stream, exec, *child->graph, launch_id, place.ready_ns, &when.end);
    else if (node->enabled)
      result = run_node(section, stream, node->work, place, when);
    if (result != CUDA_SUCCESS) return result;
    done[node] = when.end;
    *end_ns = std::max(*end_ns, when.end);
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUresult run_graph(Section& section, Stream& stream, GraphExec& exec) {
  MachineCore& core = section.core();
  section.await(stream.context->awaited_ticket(stream));
  GraphEvent event;
  event.action = GraphAction::kLaunchBegin;
  event.context = stream.context;
  event.graph = exec.graph.get();
  event.exec = &exec;
  event.stream = handle_of(stream);
  event.unique_stream = &stream;
  event.launch_id = core.next_id();
  section.tell_now([&](Observer& o) { o.on_graph(event); });
  std::uint64_t end = 0;
  const std::uint64_t ready = ready_time(section, stream, nullptr);
  const CUresult result =
      run_nodes(section, stream, exec, *exec.graph, event.launch_id, ready, &end);
  stream.context->occupy(stream, end);
  event.action = GraphAction::kLaunchEnd;
  section.tell_now([&](Observer& o) { o.on_graph(event); });
  return result;
}

}  // namespace drgpum::emulator

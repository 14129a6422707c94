// SPDX-License-Identifier: Apache-2.0
#pragma once
// Graphs: nodes of work, their order, and the recording of streams into them.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <cuda.h>

#include "emulator/machine/work.h"

namespace drgpum::emulator {

struct GraphNode {
  Graph* graph = nullptr;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  Work work;
  Context* context = nullptr;
  std::set<GraphNode*> before;  // dependencies
  std::set<GraphNode*> after;
  std::uint64_t id = 0;
  GraphNode* cloned_from = nullptr;
  bool enabled = true;
  std::map<int, CUlaunchAttributeValue> attributes;
};

// An object of the program's with a destructor for the driver to call.
struct UserObject {
  void* pointer = nullptr;
  CUhostFn destroy = nullptr;
  unsigned references = 0;
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;  // in order of creation
  std::uint64_t next_id = 1;
  Graph* cloned_from = nullptr;
  std::vector<std::unique_ptr<Graph>> children;  // of child nodes
  std::map<UserObject*, unsigned> held;          // references that the graph holds

  GraphNode* add(CUgraphNodeType type, Context* context, Work work,
                 const std::vector<GraphNode*>& dependencies);
  [[nodiscard]] bool holds(const GraphNode* node) const;
  // Nodes so that each comes after what it depends on, else in order of creation; empty for cycles.
  [[nodiscard]] std::vector<GraphNode*> in_order() const;
};

// A copy with its own nodes; the old node of each is GraphNode::cloned_from.
std::unique_ptr<Graph> clone(const Graph& graph);

struct GraphExec {
  std::unique_ptr<Graph> graph;
  const Graph* source = nullptr;  // for identity only: it may be gone
  std::uint64_t flags = 0;
  Context* context = nullptr;
};

// The recording of one or more streams into a graph.
struct Capture {
  std::uint64_t id = 0;
  Graph* graph = nullptr;
  bool owns_graph = true;  // false: recording into a graph of the program's
  Stream* origin = nullptr;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  bool invalid = false;
  std::map<Stream*, std::vector<GraphNode*>> tails;  // what the next node of a stream depends on
  std::vector<GraphNode*> abandoned;  // tails of streams that were destroyed
  std::map<Event*, std::vector<GraphNode*>> events;  // what was recorded of a stream
  std::thread::id thread;
};

}  // namespace drgpum::emulator

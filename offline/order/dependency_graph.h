// SPDX-License-Identifier: Apache-2.0
#pragma once
// The dependency graph of a program for drawing: what is ordered, and what flows where.

#include <cstdint>
#include <vector>

#include <boost/graph/compressed_sparse_row_graph.hpp>

#include "offline/order/edges.h"

namespace drgpum {

// The first eight are EdgeKind, in its order; they are guaranteed. Data edges are observed.
enum class GraphEdge : std::uint8_t {
  kStream,
  kHost,
  kLegacy,
  kEvent,
  kSync,
  kGraph,
  kPeer,
  kAllocation,
  kReadAfterWrite,
  kWriteAfterRead,
  kWriteAfterWrite,
};
constexpr bool is_data(GraphEdge edge) {
  return edge >= GraphEdge::kReadAfterWrite;
}

struct GraphEdgeInfo {
  GraphEdge kind = GraphEdge::kStream;
  std::uint32_t object = kNone;  // of a data edge
};

// Vertices are calls, by their index; marks and lost calls have no edges.
class DependencyGraph {
 public:
  using Graph =
      boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, GraphEdgeInfo,
                                         boost::no_property, std::uint32_t, std::uint32_t>;

  // Happens-before edges as OrderSweep gives them, and data edges: last writers -> reader,
  // readers -> writer, writer -> writer where none read in between. An allocation writes the whole
  // object, so does its free. Accesses of disjoint byte ranges have no edge; where ranges are not
  // known the whole object counts. Of an object's writers and readers the 64 latest are followed.
  // O(calls + uses).
  explicit DependencyGraph(const Evidence& evidence);

  const Graph& graph() const { return graph_; }

 private:
  Graph graph_;
};

// The level of a call is the length of the longest path to it over edges of both kinds;
// synchronisations, events and graph launches count 0, all other calls 1. Kahn's algorithm, where
// issue order is the topological order because every edge goes forward in it. O(calls + edges).
std::vector<std::uint32_t> levels_of(const Evidence& evidence, const DependencyGraph& graph);

}  // namespace drgpum

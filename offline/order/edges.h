// SPDX-License-Identifier: Apache-2.0
#pragma once
// What orders the calls of a program: the direct happens-before edges of each call, found in one
// sweep over the issue order.
//
// Source: CUDA C++ Programming Guide, "Asynchronous Concurrent Execution" and "Stream
// synchronization behavior" of the CUDA Runtime API.

#include <cstdint>
#include <span>
#include <vector>

#include "offline/order/evidence.h"

namespace drgpum {

enum class EdgeKind : std::uint8_t {
  kStream,      // the call before it in its stream
  kHost,        // the last call that its host thread waited for or did itself
  kLegacy,      // the legacy default stream and the blocking streams of its context
  kEvent,       // an event's record, to a stream that waits for it
  kSync,        // work of the device, to the host call that waits for it
  kGraph,       // within a graph's launch, and from its last nodes to what follows
  kPeer,        // a copy between devices and the stream of its other side
  kAllocation,  // a stream-ordered or another thread's allocation, to an access
};

struct Edge {
  std::uint32_t from = 0;
  EdgeKind kind = EdgeKind::kStream;
};

// A chain is a sequence of calls that happen one after the other: one for each stream, one for
// each host thread (its own calls and its waits), and more for the branches of graphs.
//
// Edges from a call:
//   stream s     -> the next call in s
//   host thread t: allocations, cudaFree, synchronisations and copies that block -> all that t
//                 issues later. cudaMemset, *Async and launches give no such edge.
//   legacy default stream: waits for all blocking streams of its context, which wait for it; so do
//                 per-thread default streams; non-blocking streams do not.
//   record of an event -> a stream's wait or a host's synchronisation that names it
//   device work  -> the synchronisation (or cudaFree that blocks) that waits for its stream,
//                 context or device. A query that succeeded is a synchronisation.
//   graph launch -> its first nodes; a node -> those that depend on it; last nodes -> what follows
//                 in the launch's stream.
// Marks are in no chain and have no edges.
class OrderSweep {
 public:
  explicit OrderSweep(const Evidence& evidence);

  struct Step {
    std::uint32_t api = 0;
    std::uint32_t chain = kNone;       // kNone: a mark, or a call that was lost
    bool is_host = false;              // the chain is a host thread's
    std::uint32_t chain_tail = kNone;  // the call before it in its chain
    std::span<const Edge> edges;       // valid until the next step; none twice
  };
  // The next call in issue order; false after the last.
  bool next(Step& step);

  std::uint32_t chain_count() const { return static_cast<std::uint32_t>(chain_tail_.size()); }

 private:
  struct StreamState {
    std::uint32_t chain = kNone;
    std::uint32_t tail = kNone;         // the last call, or the graph launch
    std::uint32_t seen_legacy = kNone;  // the legacy call it has already waited for
    bool dirty_for_legacy = false;
    bool dirty_for_device = false;
    bool graph_is_open = false;
    std::vector<std::uint32_t> sinks;  // of the open graph
    std::vector<std::uint32_t> lanes;  // chains for its branches
  };
  struct ContextState {
    std::uint32_t legacy = kNone;       // the stream
    std::uint32_t legacy_tail = kNone;  // its last call
    std::vector<std::uint32_t> dirty;   // blocking streams with work since then
    std::vector<std::uint32_t> streams;
  };
  struct DeviceState {
    std::uint32_t synced_by = kNone;   // thread
    std::vector<std::uint32_t> dirty;  // streams with work since its last synchronisation
    std::vector<std::uint32_t> streams;
  };
  struct AllocationEdge {
    std::uint32_t api = 0;
    std::uint32_t alloc = 0;
  };

  void find_allocation_edges();
  void add(std::uint32_t from, EdgeKind kind);
  void add_tail(std::uint32_t stream, EdgeKind kind);
  void step_host(std::uint32_t index, const Api& api, Step& step);
  void step_stream(std::uint32_t index, const Api& api, Step& step);
  void step_graph_node(std::uint32_t index, const Api& api, Step& step);
  void wait_for_device(std::uint32_t device, std::uint32_t thread);
  void enter_stream(std::uint32_t stream);
  void leave_stream(std::uint32_t index, std::uint32_t stream);
  std::uint32_t new_chain();
  std::uint32_t host_chain(std::uint32_t thread);
  std::uint32_t lane_for(StreamState& stream, const GraphNode& node);
  void place(Step& step, std::uint32_t index, std::uint32_t chain);
  std::uint32_t device_of(std::uint32_t context) const;

  const Evidence& evidence_;
  std::uint32_t index_ = 0;
  std::size_t next_graph_node_ = 0;
  std::size_t next_allocation_edge_ = 0;
  std::vector<Edge> edges_;
  std::vector<StreamState> streams_;
  std::vector<ContextState> contexts_;
  std::vector<DeviceState> devices_;
  std::vector<std::uint32_t> host_chain_;  // by thread
  std::vector<std::uint32_t> host_tail_;   // by thread: the last call that it was done with
  std::vector<std::uint32_t> chain_tail_;
  std::vector<AllocationEdge> allocation_edges_;  // by rising api
};

}  // namespace drgpum

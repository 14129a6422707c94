// SPDX-License-Identifier: Apache-2.0
#include "offline/order/edges.h"

#include <algorithm>

namespace drgpum {
namespace {

using trace::ApiKind;
using trace::StreamKind;
using trace::SyncScope;

SyncScope scope_of(const Api& api) {
  return static_cast<SyncScope>(api.flags >> kApiScopeShift);
}

bool is_node(const Api& api) {
  return (api.flags & kApiPresent) && api.kind != ApiKind::kMark;
}

bool waits_for_legacy(StreamKind kind) {
  return kind == StreamKind::kBlocking || kind == StreamKind::kPerThreadDefault;
}

bool contains(const std::vector<std::uint32_t>& list, std::uint32_t value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

OrderSweep::OrderSweep(const Evidence& evidence)
    : evidence_(evidence),
      streams_(evidence.streams.size()),
      contexts_(std::max<std::size_t>(evidence.context_device.size(), 1)),
      host_chain_(evidence.thread_count, kNone),
      host_tail_(evidence.thread_count, kNone) {
  std::uint32_t devices = 1;
  for (const std::uint16_t device : evidence.context_device)
    devices = std::max<std::uint32_t>(devices, device + 1u);
  devices_.resize(devices);
  for (std::uint32_t s = 0; s < streams_.size(); ++s) {
    const Stream& stream = evidence.streams[s];
    ContextState& context = contexts_[stream.context];
    if (stream.kind == StreamKind::kLegacyDefault) context.legacy = s;
    context.streams.push_back(s);
    devices_[device_of(stream.context)].streams.push_back(s);
  }
  find_allocation_edges();
}

std::uint32_t OrderSweep::device_of(std::uint32_t context) const {
  return context < evidence_.context_device.size() ? evidence_.context_device[context] : 0;
}

// Host order or stream order gives most allocations their edges; the rest are collected here, one
// for each stream that uses the object. Branches of a graph wait for nothing that another waits for.
void OrderSweep::find_allocation_edges() {
  std::vector<std::uint32_t> seen;
  for (std::uint32_t o = 0; o < evidence_.objects.size(); ++o) {
    const std::uint32_t alloc = evidence_.objects[o].alloc;
    if (alloc >= evidence_.api_count() || evidence_.apis[alloc].kind != ApiKind::kAlloc) continue;
    const Api& from = evidence_.apis[alloc];
    seen.clear();
    for (const Use& use : evidence_.uses_of(o)) {
      const Api& to = evidence_.apis[use.api];
      const bool implied =
          from.stream == kNone ? from.thread == to.thread : from.stream == to.stream;
      if (implied || use.api <= alloc || contains(seen, to.stream)) continue;
      if (!(to.flags & kApiInGraph)) seen.push_back(to.stream);
      allocation_edges_.push_back({use.api, alloc});
    }
  }
  std::sort(allocation_edges_.begin(), allocation_edges_.end(),
            [](const AllocationEdge& a, const AllocationEdge& b) {
              return a.api != b.api ? a.api < b.api : a.alloc < b.alloc;
            });
}

void OrderSweep::add(std::uint32_t from, EdgeKind kind) {
  if (from == kNone) return;
  const bool known =
      edges_.size() < 16 &&
      std::any_of(edges_.begin(), edges_.end(), [&](const Edge& e) { return e.from == from; });
  if (!known) edges_.push_back({from, kind});
}

void OrderSweep::add_tail(std::uint32_t stream, EdgeKind kind) {
  const StreamState& state = streams_[stream];
  if (!state.graph_is_open || state.sinks.empty()) return add(state.tail, kind);
  for (const std::uint32_t sink : state.sinks)
    add(sink, kind);
}

std::uint32_t OrderSweep::new_chain() {
  chain_tail_.push_back(kNone);
  return chain_count() - 1;
}

std::uint32_t OrderSweep::host_chain(std::uint32_t thread) {
  if (host_chain_[thread] == kNone) host_chain_[thread] = new_chain();
  return host_chain_[thread];
}

void OrderSweep::place(Step& step, std::uint32_t index, std::uint32_t chain) {
  step.chain = chain;
  step.chain_tail = chain_tail_[chain];
  chain_tail_[chain] = index;
}

// Everything that a call in `stream` waits for besides its own thread.
void OrderSweep::enter_stream(std::uint32_t stream) {
  StreamState& state = streams_[stream];
  add_tail(stream, state.graph_is_open ? EdgeKind::kGraph : EdgeKind::kStream);
  state.graph_is_open = false;
  state.sinks.clear();
  const Stream& about = evidence_.streams[stream];
  ContextState& context = contexts_[about.context];
  if (about.kind == StreamKind::kLegacyDefault) {
    for (const std::uint32_t other : context.dirty) {
      add_tail(other, EdgeKind::kLegacy);
      streams_[other].dirty_for_legacy = false;
    }
    context.dirty.clear();
  } else if (waits_for_legacy(about.kind) && context.legacy_tail != kNone &&
             state.seen_legacy != context.legacy_tail) {
    add_tail(context.legacy, EdgeKind::kLegacy);
    state.seen_legacy = context.legacy_tail;
  }
}

void OrderSweep::leave_stream(std::uint32_t index, std::uint32_t stream) {
  StreamState& state = streams_[stream];
  const Stream& about = evidence_.streams[stream];
  ContextState& context = contexts_[about.context];
  if (about.kind == StreamKind::kLegacyDefault) {
    context.legacy_tail = index;
  } else if (waits_for_legacy(about.kind) && !state.dirty_for_legacy) {
    state.dirty_for_legacy = true;
    context.dirty.push_back(stream);
  }
  if (state.dirty_for_device) return;
  state.dirty_for_device = true;
  devices_[device_of(about.context)].dirty.push_back(stream);
}

// A thread that synchronised the device last time as well needs only what came since.
void OrderSweep::wait_for_device(std::uint32_t device, std::uint32_t thread) {
  DeviceState& state = devices_[std::min<std::size_t>(device, devices_.size() - 1)];
  const bool again = state.synced_by == thread;
  for (const std::uint32_t stream : again ? state.dirty : state.streams)
    add_tail(stream, EdgeKind::kSync);
  for (const std::uint32_t stream : state.dirty)
    streams_[stream].dirty_for_device = false;
  state.dirty.clear();
  state.synced_by = thread;
}

void OrderSweep::step_host(std::uint32_t index, const Api& api, Step& step) {
  add(host_tail_[api.thread], EdgeKind::kHost);
  if (api.kind == ApiKind::kSynchronize) {
    switch (scope_of(api)) {
      case SyncScope::kStream:
        if (api.stream != kNone) add_tail(api.stream, EdgeKind::kSync);
        break;
      case SyncScope::kEvent:
        add(api.payload, EdgeKind::kSync);
        break;
      case SyncScope::kContext:
        for (const std::uint32_t stream : contexts_[api.context].streams)
          add_tail(stream, EdgeKind::kSync);
        break;
      case SyncScope::kDevice:
        wait_for_device(device_of(api.context), api.thread);
        break;
    }
  } else if (api.kind == ApiKind::kFree && (api.flags & kApiBlocksHost)) {
    wait_for_device(
        api.payload != kNone ? evidence_.objects[api.payload].device : device_of(api.context),
        api.thread);
  }
  place(step, index, host_chain(api.thread));
  step.is_host = true;
  host_tail_[api.thread] = index;
}

void OrderSweep::step_stream(std::uint32_t index, const Api& api, Step& step) {
  StreamState& state = streams_[api.stream];
  enter_stream(api.stream);
  add(host_tail_[api.thread], EdgeKind::kHost);
  if (api.kind == ApiKind::kStreamWait) add(api.payload, EdgeKind::kEvent);
  const bool peer = api.kind == ApiKind::kMemcpy && api.payload != kNone;
  if (peer) enter_stream(api.payload);
  if (state.chain == kNone) state.chain = new_chain();
  place(step, index, state.chain);
  state.tail = index;
  leave_stream(index, api.stream);
  if (peer) {
    for (Edge& edge : edges_)
      if (edge.from == streams_[api.payload].tail) edge.kind = EdgeKind::kPeer;
    streams_[api.payload].tail = index;
    leave_stream(index, api.payload);
  }
  if (api.kind == ApiKind::kGraphLaunch) state.graph_is_open = true;
  if (api.flags & kApiBlocksHost) host_tail_[api.thread] = index;
}

// A branch goes on in the chain of the node before it, else in one that an earlier launch left, as
// launches of one stream follow each other.
std::uint32_t OrderSweep::lane_for(StreamState& stream, const GraphNode& node) {
  const std::uint32_t launch = stream.tail;
  const auto continues = [&](std::uint32_t chain) {
    const std::uint32_t tail = chain_tail_[chain];
    return tail == kNone || tail <= launch;
  };
  if (stream.chain == kNone) stream.chain = new_chain();
  for (const std::uint32_t before : node.depends_on) {
    if (chain_tail_[stream.chain] == before) return stream.chain;
    for (const std::uint32_t lane : stream.lanes)
      if (chain_tail_[lane] == before) return lane;
  }
  if (continues(stream.chain)) return stream.chain;
  for (const std::uint32_t lane : stream.lanes)
    if (continues(lane)) return lane;
  stream.lanes.push_back(new_chain());
  return stream.lanes.back();
}

void OrderSweep::step_graph_node(std::uint32_t index, const Api& api, Step& step) {
  while (next_graph_node_ < evidence_.graph_nodes.size() &&
         evidence_.graph_nodes[next_graph_node_].api < index)
    ++next_graph_node_;
  const GraphNode& node = evidence_.graph_nodes[next_graph_node_];
  StreamState& state = streams_[api.stream];
  for (const std::uint32_t before : node.depends_on)
    add(before, EdgeKind::kGraph);
  if (node.depends_on.empty()) add(state.tail, EdgeKind::kGraph);
  place(step, index, lane_for(state, node));
  std::erase_if(state.sinks, [&](std::uint32_t sink) { return contains(node.depends_on, sink); });
  state.sinks.push_back(index);
  leave_stream(index, api.stream);
}

bool OrderSweep::next(Step& step) {
  if (index_ >= evidence_.api_count()) return false;
  const std::uint32_t index = index_++;
  const Api& api = evidence_.apis[index];
  edges_.clear();
  step = {index, kNone, false, kNone, {}};
  if (!is_node(api)) return true;
  for (; next_allocation_edge_ < allocation_edges_.size() &&
         allocation_edges_[next_allocation_edge_].api == index;
       ++next_allocation_edge_)
    add(allocation_edges_[next_allocation_edge_].alloc, EdgeKind::kAllocation);
  const bool on_stream = api.stream != kNone && api.kind != ApiKind::kSynchronize;
  if (!on_stream) {
    step_host(index, api, step);
  } else if ((api.flags & kApiInGraph) && streams_[api.stream].graph_is_open) {
    step_graph_node(index, api, step);
  } else {
    step_stream(index, api, step);
  }
  step.edges = edges_;
  return true;
}

}  // namespace drgpum

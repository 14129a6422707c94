// SPDX-License-Identifier: Apache-2.0
#pragma once
// Happens-before by its definition, pair by pair, for small traces. Shares nothing with the sweep
// that it checks: no tails, no chains, no clocks.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "offline/order/evidence.h"

namespace drgpum {

class SlowOrder {
 public:
  explicit SlowOrder(const Evidence& evidence)
      : e_(evidence), reach_(evidence.api_count(), std::vector<bool>(evidence.api_count(), false)) {
    for (std::uint32_t b = 0; b < e_.api_count(); ++b)
      for (std::uint32_t a = 0; a < b; ++a)
        if (is_call(a) && is_call(b) && directly(a, b)) join(a, b);
  }
  bool before(std::uint32_t a, std::uint32_t b) const { return reach_[b][a]; }
  // Work that a stream carries.
  bool on_stream(std::uint32_t api) const {
    return is_call(api) && e_.apis[api].stream != kNone &&
           e_.apis[api].kind != trace::ApiKind::kSynchronize;
  }

 private:
  bool is_call(std::uint32_t api) const {
    return (e_.apis[api].flags & kApiPresent) && e_.apis[api].kind != trace::ApiKind::kMark;
  }
  void join(std::uint32_t a, std::uint32_t b) {
    reach_[b][a] = true;
    for (std::uint32_t before_a = 0; before_a < a; ++before_a)
      if (reach_[a][before_a]) reach_[b][before_a] = true;
  }

  std::vector<std::uint32_t> streams_of(std::uint32_t api) const {
    if (!on_stream(api)) return {};
    std::vector<std::uint32_t> streams{e_.apis[api].stream};
    const bool peer = e_.apis[api].kind == trace::ApiKind::kMemcpy && e_.apis[api].payload != kNone;
    if (peer) streams.push_back(e_.apis[api].payload);
    return streams;
  }
  std::uint32_t device_of(std::uint32_t context) const { return e_.context_device[context]; }

  // Which launch of a graph the call is a node of; kNone: of none.
  std::uint32_t graph_of(std::uint32_t api) const {
    const GraphNode* node = e_.graph_node(api);
    return node == nullptr ? kNone : static_cast<std::uint32_t>(node->launch);
  }

  bool directly(std::uint32_t a, std::uint32_t b) const {
    return in_stream_order(a, b) || by_legacy_stream(a, b) || by_event(a, b) || by_host(a, b) ||
           by_synchronisation(a, b) || by_allocation(a, b);
  }
  bool in_stream_order(std::uint32_t a, std::uint32_t b) const {
    if (graph_of(a) != kNone && graph_of(a) == graph_of(b)) {
      const auto& after = e_.graph_node(b)->depends_on;
      return std::find(after.begin(), after.end(), a) != after.end();
    }
    for (const std::uint32_t s : streams_of(a))
      for (const std::uint32_t t : streams_of(b))
        if (s == t) return true;
    return false;
  }
  bool by_legacy_stream(std::uint32_t a, std::uint32_t b) const {
    using trace::StreamKind;
    for (const std::uint32_t s : streams_of(a)) {
      for (const std::uint32_t t : streams_of(b)) {
        if (s == t || e_.streams[s].context != e_.streams[t].context) continue;
        const StreamKind x = e_.streams[s].kind;
        const StreamKind y = e_.streams[t].kind;
        if (x == StreamKind::kLegacyDefault && y != StreamKind::kNonBlocking) return true;
        if (y == StreamKind::kLegacyDefault && x != StreamKind::kNonBlocking) return true;
      }
    }
    return false;
  }
  bool by_event(std::uint32_t a, std::uint32_t b) const {
    return e_.apis[b].kind == trace::ApiKind::kStreamWait && e_.apis[b].payload == a;
  }
  // What the host did itself, or waited for, is over before it goes on.
  bool by_host(std::uint32_t a, std::uint32_t b) const {
    const bool done = !on_stream(a) || (e_.apis[a].flags & kApiBlocksHost);
    return done && e_.apis[a].thread == e_.apis[b].thread;
  }
  bool by_synchronisation(std::uint32_t a, std::uint32_t b) const {
    const Api& api = e_.apis[b];
    if (api.kind == trace::ApiKind::kFree && !on_stream(b) && (api.flags & kApiBlocksHost))
      return waits_for_device(a, api.payload == kNone ? device_of(api.context)
                                                      : e_.objects[api.payload].device);
    if (api.kind != trace::ApiKind::kSynchronize) return false;
    const std::vector<std::uint32_t> streams = streams_of(a);
    switch (static_cast<trace::SyncScope>(api.flags >> kApiScopeShift)) {
      case trace::SyncScope::kStream:
        return std::find(streams.begin(), streams.end(), api.stream) != streams.end();
      case trace::SyncScope::kEvent:
        return api.payload == a;
      case trace::SyncScope::kContext:
        return std::any_of(streams.begin(), streams.end(), [&](std::uint32_t s) {
          return e_.streams[s].context == api.context;
        });
      case trace::SyncScope::kDevice:
        return waits_for_device(a, device_of(api.context));
    }
    return false;
  }
  bool waits_for_device(std::uint32_t a, std::uint32_t device) const {
    const std::vector<std::uint32_t> streams = streams_of(a);
    return std::any_of(streams.begin(), streams.end(), [&](std::uint32_t s) {
      return device_of(e_.streams[s].context) == device;
    });
  }
  bool by_allocation(std::uint32_t a, std::uint32_t b) const {
    if (e_.apis[a].kind != trace::ApiKind::kAlloc) return false;
    for (std::uint32_t o = 0; o < e_.objects.size(); ++o) {
      if (e_.objects[o].alloc != a) continue;
      for (const Use& use : e_.uses_of(o))
        if (use.api == b) return true;
    }
    return false;
  }

  const Evidence& e_;
  std::vector<std::vector<bool>> reach_;  // by later call, then by earlier
};

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/order/dependency_graph.h"

#include <algorithm>
#include <utility>

namespace drgpum {
namespace {

using trace::ApiKind;

constexpr std::size_t kFollowed = 64;

struct Edges {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
  std::vector<GraphEdgeInfo> infos;
  void add(std::uint32_t from, std::uint32_t to, GraphEdgeInfo info) {
    if (from >= to) return;
    ends.emplace_back(from, to);
    infos.push_back(info);
  }
};

void add_order(const Evidence& evidence, Edges& edges) {
  OrderSweep sweep(evidence);
  OrderSweep::Step step;
  while (sweep.next(step))
    for (const Edge& edge : step.edges)
      edges.add(edge.from, step.api, {static_cast<GraphEdge>(edge.kind), kNone});
}

struct Touch {
  std::uint32_t api = 0;
  trace::ByteRange range;
};

bool overlap(const trace::ByteRange& a, const trace::ByteRange& b) {
  return a.begin < b.end && b.begin < a.end;
}

// The writers and readers of one object whose bytes nobody wrote since.
class DataFlow {
 public:
  DataFlow(std::uint32_t object, Edges& edges) : object_(object), edges_(edges) {}

  void read(const Touch& touch) {
    for (const Touch& writer : writers_)
      if (overlap(writer.range, touch.range)) link(writer, touch, GraphEdge::kReadAfterWrite);
    push(readers_, touch);
  }
  void write(const Touch& touch) {
    bool was_read = false;
    for (const Touch& reader : readers_) {
      if (!overlap(reader.range, touch.range)) continue;
      link(reader, touch, GraphEdge::kWriteAfterRead);
      was_read = true;
    }
    if (!was_read)
      for (const Touch& writer : writers_)
        if (overlap(writer.range, touch.range)) link(writer, touch, GraphEdge::kWriteAfterWrite);
    const auto is_covered = [&](const Touch& old) {
      return touch.range.begin <= old.range.begin && old.range.end <= touch.range.end;
    };
    std::erase_if(readers_, is_covered);
    std::erase_if(writers_, is_covered);
    push(writers_, touch);
  }

 private:
  void link(const Touch& from, const Touch& to, GraphEdge kind) {
    edges_.add(from.api, to.api, {kind, object_});
  }
  static void push(std::vector<Touch>& list, const Touch& touch) {
    if (list.size() == kFollowed) list.erase(list.begin());
    list.push_back(touch);
  }

  std::uint32_t object_;
  Edges& edges_;
  std::vector<Touch> writers_;
  std::vector<Touch> readers_;
};

trace::ByteRange range_of(const Evidence& evidence, const Use& use, std::uint64_t size) {
  if (!use.has_detail()) return {0, size};
  const trace::ByteRange& bounds = evidence.details[use.detail()].bounds;
  return bounds.end == 0 ? trace::ByteRange{0, size} : bounds;
}

void add_data(const Evidence& evidence, Edges& edges) {
  for (std::uint32_t o = 0; o < evidence.objects.size(); ++o) {
    const Object& object = evidence.objects[o];
    const trace::ByteRange whole{0, std::max<std::uint64_t>(object.size, 1)};
    DataFlow flow(o, edges);
    const bool allocated =
        object.alloc < evidence.api_count() && evidence.apis[object.alloc].kind == ApiKind::kAlloc;
    if (allocated) flow.write({object.alloc, whole});
    for (const Use& use : evidence.uses_of(o)) {
      const Touch touch{use.api, range_of(evidence, use, whole.end)};
      if (use.reads()) flow.read(touch);
      if (use.writes()) flow.write(touch);
    }
    if (object.free != kNone) flow.write({object.free, whole});
  }
}

DependencyGraph::Graph build(const Evidence& evidence) {
  Edges edges;
  add_order(evidence, edges);
  add_data(evidence, edges);
  return DependencyGraph::Graph(boost::edges_are_unsorted_multi_pass, edges.ends.begin(),
                                edges.ends.end(), edges.infos.begin(), evidence.api_count());
}

std::uint32_t weight_of(ApiKind kind) {
  switch (kind) {
    case ApiKind::kEventRecord:
    case ApiKind::kStreamWait:
    case ApiKind::kSynchronize:
    case ApiKind::kGraphLaunch:
    case ApiKind::kMark:
      return 0;
    default:
      return 1;
  }
}

}  // namespace

DependencyGraph::DependencyGraph(const Evidence& evidence) : graph_(build(evidence)) {}

std::vector<std::uint32_t> levels_of(const Evidence& evidence, const DependencyGraph& graph) {
  std::vector<std::uint32_t> levels(evidence.api_count(), 0);
  for (std::uint32_t from = 0; from < evidence.api_count(); ++from) {
    const std::uint32_t next = levels[from] + weight_of(evidence.apis[from].kind);
    const auto [begin, end] = boost::out_edges(from, graph.graph());
    for (auto edge = begin; edge != end; ++edge) {
      std::uint32_t& level = levels[boost::target(*edge, graph.graph())];
      level = std::max(level, next);
    }
  }
  return levels;
}

}  // namespace drgpum

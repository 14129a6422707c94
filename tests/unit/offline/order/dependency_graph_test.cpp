// SPDX-License-Identifier: Apache-2.0
#include "offline/order/dependency_graph.h"

#include <set>

#include "tests/support/judged.h"
#include "tests/support/random_program.h"

namespace drgpum {
namespace {

// "0->2 RAW" for each data edge, by rising ends.
std::set<std::string> data_edges(std::string_view text) {
  const Evidence evidence = evidence_from_text(text);
  const DependencyGraph graph(evidence);
  std::set<std::string> result;
  const auto [begin, end] = boost::edges(graph.graph());
  for (auto edge = begin; edge != end; ++edge) {
    const GraphEdge kind = graph.graph()[*edge].kind;
    if (!is_data(kind)) continue;
    const char* words[] = {"RAW", "WAR", "WAW"};
    result.insert(std::to_string(boost::source(*edge, graph.graph())) + "->" +
                  std::to_string(boost::target(*edge, graph.graph())) + " " +
                  words[static_cast<int>(kind) - static_cast<int>(GraphEdge::kReadAfterWrite)]);
  }
  return result;
}

using Strings = std::set<std::string>;

TEST(DependencyGraph, LinksWritersReadersAndTheFree) {
  EXPECT_EQ(data_edges("alloc A 1K; memcpy h2d A; launch k reads A; launch l writes A; free A"),
            (Strings{"0->1 WAW", "1->2 RAW", "2->3 WAR", "3->4 WAW"}));
}

TEST(DependencyGraph, DoesNotLinkDisjointBytes) {
  EXPECT_EQ(data_edges("alloc A 1K; memcpy h2d A[0:512); memcpy h2d A[512:1024); launch k reads A"),
            (Strings{"0->1 WAW", "0->2 WAW", "0->3 RAW", "1->3 RAW", "2->3 RAW"}));
}

TEST(DependencyGraph, DataEdgesAreNoOrder) {
  const Evidence evidence = evidence_from_text(
      "stream s; stream t; alloc A 1K; launch k writes A on=s; launch l reads A on=t");
  const DependencyGraph graph(evidence);
  bool linked = false;
  const auto [begin, end] = boost::out_edges(1u, graph.graph());
  for (auto edge = begin; edge != end; ++edge) {
    linked = true;
    EXPECT_TRUE(is_data(graph.graph()[*edge].kind));
  }
  EXPECT_TRUE(linked);
}

TEST(Levels, CountTheCallsOnTheLongestPath) {
  const Evidence evidence = evidence_from_text(
      "stream s; stream t\nalloc A 1K; launch a writes A on=s; launch b on=t; "
      "record e on=s; wait e on=t; launch c reads A on=t");
  EXPECT_EQ(levels_of(evidence, DependencyGraph(evidence)),
            (std::vector<std::uint32_t>{0, 1, 1, 2, 2, 2}));
}

TEST(Levels, RespectEveryEdgeOfRandomPrograms) {
  for (std::uint32_t seed = 0; seed < 100; ++seed) {
    const Evidence evidence = evidence_from_text(RandomProgram(seed, seed % 2 == 0).text());
    const DependencyGraph graph(evidence);
    const auto levels = levels_of(evidence, graph);
    const auto [begin, end] = boost::edges(graph.graph());
    for (auto edge = begin; edge != end; ++edge) {
      const auto from = boost::source(*edge, graph.graph());
      const auto to = boost::target(*edge, graph.graph());
      ASSERT_LT(from, to);
      const bool counts = evidence.apis[from].kind == trace::ApiKind::kLaunch ||
                          evidence.apis[from].kind == trace::ApiKind::kMemcpy ||
                          evidence.apis[from].kind == trace::ApiKind::kAlloc;
      ASSERT_LE(levels[from] + (counts ? 1 : 0), levels[to]) << seed;
    }
  }
}

}  // namespace
}  // namespace drgpum

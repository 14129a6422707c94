// SPDX-License-Identifier: Apache-2.0
#include "offline/report/report_dot.h"

#include <array>
#include <map>
#include <ostream>

#include "offline/report/classic_stream.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

struct EdgeStyle {
  std::string_view word;
  std::string_view colour;
};
constexpr std::array<EdgeStyle, 11> kStyles{{{"stream", "black"},
                                             {"host", "gray40"},
                                             {"legacy", "purple"},
                                             {"event", "blue"},
                                             {"sync", "darkgreen"},
                                             {"graph", "brown"},
                                             {"peer", "orange"},
                                             {"allocation", "gray60"},
                                             {"RAW", "red"},
                                             {"WAR", "red3"},
                                             {"WAW", "red4"}}};

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : printable(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

bool is_drawn(const Api& api) {
  return (api.flags & kApiPresent) && api.kind != trace::ApiKind::kMark;
}

void write_clusters(const Report& report, const std::vector<std::uint32_t>& levels,
                    std::uint32_t begin, std::uint32_t end, std::ostream& out) {
  std::map<std::string, std::vector<std::uint32_t>> columns;
  for (std::uint32_t call = begin; call < end; ++call) {
    const Api& api = report.evidence.apis[call];
    if (!is_drawn(api)) continue;
    const bool host = api.stream == kNone || api.kind == trace::ApiKind::kSynchronize;
    columns[host ? "host thread " + std::to_string(api.thread)
                 : "stream " + std::to_string(report.evidence.streams[api.stream].id)]
        .push_back(call);
  }
  std::size_t cluster = 0;
  for (const auto& [name, calls] : columns) {
    out << "  subgraph cluster_" << cluster++ << " {\n    label=" << quoted(name) << ";\n";
    for (const std::uint32_t call : calls)
      out << "    n" << call << " [label="
          << quoted(report.describe_call(call) + ", level " + std::to_string(levels[call]))
          << "];\n";
    out << "  }\n";
  }
}

}  // namespace

void write_dot(const Report& report, std::uint32_t begin, std::uint32_t end, std::ostream& out) {
  const ClassicStream classic(out);
  const DependencyGraph graph(report.evidence);
  const std::vector<std::uint32_t> levels = levels_of(report.evidence, graph);
  out << "digraph drgpum {\n  node [shape=box, fontsize=10];\n";
  write_clusters(report, levels, begin, end, out);
  for (std::uint32_t from = begin; from < end; ++from) {
    const auto [first, last] = boost::out_edges(from, graph.graph());
    for (auto edge = first; edge != last; ++edge) {
      const std::uint32_t to = boost::target(*edge, graph.graph());
      if (to >= end) continue;
      const GraphEdgeInfo& info = graph.graph()[*edge];
      const EdgeStyle& style = kStyles.at(static_cast<std::size_t>(info.kind));
      out << "  n" << from << " -> n" << to << " [color=" << style.colour;
      if (is_data(info.kind)) {
        out << ", style=dashed, constraint=false, label="
            << quoted(std::string(style.word) + " " + report.label(info.object));
      } else {
        out << ", tooltip=" << quoted(std::string(style.word));
      }
      out << "];\n";
    }
  }
  out << "}\n";
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// The calls of a report for drawing: in columns where there are few, else an overview and pages.
// CallColumns and PagedCalls in gui/src/model/report.ts.

#include <cstdint>
#include <string>
#include <vector>

#include "offline/order/dependency_graph.h"
#include "offline/report/page_columns.h"
#include "offline/report/report.h"

namespace drgpum {

// Calls up to this number are in the page itself, with their edges.
inline constexpr std::uint32_t kMaxPageCalls = 500'000;
// Of one page of the others.
inline constexpr std::uint32_t kCallsOfPage = 1u << 15;
// Of an overview: stretches of calls or levels.
inline constexpr std::uint32_t kOverviewStretches = 2048;

class PageCalls {
 public:
  PageCalls(const Report& report, const PathTable& paths);

  bool is_paged() const { return report_.evidence.api_count() > kMaxPageCalls; }
  std::uint32_t page_count() const;

  // The value of `calls`.
  void write(const ColumnWriter& to) const;
  // One page as a container (column_pack.h): of calls in issue order, or by level. Each comes with
  // the edges to and from its calls.
  std::string page(std::uint32_t number, bool by_level) const;

 private:
  void write_columns(const std::vector<std::uint32_t>& calls, const ColumnWriter& to) const;
  void write_edges(const std::vector<std::uint32_t>& calls, const ColumnWriter& to) const;
  void write_overview(const ColumnWriter& to) const;
  void write_critical_path(const ColumnWriter& to) const;
  void number_tables();

  const Report& report_;
  const PathTable& paths_;
  DependencyGraph graph_;
  std::vector<std::uint32_t> levels_;
  std::vector<std::uint32_t> by_level_;      // calls
  std::vector<std::uint64_t> times_;         // by call, in ns; empty without times
  std::vector<std::uint64_t> edges_begin_;   // by call, and one more: into edges_in_
  std::vector<std::uint32_t> edges_in_;      // from
  std::vector<std::uint8_t> edge_kinds_;     // GraphEdge
  NumberedTexts kinds_;
  NumberedTexts names_;
  NumberedTexts kernels_;
  std::vector<std::uint32_t> kind_number_;    // by kind
  std::vector<std::uint32_t> name_number_;    // by place in the evidence's names
  std::vector<std::uint32_t> kernel_number_;  // by kernel id
};

}  // namespace drgpum

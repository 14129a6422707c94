// SPDX-License-Identifier: Apache-2.0
#include "offline/report/page_calls.h"

#include <algorithm>
#include <numeric>
#include <sstream>

#include "offline/order/device_moments.h"
#include "offline/report/page_moments.h"
#include "proto/trace/names.h"

namespace drgpum {
namespace {

constexpr std::size_t kKinds = 32;

std::vector<std::uint32_t> sorted_by_level(const std::vector<std::uint32_t>& levels) {
  const std::uint32_t highest = levels.empty() ? 0 : *std::max_element(levels.begin(), levels.end());
  std::vector<std::uint32_t> first(highest + 2, 0);
  for (const std::uint32_t level : levels)
    ++first[level + 1];
  std::partial_sum(first.begin(), first.end(), first.begin());
  std::vector<std::uint32_t> order(levels.size());
  for (std::uint32_t call = 0; call < levels.size(); ++call)
    order[first[levels[call]]++] = call;
  return order;
}

std::int64_t stream_of(const Evidence& e, const Api& api) {
  return api.stream == kNone ? std::int64_t{-1}
                             : static_cast<std::int64_t>(e.streams[api.stream].id);
}

}  // namespace

PageCalls::PageCalls(const Report& report, const PathTable& paths)
    : report_(report),
      paths_(paths),
      graph_(report.evidence),
      levels_(levels_of(report.evidence, graph_)),
      by_level_(sorted_by_level(levels_)),
      times_(times_of_calls(report)) {
  // The graph knows edges by their start; pages need them by their end too.
  const std::uint32_t n = report.evidence.api_count();
  const auto& graph = graph_.graph();
  edges_begin_.assign(std::size_t{n} + 1, 0);
  for (std::uint32_t from = 0; from < n; ++from)
    for (auto [edge, end] = boost::out_edges(from, graph); edge != end; ++edge)
      ++edges_begin_[boost::target(*edge, graph) + 1];
  std::partial_sum(edges_begin_.begin(), edges_begin_.end(), edges_begin_.begin());
  std::vector<std::uint64_t> next(edges_begin_.begin(), edges_begin_.end() - 1);
  edges_in_.resize(edges_begin_.back());
  edge_kinds_.resize(edges_begin_.back());
  for (std::uint32_t from = 0; from < n; ++from)
    for (auto [edge, end] = boost::out_edges(from, graph); edge != end; ++edge) {
      const std::uint64_t at = next[boost::target(*edge, graph)]++;
      edges_in_[at] = from;
      edge_kinds_[at] = static_cast<std::uint8_t>(graph[*edge].kind);
    }
  number_tables();
}

void PageCalls::number_tables() {
  const Evidence& e = report_.evidence;
  kind_number_.assign(kKinds, kNone);
  name_number_.assign(e.names.size(), kNone);
  for (std::uint32_t i = 0; i < e.api_count(); ++i) {
    const Api& api = e.apis[i];
    std::uint32_t& kind = kind_number_[static_cast<std::size_t>(api.kind) % kKinds];
    if (kind == kNone) kind = kinds_.number_of(std::string(trace::enum_name(api.kind)));
    if (name_number_[api.name] == kNone) name_number_[api.name] = names_.number_of(e.names[api.name]);
    if (api.kind != trace::ApiKind::kLaunch) continue;
    if (api.payload >= kernel_number_.size()) kernel_number_.resize(std::size_t{api.payload} + 1, kNone);
    if (kernel_number_[api.payload] == kNone)
      kernel_number_[api.payload] = kernels_.number_of(report_.kernel_of(i));
  }
}

std::uint32_t PageCalls::page_count() const {
  return (report_.evidence.api_count() + kCallsOfPage - 1) / kCallsOfPage;
}

void PageCalls::write_columns(const std::vector<std::uint32_t>& calls,
                              const ColumnWriter& to) const {
  const Evidence& e = report_.evidence;
  const std::size_t n = calls.size();
  const auto api = [&](std::uint32_t i) -> const Api& { return e.apis[calls[i]]; };
  to.column("kind", n, [&](std::uint32_t i) {
    return kind_number_[static_cast<std::size_t>(api(i).kind) % kKinds];
  });
  to.column("name", n, [&](std::uint32_t i) { return name_number_[api(i).name]; });
  to.column("stream", n, [&](std::uint32_t i) { return stream_of(e, api(i)); });
  to.column("site", n, [&](std::uint32_t i) { return paths_.site_of(calls[i]); });
  to.column("kernel", n, [&](std::uint32_t i) {
    return api(i).kind == trace::ApiKind::kLaunch
               ? static_cast<std::int64_t>(kernel_number_[api(i).payload])
               : std::int64_t{-1};
  });
  to.column("level", n, [&](std::uint32_t i) { return levels_[calls[i]]; });
  if (!times_.empty())
    to.column("time_ns", n, [&](std::uint32_t i) { return times_[calls[i]]; });
}

// By rising end: those that end at these calls, and of a page those that begin there and end
// elsewhere.
void PageCalls::write_edges(const std::vector<std::uint32_t>& calls, const ColumnWriter& to) const {
  struct Drawn {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint8_t kind = 0;
  };
  std::vector<Drawn> edges;
  std::vector<bool> is_here(is_paged() ? report_.evidence.api_count() : 0, false);
  for (const std::uint32_t call : calls) {
    for (std::uint64_t at = edges_begin_[call]; at < edges_begin_[call + 1]; ++at)
      edges.push_back({edges_in_[at], call, edge_kinds_[at]});
    if (is_paged()) is_here[call] = true;
  }
  if (is_paged())
    for (const std::uint32_t call : calls)
      for (auto [edge, end] = boost::out_edges(call, graph_.graph()); edge != end; ++edge) {
        const auto target = static_cast<std::uint32_t>(boost::target(*edge, graph_.graph()));
        const auto kind = static_cast<std::uint8_t>(graph_.graph()[*edge].kind);
        if (!is_here[target]) edges.push_back({call, target, kind});
      }
  to.column("edge_from", edges.size(), [&](std::uint32_t i) { return edges[i].from; });
  to.column("edge_to", edges.size(), [&](std::uint32_t i) { return edges[i].to; });
  to.column("edge_kind", edges.size(), [&](std::uint32_t i) { return edges[i].kind; });
}

// How many calls of each kind lie in each stretch of each stream's lane, by call, by level and by
// time.
void PageCalls::write_overview(const ColumnWriter& to) const {
  const Evidence& e = report_.evidence;
  const std::uint32_t n = e.api_count();
  std::vector<std::int64_t> lanes;
  for (std::uint32_t i = 0; i < n; ++i)
    if (const std::int64_t stream = stream_of(e, e.apis[i]);
        std::find(lanes.begin(), lanes.end(), stream) == lanes.end())
      lanes.push_back(stream);
  std::sort(lanes.begin(), lanes.end());
  std::uint32_t kinds = 0;
  for (const std::uint32_t number : kind_number_)
    if (number != kNone) kinds = std::max(kinds, number + 1);
  const std::uint32_t level_count = n == 0 ? 1 : levels_[by_level_.back()] + 1;
  const auto counts = [&](std::uint64_t extent, auto place) {
    std::vector<std::uint32_t> sums(lanes.size() * kOverviewStretches * kinds, 0);
    for (std::uint32_t i = 0; i < n; ++i) {
      const auto lane = std::lower_bound(lanes.begin(), lanes.end(), stream_of(e, e.apis[i])) - lanes.begin();
      const std::uint64_t stretch = place(i) * std::uint64_t{kOverviewStretches} / extent;
      const std::uint32_t kind = kind_number_[static_cast<std::size_t>(e.apis[i].kind) % kKinds];
      ++sums[(static_cast<std::size_t>(lane) * kOverviewStretches + stretch) * kinds + kind];
    }
    return sums;
  };
  JsonWriter& json = to.json();
  json.key("overview").begin_object();
  json.field("stretches", kOverviewStretches);
  json.field("levels", level_count);
  json.key("lanes").begin_array();
  for (const std::int64_t lane : lanes)
    json.number(lane);
  json.end_array();
  const auto by_call = counts(n, [](std::uint32_t i) { return std::uint64_t{i}; });
  to.column("by_call", by_call.size(), [&](std::uint32_t i) { return by_call[i]; });
  const auto by_level = counts(level_count, [&](std::uint32_t i) { return std::uint64_t{levels_[i]}; });
  to.column("by_level", by_level.size(), [&](std::uint32_t i) { return by_level[i]; });
  if (!times_.empty()) {
    const std::uint64_t end = device_time_ns(e) + 1;
    const auto by_time = counts(end, [&](std::uint32_t i) { return std::min(times_[i], end - 1); });
    to.column("by_time", by_time.size(), [&](std::uint32_t i) { return by_time[i]; });
  }
  json.end_object();
}

// One longest chain of calls that wait for each other, from its first call.
void PageCalls::write_critical_path(const ColumnWriter& to) const {
  std::vector<std::uint32_t> path;
  if (!by_level_.empty()) {
    std::uint32_t call = by_level_.back();
    for (bool goes_on = true; goes_on;) {
      path.push_back(call);
      goes_on = edges_begin_[call] < edges_begin_[call + 1];
      if (!goes_on) break;
      // The latest before it at the highest level: the one that it had to wait for.
      std::uint32_t best = edges_in_[edges_begin_[call]];
      for (std::uint64_t at = edges_begin_[call]; at < edges_begin_[call + 1]; ++at)
        if (levels_[edges_in_[at]] >= levels_[best]) best = edges_in_[at];
      call = best;
    }
  }
  std::reverse(path.begin(), path.end());
  to.column("critical", path.size(), [&](std::uint32_t i) { return path[i]; });
}

void PageCalls::write(const ColumnWriter& to) const {
  std::vector<std::uint32_t> all;
  JsonWriter& json = to.json();
  json.begin_object();
  json.field("first", 0);
  json.field("count", report_.evidence.api_count());
  if (is_paged()) {
    json.field("page_calls", kCallsOfPage);
    json.key("page_levels").begin_array();  // the level that each page by level begins with
    for (std::uint32_t page = 0; page < page_count(); ++page)
      json.number(levels_[by_level_[std::size_t{page} * kCallsOfPage]]);
    json.end_array();
    write_overview(to);
  } else {
    all.resize(report_.evidence.api_count());
    std::iota(all.begin(), all.end(), 0u);
    write_columns(all, to);
    write_edges(all, to);
  }
  write_critical_path(to);
  kinds_.write("kinds", json);
  names_.write("names", json);
  kernels_.write("kernels", json);
  json.end_object();
}

std::string PageCalls::page(std::uint32_t number, bool by_level) const {
  std::vector<std::uint32_t> calls;
  const std::uint64_t first = std::uint64_t{number} * kCallsOfPage;
  const std::uint64_t end = std::min<std::uint64_t>(first + kCallsOfPage, by_level_.size());
  for (std::uint64_t i = first; i < end; ++i)
    calls.push_back(by_level ? by_level_[i] : static_cast<std::uint32_t>(i));
  std::ostringstream head;
  ColumnPack pack;
  {
    JsonWriter json(head);
    const ColumnWriter to(json, &pack);
    json.begin_object();
    to.column("call", calls.size(), [&](std::uint32_t i) { return calls[i]; });
    write_columns(calls, to);
    write_edges(calls, to);
    json.end_object();
  }
  return container_of(std::move(head).str(), pack.bytes());
}

}  // namespace drgpum

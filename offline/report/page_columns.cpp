// SPDX-License-Identifier: Apache-2.0
#include "offline/report/page_columns.h"

#include <algorithm>
#include <string>

#include "offline/order/edges.h"
#include "proto/trace/names.h"

namespace drgpum {
namespace {

// Texts by the place of their first appearance.
class TextTable {
 public:
  std::uint32_t number_of(const std::string& text) {
    const auto [entry, is_new] = numbers_.emplace(text, static_cast<std::uint32_t>(texts_.size()));
    if (is_new) texts_.push_back(&entry->first);
    return entry->second;
  }
  void write(std::string_view key, JsonWriter& json) const {
    json.key(key).begin_array();
    for (const std::string* text : texts_)
      json.text(*text);
    json.end_array();
  }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<const std::string*> texts_;
};

template <typename Value>
void write_column(std::string_view key, std::size_t count, JsonWriter& json, Value value) {
  json.key(key).begin_array();
  for (std::size_t i = 0; i < count; ++i)
    json.number(value(static_cast<std::uint32_t>(i)));
  json.end_array();
}

struct DataEdge {
  std::uint32_t from = 0;
  std::uint32_t to = 0;
};

// Writer to reader, reader to writer, writer to writer, of whole objects; by rising `to`.
std::vector<DataEdge> data_edges(const Evidence& evidence) {
  std::vector<DataEdge> edges;
  std::vector<std::uint32_t> readers;
  for (std::uint32_t o = 0; o < evidence.objects.size(); ++o) {
    std::uint32_t writer = kNone;
    readers.clear();
    for (const Use& use : evidence.uses_of(o)) {
      if (writer != kNone) edges.push_back({writer, use.api});
      if (!use.writes()) {
        readers.push_back(use.api);
        continue;
      }
      for (const std::uint32_t reader : readers)
        edges.push_back({reader, use.api});
      readers.clear();
      writer = use.api;
    }
  }
  std::sort(edges.begin(), edges.end(), [](const DataEdge& a, const DataEdge& b) {
    return a.to != b.to ? a.to < b.to : a.from < b.from;
  });
  const auto same = [](const DataEdge& a, const DataEdge& b) {
    return a.to == b.to && a.from == b.from;
  };
  edges.erase(std::unique(edges.begin(), edges.end(), same), edges.end());
  return edges;
}

// The length of the longest path to each call, over the order's edges and the data's.
std::vector<std::uint32_t> levels_of(const Evidence& evidence, const std::vector<DataEdge>& data) {
  std::vector<std::uint32_t> levels(evidence.api_count(), 0);
  OrderSweep sweep(evidence);
  OrderSweep::Step step;
  auto next = data.begin();
  while (sweep.next(step)) {
    std::uint32_t level = 0;
    const auto after = [&](std::uint32_t from) { level = std::max(level, levels[from] + 1); };
    for (const Edge& edge : step.edges)
      after(edge.from);
    for (; next != data.end() && next->to <= step.api; ++next)
      if (next->to == step.api) after(next->from);
    levels[step.api] = level;
  }
  return levels;
}

}  // namespace

PageColumns::PageColumns(const Report& report) : report_(report) {
  std::vector<std::uint32_t> ids;
  for (const auto& [id, path] : report.call_paths)
    ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const std::uint32_t id : ids) {
    const CallPath& path = report.call_paths.at(id);
    if (path.frames.empty()) continue;
    path_number_.emplace(id, static_cast<std::uint32_t>(paths_.size()));
    std::vector<std::uint32_t>& numbers = paths_.emplace_back();
    for (const SourceFrame& frame : path.frames)
      numbers.push_back(number_of(frame));
    sites_.push_back(numbers[std::min(path.site, numbers.size() - 1)]);
  }
}

std::uint32_t PageColumns::number_of(const SourceFrame& frame) {
  const auto [entry, is_new] =
      frame_number_.emplace(std::pair{std::string_view(frame.function),
                                      std::pair{std::string_view(frame.file), frame.line}},
                            static_cast<std::uint32_t>(frames_.size()));
  if (is_new) frames_.push_back(&frame);
  return entry->second;
}

std::int64_t PageColumns::path_of(std::uint32_t api) const {
  if (!report_.has_call(api)) return -1;
  const auto path = path_number_.find(report_.evidence.apis[api].call_path);
  return path == path_number_.end() ? -1 : static_cast<std::int64_t>(path->second);
}

void PageColumns::write_tables(JsonWriter& json) const {
  json.key("paths").begin_array();
  for (const auto& path : paths_) {
    json.begin_array();
    for (const std::uint32_t frame : path)
      json.number(frame);
    json.end_array();
  }
  json.end_array();
  write_column("sites", sites_.size(), json, [&](std::uint32_t i) { return sites_[i]; });
  json.key("frames").begin_array();
  for (const SourceFrame* frame : frames_)
    json.begin_array().text(frame->function).text(frame->file).number(frame->line).end_array();
  json.end_array();
}

void PageColumns::write_objects(JsonWriter& json) const {
  const Evidence& e = report_.evidence;
  const std::size_t n = e.objects.size();
  TextTable kinds;
  TextTable names;
  const auto object = [&](std::uint32_t i) -> const Object& { return e.objects[i]; };
  const auto signed_of = [](std::uint32_t value) { return static_cast<std::int64_t>(value); };
  json.begin_object();
  json.field("count", n);
  write_column("id", n, json, [&](std::uint32_t i) {
    return signed_of(object(i).id) - (i == 0 ? 0 : signed_of(object(i - 1).id));
  });
  write_column("size_bytes", n, json, [&](std::uint32_t i) { return object(i).size; });
  write_column("parent", n, json, [&](std::uint32_t i) {
    return object(i).parent == kNone ? -1 : signed_of(object(i).parent);
  });
  write_column("kind", n, json, [&](std::uint32_t i) {
    return kinds.number_of(std::string(trace::enum_name(object(i).kind)));
  });
  write_column("device", n, json, [&](std::uint32_t i) { return object(i).device; });
  write_column("name", n, json, [&](std::uint32_t i) {
    return names.number_of(i < report_.names.size() ? report_.names[i] : std::string());
  });
  write_column("path", n, json, [&](std::uint32_t i) { return path_of(object(i).alloc); });
  write_column("begin", n, json, [&](std::uint32_t i) {
    return signed_of(object(i).alloc) - (i == 0 ? 0 : signed_of(object(i - 1).alloc));
  });
  write_column("end", n, json, [&](std::uint32_t i) {
    return signed_of(object(i).end) - signed_of(object(i).alloc);
  });
  write_column("freed", n, json, [&](std::uint32_t i) { return object(i).free == kNone ? 0 : 1; });
  write_column("first_access", n, json, [&](std::uint32_t i) {
    const auto uses = e.uses_of(i);
    return uses.empty() ? std::int64_t{-1}
                        : signed_of(uses.front().api) - signed_of(object(i).alloc);
  });
  write_column("last_access", n, json, [&](std::uint32_t i) {
    const auto uses = e.uses_of(i);
    return uses.empty() ? std::int64_t{-1}
                        : signed_of(uses.back().api) - signed_of(uses.front().api);
  });
  // As text: addresses may exceed what a JSON number keeps exactly.
  json.key("address").begin_array();
  for (const Object& o : e.objects)
    json.text(std::to_string(o.address));
  json.end_array();
  kinds.write("kinds", json);
  names.write("names", json);
  write_tables(json);
  json.end_object();
}

void PageColumns::write_calls(JsonWriter& json) const {
  const Evidence& e = report_.evidence;
  const std::size_t n = e.api_count();
  const std::vector<DataEdge> data = data_edges(e);
  const std::vector<std::uint32_t> levels = levels_of(e, data);
  TextTable kinds;
  TextTable names;
  TextTable kernels;
  std::unordered_map<std::uint32_t, std::uint32_t> kernel_number;  // by kernel
  const auto api = [&](std::uint32_t i) -> const Api& { return e.apis[i]; };
  json.begin_object();
  json.field("first", 0);
  write_column("kind", n, json, [&](std::uint32_t i) {
    return kinds.number_of(std::string(trace::enum_name(api(i).kind)));
  });
  write_column("name", n, json,
               [&](std::uint32_t i) { return names.number_of(e.names[api(i).name]); });
  write_column("stream", n, json, [&](std::uint32_t i) {
    return api(i).stream == kNone ? std::int64_t{-1}
                                  : static_cast<std::int64_t>(e.streams[api(i).stream].id);
  });
  write_column("site", n, json, [&](std::uint32_t i) {
    const std::int64_t path = path_of(i);
    return path < 0 ? path : static_cast<std::int64_t>(sites_[static_cast<std::size_t>(path)]);
  });
  write_column("kernel", n, json, [&](std::uint32_t i) {
    if (api(i).kind != trace::ApiKind::kLaunch) return std::int64_t{-1};
    const auto [entry, is_new] = kernel_number.emplace(api(i).payload, 0);
    if (is_new) entry->second = kernels.number_of(report_.kernel_of(i));
    return static_cast<std::int64_t>(entry->second);
  });
  write_column("level", n, json, [&](std::uint32_t i) { return levels[i]; });
  write_column("edge_from", data.size(), json, [&](std::uint32_t i) { return data[i].from; });
  write_column("edge_to", data.size(), json, [&](std::uint32_t i) { return data[i].to; });
  kinds.write("kinds", json);
  names.write("names", json);
  kernels.write("kernels", json);
  json.end_object();
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
// What a loaded trace answers.
#include "offline/trace/trace.h"

#include <algorithm>

namespace drgpum {
namespace {

using namespace trace;

// The rows about one call in a column sorted by call.
template <typename Row, typename Get>
std::span<const Row> rows_of(const std::vector<Row>& rows, std::uint64_t api, Get api_of) {
  const auto begin =
      std::lower_bound(rows.begin(), rows.end(), api,
                       [&](const Row& row, std::uint64_t at) { return api_of(row) < at; });
  auto end = begin;
  while (end != rows.end() && api_of(*end) == api)
    ++end;
  return {begin, end};
}

}  // namespace

std::span<const std::uint64_t> Trace::frames(CallPathId id) const {
  const TraceCallPath* path = call_paths_.find(id);
  if (path == nullptr) return {};
  return std::span(frames_).subspan(path->begin, path->count);
}

const TraceModule* Trace::module_at(std::uint64_t address, ApiId at) const {
  const TraceModule* found = nullptr;
  for (const TraceModule& module : modules_.rows()) {
    if (address < module.begin || address >= module.end || at < module.loaded_at) continue;
    if (!module.unloaded_at || at < *module.unloaded_at) found = &module;
  }
  return found;
}

MemcpyApi Trace::copy(std::uint32_t row) const {
  const Copy& stored = copies_[row];
  MemcpyApi copy;
  copy.direction = stored.direction;
  copy.async = stored.async;
  copy.source_stream = stored.source_stream;
  if (stored.shape != kNoRow) {
    copy.source = copy_shapes_[stored.shape].source;
    copy.destination = copy_shapes_[stored.shape].destination;
    return copy;
  }
  copy.source.object = stored.source;
  copy.source.offset = stored.source_offset;
  copy.source.width = stored.width;
  copy.source.is_host = stored.source_is_host;
  copy.destination.object = stored.destination;
  copy.destination.offset = stored.destination_offset;
  copy.destination.width = stored.width;
  copy.destination.is_host = stored.destination_is_host;
  return copy;
}

LaunchApi Trace::launch(std::uint32_t row) const {
  LaunchApi launch = launch_shapes_[launches_[row].shape];
  launch.kernel = launches_[row].kernel;
  launch.instrumented = launches_[row].instrumented;
  return launch;
}

ApiPayload Trace::payload(ApiId id) const {
  const TraceCall& call = calls_[id.value];
  if (call.lost) return MarkApi{};
  switch (call.kind) {
    case ApiKind::kAlloc:
      return allocs_[call.payload];
    case ApiKind::kFree:
      return frees_[call.payload];
    case ApiKind::kMemcpy:
      return copy(call.payload);
    case ApiKind::kMemset:
      return sets_[call.payload];
    case ApiKind::kLaunch:
      return launch(call.payload);
    case ApiKind::kEventRecord:
    case ApiKind::kStreamWait:
      return events_[call.payload];
    case ApiKind::kSynchronize:
      return synchronizations_[call.payload];
    case ApiKind::kGraphLaunch:
      return graph_launches_[call.payload];
    case ApiKind::kHostFunction:
      return HostFunctionApi{};
    case ApiKind::kMark:
      return marks_[call.payload];
  }
  return MarkApi{};
}

std::span<const TraceAccess> Trace::accesses(ApiId launch) const {
  return rows_of(accesses_, launch.value, [](const TraceAccess& row) { return row.api; });
}

std::optional<ByteRange> Trace::bounds(const TraceAccess& access) const {
  if (access.bounds == kNoRow) return std::nullopt;
  return bounds_[access.bounds];
}

const AccessMapRecord* Trace::access_map(ApiId launch, ObjectId object) const {
  for (const AccessMapRecord& map :
       rows_of(access_maps_, launch.value, [](const auto& row) { return row.api.value; }))
    if (map.object == object) return &map;
  return nullptr;
}

std::span<const AccessSiteRecord> Trace::access_sites(ApiId launch) const {
  return rows_of(access_sites_, launch.value, [](const auto& row) { return row.api.value; });
}

std::optional<TimeRecord> Trace::device_time(ApiId id) const {
  const auto rows = rows_of(times_, id.value, [](const auto& row) { return row.api.value; });
  if (rows.empty()) return std::nullopt;
  return rows.back();
}

std::optional<std::uint64_t> Trace::graph_launch(const TraceCall& call) const {
  if (call.graph == kNoRow) return std::nullopt;
  return graph_nodes_[call.graph].launch;
}

std::span<const ApiId> Trace::depends_on(const TraceCall& call) const {
  if (call.graph == kNoRow) return {};
  return graph_nodes_[call.graph].depends_on;
}

}  // namespace drgpum

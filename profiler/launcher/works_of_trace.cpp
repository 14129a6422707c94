// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/works_of_trace.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

namespace drgpum::profiler {
namespace {

std::uint64_t bytes_of(const trace::Region& region) {
  return region.width * region.height * region.depth;
}

class Collector {
 public:
  void take(const trace::Record& record) {
    std::visit([this](const auto& r) { take(r); }, record);
  }

  TraceWorks finish(const trace::ReadSummary& summary) {
    std::stable_sort(out_.works.begin(), out_.works.end(), [](const Work& a, const Work& b) {
      return std::tie(a.lane, a.begin_ns) < std::tie(b.lane, b.begin_ns);
    });
    out_.summary = summary;
    return std::move(out_);
  }

 private:
  template <typename Other>
  void take(const Other&) {}

  void take(const trace::ProcessRecord& process) { out_.process = process; }
  void take(const trace::KernelRecord& kernel) { kernels_[kernel.id.value] = kernel.name; }
  void take(const trace::ObjectRecord& object) { sizes_[object.id.value] = object.size; }

  void take(const trace::TimeRecord& time) {
    if (out_.works.empty() || out_.works.back().api != time.api) return;
    out_.works.back().begin_ns = time.begin_ns;
    out_.works.back().end_ns = time.end_ns;
  }

  void take(const trace::GpuApi& api) {
    const auto key =
        std::visit([this](const auto& payload) { return key_of(payload); }, api.payload);
    if (!key) return;
    const bool memory = api.kind == trace::ApiKind::kAlloc || api.kind == trace::ApiKind::kFree;
    const std::uint64_t lane = memory                                    ? kMemoryLane
                               : api.kind == trace::ApiKind::kSynchronize ? kWaitLane
                                                                          : api.stream.value;
    const std::string words = std::to_string(static_cast<int>(api.kind)) + " " + *key;
    out_.works.push_back({std::hash<std::string>()(words), lane, api.id, 0, 0});
  }

  using Key = std::optional<std::string>;

  template <typename Other>
  Key key_of(const Other&) const {
    return std::nullopt;
  }

  Key key_of(const trace::LaunchApi& launch) const {
    const auto kernel = kernels_.find(launch.kernel.value);
    std::string key = kernel == kernels_.end() ? "" : kernel->second;
    for (const auto& sizes : {launch.grid, launch.block})
      for (std::size_t i = 0; i < 3; ++i)
        key += " " + std::to_string(sizes[i]);
    return key;
  }

  static Key key_of(const trace::MemcpyApi& copy) {
    const std::uint64_t bytes = bytes_of(copy.destination);
    return bytes == 0 ? Key() : Key(std::to_string(bytes));
  }

  static Key key_of(const trace::MemsetApi& set) {
    const std::uint64_t bytes = bytes_of(set.destination);
    return bytes == 0 ? Key() : Key(std::to_string(bytes));
  }

  Key key_of(const trace::AllocApi& alloc) const {
    if (alloc.error != 0) return std::nullopt;
    const auto object = sizes_.find(alloc.object.value);
    return std::to_string(object == sizes_.end() ? alloc.requested : object->second);
  }

  static Key key_of(const trace::FreeApi& freed) {
    return freed.error == 0 ? Key("") : Key();
  }

  static Key key_of(const trace::SynchronizeApi& wait) {
    if (wait.query) return std::nullopt;
    const bool whole = wait.scope == trace::SyncScope::kDevice;
    return std::to_string(static_cast<int>(whole ? trace::SyncScope::kContext : wait.scope));
  }

  TraceWorks out_;
  std::unordered_map<std::uint32_t, std::string> kernels_;
  std::unordered_map<std::uint32_t, std::uint64_t> sizes_;
};

}  // namespace

Result<TraceWorks> works_of_trace(const std::string& path) {
  ASSIGN_OR_RETURN(trace::TraceReader reader, trace::TraceReader::open(path));
  Collector collector;
  trace::Record record;
  while (reader.next(record))
    collector.take(record);
  return collector.finish(reader.summary());
}

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
// Access maps of launches that have finished: reduced on the device where that is possible and
// worth it, read back and reduced here where not.

#include <algorithm>
#include <cstring>

#include "profiler/launch_marks.h"
#include "profiler/session.h"
#include "profiler/table_pieces.h"

namespace drgpum::profiler {
namespace {

using sanitizer::Code;

constexpr std::uint64_t kSmallMap = 32 << 10;  // bytes; crosses as it is
constexpr std::uint32_t kRunRoom = 4096;       // runs of a map that cross as such
constexpr std::size_t kMostJobs = 32;          // maps reduced at a time

void* pointer(std::uint64_t address) {
  return reinterpret_cast<void*>(address);
}

std::uint64_t map_bytes(const PlannedMap& plan) {
  return 2 * plan.bit_bytes + plan.count_bytes;
}

std::uint64_t object_bytes(const LaunchInFlight& launch, const PlannedMap& plan) {
  const device::ObjectRange& range = launch.objects->ranges[plan.index];
  return range.end - range.begin;
}

// A batch in scratch memory: the jobs, what crosses, and what does not.
struct BatchLayout {
  std::uint64_t summaries, strips, sums, runs, bytes;
};

BatchLayout batch_layout(std::size_t jobs, std::uint64_t parts) {
  BatchLayout layout{};
  layout.summaries = jobs * sizeof(device::MapJob);
  layout.strips = layout.summaries + jobs * sizeof(device::MapSummary);
  layout.sums = (layout.strips + parts * sizeof(std::uint32_t) + 7) / 8 * 8;
  layout.runs = layout.sums + parts * sizeof(std::uint64_t);
  layout.bytes = layout.runs + jobs * 2 * kRunRoom * sizeof(device::CellRun);
  return layout;
}

std::vector<device::MapJob> jobs_of(const LaunchInFlight& launch, std::span<TouchedMap*> batch,
                                    std::uint64_t region, const BatchLayout& layout) {
  std::vector<device::MapJob> jobs;
  std::uint64_t parts_before = 0;
  for (const TouchedMap* map : batch) {
    const PlannedMap& plan = *map->plan;
    const std::uint64_t cells = cells_of(object_bytes(launch, plan), plan.cell_shift);
    const MapParts parts = parts_of(cells);
    device::MapJob job{};
    job.read_bits = launch.map_region.address + plan.offset;
    job.write_bits = job.read_bits + plan.bit_bytes;
    job.counts = plan.counts ? job.write_bits + plan.bit_bytes : 0;
    job.summary = region + layout.summaries + jobs.size() * sizeof(device::MapSummary);
    job.strip = region + layout.strips + parts_before * sizeof(std::uint32_t);
    job.sums = region + layout.sums + parts_before * sizeof(std::uint64_t);
    job.runs = region + layout.runs + jobs.size() * 2 * kRunRoom * sizeof(device::CellRun);
    job.cells = static_cast<std::uint32_t>(cells);
    job.cells_per_part = static_cast<std::uint32_t>(parts.cells_per_part);
    job.parts = static_cast<std::uint32_t>(parts.parts);
    job.run_room = kRunRoom;
    parts_before += parts.parts;
    jobs.push_back(job);
  }
  return jobs;
}

std::uint64_t all_parts(const LaunchInFlight& launch, std::span<TouchedMap*> batch) {
  std::uint64_t parts = 0;
  for (const TouchedMap* map : batch)
    parts += parts_of(cells_of(object_bytes(launch, *map->plan), map->plan->cell_shift)).parts;
  return parts;
}

}  // namespace

// Room in the tool's memory for as long as a batch lasts.
std::optional<Region> Session::scratch(ContextState& context, std::uint64_t bytes) {
  Lock lock(mutex_);
  if (auto region = context.memory.reserve(bytes)) return region;
  const std::uint64_t chunk = context.memory.chunk_to_add(bytes);
  if (chunk == 0) return std::nullopt;
  void* address = nullptr;
  lock.unlock();
  const bool given = api_.alloc(context.handle, &address, chunk) == Code::kSuccess;
  lock.lock();
  if (!given || address == nullptr) return std::nullopt;
  context.memory.add_chunk(reinterpret_cast<std::uint64_t>(address), chunk);
  return context.memory.reserve(bytes);
}

bool Session::fetch(const LaunchInFlight& launch, void* to, std::uint64_t address,
                    std::uint64_t bytes) {
  fetched_bytes_ += bytes;
  return bytes == 0 || api_.memcpy_device_to_host(to, pointer(address), bytes,
                                                  launch.stream->handle) == Code::kSuccess;
}

// The whole map, reduced here.
bool Session::read_raw(const LaunchInFlight& launch, TouchedMap& map) {
  const PlannedMap& plan = *map.plan;
  const std::size_t bit_words = plan.bit_bytes / sizeof(std::uint32_t);
  map_staging_.resize(map_bytes(plan) / sizeof(std::uint32_t));
  if (!fetch(launch, map_staging_.data(), launch.map_region.address + plan.offset,
             map_bytes(plan))) {
    return false;
  }
  RawMap raw;
  raw.cell_shift = plan.cell_shift;
  raw.object_bytes = object_bytes(launch, plan);
  const std::span<const std::uint32_t> words(map_staging_);
  raw.read_bits = words.subspan(0, bit_words);
  raw.write_bits = words.subspan(bit_words, bit_words);
  if (plan.counts) {
    raw.counts = words.subspan(2 * bit_words, cells_of(raw.object_bytes, raw.cell_shift));
  }
  map.map = reduce_map(raw);
  return map.reduced = true;
}

// The runs of a map whose summary is here; its bits where there are too many.
bool Session::fetch_runs(const LaunchInFlight& launch, TouchedMap& map, const device::MapJob& job) {
  const device::MapSummary& summary = map.map.summary;
  const std::uint64_t bytes = object_bytes(launch, *map.plan);
  const auto get = [&](std::uint32_t runs, std::uint64_t first, std::uint64_t bits,
                       std::vector<trace::ByteRange>* ranges) {
    if (runs <= kRunRoom) {
      std::vector<device::CellRun> listed(runs);
      const bool got = fetch(launch, listed.data(), job.runs + first * sizeof(device::CellRun),
                             runs * sizeof(device::CellRun));
      *ranges = ranges_of(std::span<const device::CellRun>(listed), map.plan->cell_shift, bytes);
      return got;
    }
    map_staging_.resize(map.plan->bit_bytes / sizeof(std::uint32_t));
    const bool got = fetch(launch, map_staging_.data(), bits, map.plan->bit_bytes);
    *ranges = ranges_of(std::span<const std::uint32_t>(map_staging_), map.plan->cell_shift, bytes);
    return got;
  };
  return get(summary.read_runs, 0, job.read_bits, &map.map.read_ranges) &&
         get(summary.written_runs, kRunRoom, job.write_bits, &map.map.written_ranges);
}

// Summaries and strips in one copy, then the runs of each map.
bool Session::fetch_batch(const LaunchInFlight& launch, std::span<TouchedMap*> batch,
                          const std::vector<device::MapJob>& jobs) {
  const std::uint64_t begin = jobs.front().summary;
  std::vector<unsigned char> home(jobs.back().strip + jobs.back().parts * sizeof(std::uint32_t) -
                                  begin);
  if (!fetch(launch, home.data(), begin, home.size())) return false;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    TouchedMap& map = *batch[i];
    std::memcpy(&map.map.summary, &home[jobs[i].summary - begin], sizeof map.map.summary);
    map.map.strip.resize(jobs[i].parts);
    std::memcpy(map.map.strip.data(), &home[jobs[i].strip - begin],
                jobs[i].parts * sizeof(std::uint32_t));
    map.reduced = fetch_runs(launch, map, jobs[i]);
  }
  return true;
}

bool Session::reduce_batch(const LaunchInFlight& launch, std::span<TouchedMap*> batch) {
  const BatchLayout layout = batch_layout(batch.size(), all_parts(launch, batch));
  ContextState& context = *launch.context;
  const auto region = scratch(context, layout.bytes);
  if (!region) return false;
  std::vector<device::MapJob> jobs = jobs_of(launch, batch, region->address, layout);
  std::uint32_t most_parts = 0;
  for (const device::MapJob& job : jobs)
    most_parts = std::max(most_parts, job.parts);
  const sanitizer::StreamHandle stream = launch.stream->handle;
  const bool done =
      api_.memcpy_host_to_device_async(pointer(region->address), jobs.data(),
                                       jobs.size() * sizeof jobs[0], stream) == Code::kSuccess &&
      api_.memset(pointer(region->address + layout.summaries), 0, layout.runs - layout.summaries,
                  stream) == Code::kSuccess &&
      api_.stream_synchronize(stream) == Code::kSuccess &&
      context.patterns->run(region->address, static_cast<std::uint32_t>(jobs.size()), most_parts) &&
      fetch_batch(launch, batch, jobs);
  const Lock lock(mutex_);
  context.memory.release(*region);
  return done;
}

// What does not succeed here is read back whole.
void Session::reduce_on_device(const LaunchInFlight& launch, std::span<TouchedMap> maps) {
  const bool allowed = options_.emulated || this_thread().outside_callbacks;
  ContextState& context = *launch.context;
  if (!options_.device_reduction || !allowed) return;
  std::vector<TouchedMap*> large;
  for (TouchedMap& map : maps) {
    if (map_bytes(*map.plan) > kSmallMap) large.push_back(&map);
  }
  if (large.empty()) return;
  if (!context.patterns_tried) context.patterns = PatternKernels::load(context.handle);
  context.patterns_tried = true;
  if (context.patterns == nullptr) return;
  for (std::size_t first = 0; first < large.size();) {
    const std::size_t count = std::min(kMostJobs, large.size() - first);
    if (!reduce_batch(launch, std::span(large).subspan(first, count))) return;
    first += count;
  }
}

// The maps of the objects that the launch touched.
HarvestedMaps Session::read_maps(const LaunchInFlight& launch, const unsigned char* bytes) {
  std::vector<TouchedMap> maps;
  for (const PlannedMap& plan : launch.plan.maps) {
    const std::uint32_t mark = mark_of(launch, bytes, plan.index);
    if (mark == 0) continue;
    maps.push_back({&plan, mark, false, {}});
    map_bytes_ += map_bytes(plan);
  }
  reduce_on_device(launch, maps);
  HarvestedMaps harvested;
  std::vector<char> has_map(launch.objects->ids.size());
  for (TouchedMap& map : maps) {
    if (!map.reduced && !read_raw(launch, map)) continue;
    const PlannedMap& plan = *map.plan;
    const ObjectId object = launch.objects->ids[plan.index];
    const std::uint64_t full = map.map.summary.full_cells;
    if (full != 0) harvested.full.emplace_back(object, full);
    trace::AccessMapRecord record =
        record_of(std::move(map.map), plan.cell_shift, object_bytes(launch, plan),
                  access_of(launch.api, object, map.mark).min_access_bytes);
    record.api = launch.api;
    record.object = object;
    if (options_.block_every > 1) {
      record.exact = false;
      record.block_every = options_.block_every;
    }
    place_in_object(*launch.objects, plan.index, &record);
    harvested.records.push_back(std::move(record));
    has_map[plan.index] = 1;
  }
  drop_partial(*launch.objects, marks_in(launch, bytes), has_map, &harvested.records);
  harvested.records = join_maps(std::move(harvested.records));
  return harvested;
}

void Session::write_maps(const Lock&, const LaunchInFlight& launch, const unsigned char* bytes,
                         const HarvestedMaps& maps) {
  for (const trace::AccessMapRecord& map : maps.records) {
    recorder_.write_after_kept(map);
    if (map.block_every) continue;
    if (!map.exact) {
      cover(trace::CoverageKind::kCoarseMap, "cells are wider than the narrowest access",
            launch.api, 1, map.object);
    }
    if (map.counted_cells == 0) {
      cover(trace::CoverageKind::kNoCounts, "no memory was free to count accesses", launch.api, 1,
            map.object);
    }
  }
  for (const auto& [object, cells] : maps.full) {
    cover(trace::CoverageKind::kNoCounts, "counts that reached their limit of 4,026,531,840",
          launch.api, cells, object);
  }
  if (options_.block_every > 1) ++block_sampled_;
  const auto kernel = kernels_.find(launch.function);
  const std::vector<std::uint32_t> marks =
      object_marks(*launch.objects, marks_in(launch, bytes));
  for (std::size_t i = 0; i < launch.objects->ids.size(); ++i) {
    if (marks[i] == 0) continue;
    const ObjectId object = launch.objects->ids[i];
    if (kernel != kernels_.end()) kernel->second.touched.insert(object.value);
    const bool has_map = std::any_of(maps.records.begin(), maps.records.end(),
                                     [&](const auto& map) { return map.object == object; });
    const bool wants_map = launch.objects->kinds[i] != trace::ObjectKind::kHostPinned;
    if (!has_map && wants_map && !launch.plan.maps.empty()) {
      cover(trace::CoverageKind::kCoarseMap, "no memory was free for a map of this object",
            launch.api, 1, object);
    }
  }
}

}  // namespace drgpum::profiler

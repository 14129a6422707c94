// SPDX-License-Identifier: Apache-2.0
#include "profiler/map_reader.h"

#include <algorithm>
#include <cstring>

#include "profiler/launch_marks.h"
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

// The pattern kernels' own stream, which waits for nothing of the program's.
sanitizer::StreamHandle MapReader::stream_for(const LaunchInFlight& launch) const {
  return patterns_ != nullptr ? patterns_->stream() : launch.stream->handle;
}

bool MapReader::fetch(const LaunchInFlight& launch, void* to, std::uint64_t address,
                    std::uint64_t bytes) {
  traffic_->crossed += bytes;
  return bytes == 0 || api_.memcpy_device_to_host(to, pointer(address), bytes,
                                                  stream_for(launch)) == Code::kSuccess;
}

// The whole map, reduced here.
bool MapReader::read_raw(const LaunchInFlight& launch, TouchedMap& map) {
  const PlannedMap& plan = *map.plan;
  const std::size_t bit_words = plan.bit_bytes / sizeof(std::uint32_t);
  staging_.resize(map_bytes(plan) / sizeof(std::uint32_t));
  if (!fetch(launch, staging_.data(), launch.map_region.address + plan.offset,
             map_bytes(plan))) {
    return false;
  }
  RawMap raw;
  raw.cell_shift = plan.cell_shift;
  raw.object_bytes = object_bytes(launch, plan);
  const std::span<const std::uint32_t> words(staging_);
  raw.read_bits = words.subspan(0, bit_words);
  raw.write_bits = words.subspan(bit_words, bit_words);
  if (plan.counts) {
    raw.counts = words.subspan(2 * bit_words, cells_of(raw.object_bytes, raw.cell_shift));
  }
  map.map = reduce_map(raw);
  return map.reduced = true;
}

// The runs of a map whose summary is here; its bits where there are too many.
bool MapReader::fetch_runs(const LaunchInFlight& launch, TouchedMap& map, const device::MapJob& job) {
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
    staging_.resize(map.plan->bit_bytes / sizeof(std::uint32_t));
    const bool got = fetch(launch, staging_.data(), bits, map.plan->bit_bytes);
    *ranges = ranges_of(std::span<const std::uint32_t>(staging_), map.plan->cell_shift, bytes);
    return got;
  };
  return get(summary.read_runs, 0, job.read_bits, &map.map.read_ranges) &&
         get(summary.written_runs, kRunRoom, job.write_bits, &map.map.written_ranges);
}

// Summaries and strips in one copy, then the runs of each map.
bool MapReader::fetch_batch(const LaunchInFlight& launch, std::span<TouchedMap*> batch,
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

bool MapReader::reduce_batch(const LaunchInFlight& launch, std::span<TouchedMap*> batch) {
  const BatchLayout layout = batch_layout(batch.size(), all_parts(launch, batch));
  ContextState& context = *launch.context;
  const auto region = scratch_.reserve(context, layout.bytes);
  if (!region) return false;
  std::vector<device::MapJob> jobs = jobs_of(launch, batch, region->address, layout);
  std::uint32_t most_parts = 0;
  for (const device::MapJob& job : jobs)
    most_parts = std::max(most_parts, job.parts);
  const sanitizer::StreamHandle stream = stream_for(launch);
  const bool done =
      api_.memcpy_host_to_device_async(pointer(region->address), jobs.data(),
                                       jobs.size() * sizeof jobs[0], stream) == Code::kSuccess &&
      api_.memset(pointer(region->address + layout.summaries), 0, layout.runs - layout.summaries,
                  stream) == Code::kSuccess &&
      api_.stream_synchronize(stream) == Code::kSuccess &&
      patterns_->run(region->address, static_cast<std::uint32_t>(jobs.size()), most_parts) &&
      fetch_batch(launch, batch, jobs);
  scratch_.release(context, *region);
  return done;
}

// What does not succeed here is read back whole.
void MapReader::reduce_on_device(const LaunchInFlight& launch, std::span<TouchedMap> maps) {
  std::vector<TouchedMap*> large;
  for (TouchedMap& map : maps) {
    if (map_bytes(*map.plan) > kSmallMap) large.push_back(&map);
  }
  std::size_t most = kMostJobs;  // fewer where there is no room for so many
  for (std::size_t first = 0; first < large.size() && most != 0;) {
    const std::size_t count = std::min(most, large.size() - first);
    if (reduce_batch(launch, std::span(large).subspan(first, count))) {
      first += count;
    } else {
      most = count / 2;
    }
  }
}

// The maps of the objects that the launch touched.
HarvestedMaps MapReader::read(const LaunchInFlight& launch, const unsigned char* bytes,
                              const PatternKernels* patterns) {
  patterns_ = patterns;
  std::vector<TouchedMap> maps;
  for (const PlannedMap& plan : launch.plan.maps) {
    const std::uint32_t mark = mark_of(launch, bytes, plan.index);
    if (mark == 0) continue;
    maps.push_back({&plan, mark, false, {}});
    traffic_->map_bytes += map_bytes(plan);
  }
  if (patterns_ != nullptr) reduce_on_device(launch, maps);
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

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
// Reading marks back, once their launches are known to have finished.

#include <algorithm>
#include <bit>
#include <cstring>

#include "profiler/map_reduction.h"
#include "profiler/session.h"
#include "profiler/table_pieces.h"

namespace drgpum::profiler {
namespace {

using sanitizer::Code;

constexpr std::uint64_t kMostPerCopy = 1 << 20;

trace::AccessRecord access_of(ApiId api, ObjectId object, std::uint32_t marks) {
  trace::AccessRecord access;
  access.api = api;
  access.object = object;
  access.reads = (marks & device::kMarkRead) != 0;
  access.writes = (marks & device::kMarkWrite) != 0;
  access.atomics = (marks & device::kMarkAtomic) != 0;
  const std::uint32_t widths = marks >> device::kMarkWidthShift;
  if (widths != 0) {
    access.min_access_bytes = 1u << std::countr_zero(widths);
    access.max_access_bytes = 1u << (31 - std::countl_zero(widths));
  }
  return access;
}

const unsigned char* marks_in(const LaunchInFlight& launch, const unsigned char* bytes) {
  return bytes + slot_layout(launch.objects->ids.size(), launch.sites, false).marks;
}

std::uint64_t end_of(const LaunchInFlight& launch) {
  return launch.region.address + launch.region.bytes;
}

}  // namespace

// Launches submitted up to the number `submitted` have finished: those of one stream, of a legacy
// default stream's whole group, or (no stream) of the whole context.
void Session::note_done(const Lock&, const ContextState& context, const StreamState* stream,
                        std::uint64_t submitted) {
  const bool legacy = stream != nullptr && stream->kind == trace::StreamKind::kLegacyDefault;
  const auto found = contexts_.find(context.handle);
  if (found == contexts_.end()) return;
  for (auto& [handle, other] : found->second->streams) {
    const bool follows = stream == nullptr || &other == stream ||
                         (legacy && other.kind != trace::StreamKind::kNonBlocking);
    if (follows) other.done = std::max(other.done, submitted);
  }
}

void Session::harvest() {
  const std::lock_guard reading(harvest_mutex_);
  std::vector<LaunchInFlight*> finished;
  {
    const Lock lock(mutex_);
    for (LaunchInFlight& launch : in_flight_) {
      const bool done = launch.submitted != 0 && launch.submitted <= launch.stream->done;
      if (done && !launch.taken) finished.push_back(&launch);
    }
    for (LaunchInFlight* launch : finished)
      launch->taken = true;
  }
  for (std::size_t first = 0; first < finished.size();) {
    std::size_t end = first + 1;
    while (end < finished.size() && finished[end]->context == finished[first]->context &&
           finished[end]->region.chunk == finished[first]->region.chunk &&
           finished[end]->region.address == end_of(*finished[end - 1]) &&
           end_of(*finished[end]) - finished[first]->region.address <= kMostPerCopy) {
      ++end;
    }
    read_back({finished.begin() + static_cast<std::ptrdiff_t>(first),
               finished.begin() + static_cast<std::ptrdiff_t>(end)});
    first = end;
  }
}

// Launches whose slots lie side by side, in one copy.
void Session::read_back(const std::vector<LaunchInFlight*>& launches) {
  const std::uint64_t begin = launches.front()->region.address;
  const std::uint64_t bytes = end_of(*launches.back()) - begin;
  staging_.resize(bytes);
  const Code code = api_.memcpy_device_to_host(staging_.data(), reinterpret_cast<void*>(begin),
                                               bytes, launches.front()->stream->handle);
  const auto slot_of = [&](const LaunchInFlight& launch) {
    return staging_.data() + (launch.region.address - begin);
  };
  std::vector<std::vector<trace::AccessMapRecord>> maps(launches.size());
  for (std::size_t i = 0; i < launches.size() && code == Code::kSuccess; ++i) {
    maps[i] = read_maps(*launches[i], slot_of(*launches[i]));
  }
  const Lock lock(mutex_);
  for (std::size_t i = 0; i < launches.size(); ++i) {
    LaunchInFlight* launch = launches[i];
    if (code == Code::kSuccess) {
      write_accesses(lock, *launch, slot_of(*launch));
      write_sites(lock, *launch, slot_of(*launch));
      if (options_.mode == Mode::kIntra) write_maps(lock, *launch, slot_of(*launch), maps[i]);
    } else {
      cover(trace::CoverageKind::kLostRecords, "the launch's marks could not be read back",
            launch->api);
    }
    drop_launch(lock, launch);
  }
}

void Session::write_accesses(const Lock&, const LaunchInFlight& launch,
                             const unsigned char* bytes) {
  device::LaunchSlot slot;
  std::memcpy(&slot, bytes, sizeof slot);
  const std::vector<std::uint32_t> marks =
      object_marks(*launch.objects, marks_in(launch, bytes));
  for (std::size_t i = 0; i < launch.objects->ids.size(); ++i) {
    const std::uint32_t mark = marks[i];
    if (mark == 0) continue;
    recorder_.write_after_kept(access_of(launch.api, launch.objects->ids[i], mark));
    for (const ApiId same : launch.same_function) {
      recorder_.write(access_of(same, launch.objects->ids[i], mark));
    }
  }
  if (slot.unknown_accesses != 0) {
    cover(trace::CoverageKind::kUnknownAddress, "accesses to memory that no known object holds",
          launch.api, slot.unknown_accesses);
  }
  if (slot.heap_allocations != 0) {
    cover(trace::CoverageKind::kOpaqueObject,
          "device-side malloc of " + std::to_string(slot.heap_bytes) + " bytes", launch.api,
          slot.heap_allocations);
  }
}

// The maps of the objects that the launch touched, reduced.
std::vector<trace::AccessMapRecord> Session::read_maps(const LaunchInFlight& launch,
                                                       const unsigned char* bytes) {
  const unsigned char* marks = marks_in(launch, bytes);
  std::vector<trace::AccessMapRecord> records;
  std::vector<char> has_map(launch.objects->ids.size());
  for (const PlannedMap& planned : launch.plan.maps) {
    std::uint32_t mark = 0;
    std::memcpy(&mark, marks + planned.index * sizeof mark, sizeof mark);
    if (mark == 0) continue;
    const std::size_t bit_words = planned.bit_bytes / sizeof(std::uint32_t);
    const std::size_t count_words = planned.count_bytes / sizeof(std::uint32_t);
    map_staging_.resize(2 * bit_words + count_words);
    const std::uint64_t address = launch.map_region.address + planned.offset;
    if (api_.memcpy_device_to_host(map_staging_.data(), reinterpret_cast<void*>(address),
                                   map_staging_.size() * sizeof(std::uint32_t),
                                   launch.stream->handle) != Code::kSuccess) {
      continue;
    }
    const device::ObjectRange& range = launch.objects->ranges[planned.index];
    RawMap raw;
    raw.cell_shift = planned.cell_shift;
    raw.object_bytes = range.end - range.begin;
    const std::span<const std::uint32_t> words(map_staging_);
    raw.read_bits = words.subspan(0, bit_words);
    raw.write_bits = words.subspan(bit_words, bit_words);
    if (planned.counts) {
      raw.counts = words.subspan(2 * bit_words, cells_of(raw.object_bytes, raw.cell_shift));
    }
    const ObjectId object = launch.objects->ids[planned.index];
    const trace::AccessRecord access = access_of(launch.api, object, mark);
    trace::AccessMapRecord record = reduce_map(raw, access.min_access_bytes);
    record.api = launch.api;
    record.object = object;
    place_in_object(*launch.objects, planned.index, &record);
    records.push_back(std::move(record));
    has_map[planned.index] = 1;
  }
  drop_partial(*launch.objects, marks, has_map, &records);
  return join_maps(std::move(records));
}

void Session::write_maps(const Lock&, const LaunchInFlight& launch, const unsigned char* bytes,
                         const std::vector<trace::AccessMapRecord>& maps) {
  for (const trace::AccessMapRecord& map : maps) {
    recorder_.write_after_kept(map);
    if (!map.exact) {
      cover(trace::CoverageKind::kCoarseMap, "cells are wider than the narrowest access",
            launch.api, 1, map.object);
    }
    if (map.counted_cells == 0) {
      cover(trace::CoverageKind::kNoCounts, "no memory was free to count accesses", launch.api, 1,
            map.object);
    }
  }
  const auto kernel = kernels_.find(launch.function);
  const std::vector<std::uint32_t> marks =
      object_marks(*launch.objects, marks_in(launch, bytes));
  for (std::size_t i = 0; i < launch.objects->ids.size(); ++i) {
    if (marks[i] == 0) continue;
    const ObjectId object = launch.objects->ids[i];
    if (kernel != kernels_.end()) kernel->second.touched.insert(object.value);
    const bool has_map = std::any_of(maps.begin(), maps.end(),
                                     [&](const auto& map) { return map.object == object; });
    const bool wants_map = launch.objects->kinds[i] != trace::ObjectKind::kHostPinned;
    if (!has_map && wants_map && !launch.plan.maps.empty()) {
      cover(trace::CoverageKind::kCoarseMap, "no memory was free for a map of this object",
            launch.api, 1, object);
    }
  }
}

void Session::drain_context(const ContextPointer& context) {
  std::vector<sanitizer::StreamHandle> busy;
  std::uint64_t submitted = 0;
  {
    const Lock lock(mutex_);
    submitted = submitted_;
    for (const LaunchInFlight& launch : in_flight_) {
      if (launch.context == context && launch.submitted != 0) {
        busy.push_back(launch.stream->handle);
      }
    }
  }
  std::sort(busy.begin(), busy.end());
  busy.erase(std::unique(busy.begin(), busy.end()), busy.end());
  for (sanitizer::StreamHandle stream : busy) {
    if (api_.stream_synchronize(stream) != Code::kSuccess) return;
  }
  {
    const Lock lock(mutex_);
    note_done(lock, *context, nullptr, submitted);
  }
  harvest();
}

}  // namespace drgpum::profiler

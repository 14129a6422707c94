// SPDX-License-Identifier: Apache-2.0
// Reading marks back, once their launches are known to have finished.

#include <algorithm>
#include <cstring>

#include "profiler/launch_marks.h"
#include "profiler/session.h"
#include "profiler/table_pieces.h"

namespace drgpum::profiler {
namespace {

using sanitizer::Code;

constexpr std::uint64_t kMostPerCopy = 1 << 20;

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
  std::vector<LaunchInFlight*> with_maps;  // to be read whole
  {
    const Lock lock(mutex_);
    for (LaunchInFlight* launch : launches) {
      if (code != Code::kSuccess) {
        cover(trace::CoverageKind::kLostRecords, "the launch's marks could not be read back",
              launch->api);
      } else if (write_marks(lock, launch, slot_of(*launch))) {
        with_maps.push_back(launch);
        continue;
      } else if (launch->waits) {
        continue;
      }
      drop_launch(lock, launch);
    }
  }
  for (LaunchInFlight* launch : with_maps) {
    const HarvestedMaps maps = reader_.read(*launch, slot_of(*launch), nullptr);
    const Lock lock(mutex_);
    write_maps(lock, *launch, slot_of(*launch), maps);
    drop_launch(lock, launch);
  }
}

// True when the launch has maps that are to be read now.
bool Session::write_marks(const Lock& lock, LaunchInFlight* launch, const unsigned char* bytes) {
  write_accesses(lock, *launch, bytes);
  write_sites(lock, *launch, bytes);
  if (options_.mode != Mode::kIntra) return false;
  note_touched(lock, *launch, bytes);
  return !may_wait(lock, *launch) || !leave_waiting(lock, launch, bytes);
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

// Waits for the launches' streams; not on the emulated device, where submitted launches have run: a
// stream may hold a host function there that waits for the caller.
void Session::drain_context(const ContextPointer& context) {
  std::vector<sanitizer::StreamHandle> busy;
  std::uint64_t submitted = 0;
  {
    const Lock lock(mutex_);
    submitted = submitted_;
    for (const LaunchInFlight& launch : in_flight_) {
      if (launch.context == context && launch.submitted != 0 && !options_.emulated) {
        busy.push_back(launch.stream->handle);
      }
    }
  }
  std::sort(busy.begin(), busy.end());
  busy.erase(std::unique(busy.begin(), busy.end()), busy.end());
  const bool done = std::all_of(busy.begin(), busy.end(), [&](sanitizer::StreamHandle stream) {
    return api_.stream_synchronize(stream) == Code::kSuccess;
  });
  if (!done) return;
  {
    const Lock lock(mutex_);
    note_done(lock, *context, nullptr, submitted);
  }
  harvest();
}

// After drain(), nobody waits for what exit handlers launch: it is read back as soon as it has run.
void Session::harvest_late(const ContextPointer& context) {
  if (options_.emulated && ends_.load(std::memory_order_relaxed)) drain_context(context);
}

}  // namespace drgpum::profiler

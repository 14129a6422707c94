// SPDX-License-Identifier: Apache-2.0
// Access maps of launches that have finished. In callbacks they are read back whole; where the
// pattern kernels may reduce them, they wait on the device for the thread that launches those.

#include <algorithm>

#include "profiler/launch_marks.h"
#include "profiler/session.h"
#include "profiler/table_pieces.h"

namespace drgpum::profiler {

using sanitizer::Code;

// As soon as there is a context: loading device code later may wait for kernels that run, and those
// for launches of the program's.
void Session::make_patterns_ready(const ContextPointer& context) {
  if (options_.mode != Mode::kIntra || !options_.device_reduction) return;
  {
    const Lock lock(mutex_);
    context->reduces = true;
  }
  ReductionQueue::Work work;
  work.context = context;
  if (reductions_.add(work)) return;
  const Lock lock(mutex_);
  context->reduces = false;
}

// What waits may not take the room that the program's launches have needed so far. It keeps whole
// chunks of memory from them; a small budget has none to spare.
bool Session::may_wait(const Lock&, const LaunchInFlight& launch) const {
  constexpr std::uint64_t kLeastBudget = 16 << 20;
  const ContextState& context = *launch.context;
  if (context.map_budget < kLeastBudget) return false;
  return context.reduces && !ends_.load(std::memory_order_relaxed) && !launch.plan.maps.empty() &&
         context.maps_waiting + launch.plan.bytes + context.most_maps_out <= context.map_budget;
}

// All but the maps is given back at once.
bool Session::leave_waiting(const Lock&, LaunchInFlight* launch, const unsigned char* bytes) {
  ReductionQueue::Work work;
  work.context = launch->context;
  work.launch = launch;
  work.slot.assign(bytes, bytes + launch->region.bytes);
  if (!reductions_.add(work)) return false;
  launch->waits = true;
  launch->context->maps_out -= launch->map_region.bytes;
  launch->context->maps_waiting += launch->map_region.bytes;
  launch->context->memory.release(launch->region);
  launch->region = {};
  launch->table.reset();
  return true;
}

// On the queue's thread.
void Session::reduce_waiting(ReductionQueue::Work& work) noexcept {
  try {
    ThreadState& thread = this_thread();
    thread.busy = true;  // what the driver tells of our own calls is not the program's
    do_waiting(work, waiting_reader_, true);
  } catch (const std::exception& error) {
    disable(error.what());
  } catch (...) {
    disable("unknown failure");
  }
}

void Session::load_patterns(ContextState& context) {
  std::shared_ptr<const PatternKernels> patterns = PatternKernels::load(api_, context.handle);
  const Lock lock(mutex_);
  context.reduces = patterns != nullptr;
  context.patterns = std::move(patterns);
}

// `may_launch`: this is no callback.
void Session::do_waiting(ReductionQueue::Work& work, MapReader& reader, bool may_launch) {
  if (work.launch == nullptr) return may_launch ? load_patterns(*work.context) : void();
  std::shared_ptr<const PatternKernels> patterns;
  if (may_launch) {
    const Lock lock(mutex_);
    patterns = work.context->patterns;
  }
  const HarvestedMaps maps = reader.read(*work.launch, work.slot.data(), patterns.get());
  const Lock lock(mutex_);
  if (!closed_.load(std::memory_order_acquire)) {
    write_maps(lock, *work.launch, work.slot.data(), maps);
  }
  drop_launch(lock, work.launch);
}

// Maps that wait are reduced now: by the pattern kernels where they may be launched, else here.
void Session::settle_maps(const ContextPointer& context, Patience patience) {
  std::vector<ReductionQueue::Work> left = reductions_.take_back(context.get(), patience);
  const bool may_launch = this_thread().outside_callbacks;
  const std::lock_guard reading(harvest_mutex_);
  for (ReductionQueue::Work& work : left) {
    const bool is_preparation = work.launch == nullptr && !may_launch;
    if (!is_preparation) do_waiting(work, reader_, may_launch);
    if (is_preparation && !context->ends) reductions_.add(work);
  }
}

// Reads back everything of a context, waiting for the maps that are to be reduced.
void Session::settle_context(sanitizer::Context handle, Patience patience, bool ends) {
  ContextPointer context;
  {
    const Lock lock(mutex_);
    const auto found = contexts_.find(handle);
    if (found == contexts_.end()) return;
    context = found->second;
    context->ends |= ends;
  }
  drain_context(context);
  reductions_.await(context.get(), patience);
  settle_maps(context, Patience{0});
}

// Objects that a kernel touched come first when its next launch's maps are planned.
void Session::note_touched(const Lock&, const LaunchInFlight& launch, const unsigned char* bytes) {
  const auto kernel = kernels_.find(launch.function);
  if (kernel == kernels_.end()) return;
  const std::vector<std::uint32_t> marks =
      object_marks(*launch.objects, marks_in(launch, bytes));
  std::unordered_set<std::uint32_t>& touched = kernel->second->touched;
  // Objects that are gone are forgotten now and then.
  if (touched.size() > 2 * launch.objects->ids.size() + 64) touched.clear();
  for (std::size_t i = 0; i < launch.objects->ids.size(); ++i) {
    if (marks[i] != 0) touched.insert(launch.objects->ids[i].value);
  }
}

void Session::write_maps(const Lock&, const LaunchInFlight& launch, const unsigned char* bytes,
                         const HarvestedMaps& maps) {
  for (const trace::AccessMapRecord& map : maps.records) {
    recorder_.write_about(map.api, map);
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
  const std::vector<std::uint32_t> marks =
      object_marks(*launch.objects, marks_in(launch, bytes));
  for (std::size_t i = 0; i < launch.objects->ids.size(); ++i) {
    if (marks[i] == 0) continue;
    const ObjectId object = launch.objects->ids[i];
    const bool has_map = std::any_of(maps.records.begin(), maps.records.end(),
                                     [&](const auto& map) { return map.object == object; });
    const bool wants_map = launch.objects->kinds[i] != trace::ObjectKind::kHostPinned;
    if (!has_map && wants_map && !launch.plan.maps.empty()) {
      const bool was_made =
          std::any_of(launch.plan.maps.begin(), launch.plan.maps.end(),
                      [&](const PlannedMap& map) { return map.index == i; });
      if (was_made) {
        cover(trace::CoverageKind::kLostRecords, "the object's access map could not be read back",
              launch.api, 1, object);
      } else {
        cover(trace::CoverageKind::kCoarseMap, "no memory was free for a map of this object",
              launch.api, 1, object);
      }
    }
  }
}

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the access maps of launches that have finished: reduced where they lie, so that summaries
// cross and maps do not, or read back whole and reduced here.

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "profiler/options.h"
#include "profiler/session_state.h"
#include "proto/sanitizer/abi.h"

namespace drgpum::profiler {

// Bytes of the access maps of touched objects, and of what crossed to the host instead.
struct MapTraffic {
  std::atomic<std::uint64_t> map_bytes{0};
  std::atomic<std::uint64_t> crossed{0};
};

// Room in the tool's device memory for as long as a batch of maps is reduced.
struct ScratchMemory {
  std::function<std::optional<Region>(ContextState&, std::uint64_t bytes)> reserve;
  std::function<void(ContextState&, const Region&)> release;
};

// Holds staging memory: each thread that reads has one of its own.
class MapReader {
 public:
  MapReader(const sanitizer::SanitizerApi& api, const Options& options, ScratchMemory scratch,
            MapTraffic* traffic)
      : api_(api), options_(options), scratch_(std::move(scratch)), traffic_(traffic) {}

  // The maps of the objects that the launch touched. `slot`: its slot and marks, read back.
  // `patterns`: null where the driver may not be called; else what they cannot reduce is read whole.
  HarvestedMaps read(const LaunchInFlight& launch, const unsigned char* slot,
                     const PatternKernels* patterns);

 private:
  void reduce_on_device(const LaunchInFlight& launch, std::span<TouchedMap> maps);
  bool reduce_batch(const LaunchInFlight& launch, std::span<TouchedMap*> batch);
  bool fetch_batch(const LaunchInFlight& launch, std::span<TouchedMap*> batch,
                   const std::vector<device::MapJob>& jobs);
  bool fetch_runs(const LaunchInFlight& launch, TouchedMap& map, const device::MapJob& job);
  bool read_raw(const LaunchInFlight& launch, TouchedMap& map);
  bool fetch(const LaunchInFlight& launch, void* to, std::uint64_t address, std::uint64_t bytes);
  [[nodiscard]] sanitizer::StreamHandle stream_for(const LaunchInFlight& launch) const;

  const sanitizer::SanitizerApi& api_;
  const Options& options_;
  ScratchMemory scratch_;
  MapTraffic* traffic_;
  const PatternKernels* patterns_ = nullptr;  // of the launch being read
  std::vector<std::uint32_t> staging_;
};

}  // namespace drgpum::profiler

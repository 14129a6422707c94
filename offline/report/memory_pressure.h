// SPDX-License-Identifier: Apache-2.0
#pragma once
// How a caching allocator held its memory: what it took from the device against what the program
// had from it, holes, frees that wait for streams, what grows from iteration to iteration, and why
// an allocation failed. Needs no accesses; needs to know the blocks inside the allocator's segments.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "offline/order/evidence.h"

namespace drgpum {

// A segment of which little is in use, but not nothing, so that it cannot be given back.
struct PinnedSegment {
  std::uint32_t segment = 0;  // objects
  std::uint32_t block = 0;    // the largest in it
  std::uint32_t blocks = 0;
  std::uint64_t live_bytes = 0;
};

// The allocator at one moment: after call `api`.
struct PressureMoment {
  std::uint32_t api = 0;
  std::uint64_t reserved_bytes = 0;   // held from the device
  std::uint64_t allocated_bytes = 0;  // in blocks, pending ones too
  std::uint64_t pending_bytes = 0;    // given back, waiting for streams
  std::uint64_t largest_hole_bytes = 0;
  std::uint64_t holes = 0;
  std::vector<PinnedSegment> pinned;  // at most a tenth in use; those that hold the most, at most 5
  std::uint64_t free_bytes() const {
    return reserved_bytes > allocated_bytes ? reserved_bytes - allocated_bytes : 0;
  }
};

struct StreamPressure {
  std::string stream;  // its handle as the input has it; may be empty
  std::uint64_t allocated_peak_bytes = 0;
  std::uint64_t allocated_end_bytes = 0;
  std::uint64_t pending_peak_bytes = 0;
  std::uint64_t pending_end_bytes = 0;
  std::uint64_t pending_frees = 0;
};

// Segments of one name and stream at the moment when the device's reserve is largest.
struct PoolPressure {
  std::string pool;
  std::string stream;
  std::uint64_t segments = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t allocated_bytes = 0;
};

struct DevicePressure {
  std::uint16_t device = 0;
  std::uint64_t allocated_peak_bytes = 0;
  std::uint32_t allocated_peak_api = 0;
  std::uint64_t pending_peak_bytes = 0;
  PressureMoment reserved_peak;
  PressureMoment end;
  std::vector<StreamPressure> streams;  // by stream
  std::vector<PoolPressure> pools;      // largest reserve first
};

struct SiteBytes {
  std::uint32_t api = 0;  // an allocation from there
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

// Blocks of one call path of which more live at the end of each iteration.
struct Growth {
  std::uint32_t api = 0;  // the last allocation from there
  std::uint64_t iterations = 0;
  std::uint64_t first_bytes = 0;  // alive at the end of the first of them
  std::uint64_t last_bytes = 0;
  std::uint64_t bytes_per_iteration() const {
    return iterations < 2 ? 0 : (last_bytes - first_bytes) / (iterations - 1);
  }
};

enum class FailureCause : std::uint8_t {
  kLive,           // live blocks and the request need more than there is
  kPending,        // with the pending frees done it would have fitted
  kFragmentation,  // enough is free, in pieces
  kReserve,        // enough is free, in segments that other streams or pools hold
};

struct FailurePressure {
  std::uint32_t api = 0;
  std::uint64_t requested_bytes = 0;
  std::optional<std::uint64_t> device_free_bytes;
  PressureMoment moment;
  FailureCause cause = FailureCause::kLive;
  std::optional<std::uint64_t> planned_bytes;  // one planned pool for all until then, with it
  std::string planned_by;                      // the planner that gave it
  std::vector<SiteBytes> live;                 // the five places that hold the most
  // What the allocator could have used: its reserve and what the device had left.
  std::uint64_t capacity_bytes() const {
    return moment.reserved_bytes + device_free_bytes.value_or(0);
  }
};

struct MemoryPressure {
  std::vector<DevicePressure> devices;
  std::vector<Growth> growth;              // most bytes first; at most 10
  std::vector<FailurePressure> failures;   // at most 8, the first
  std::uint64_t iterations = 0;            // found or marked; 0: none
};

// Nothing without blocks inside segments.
std::optional<MemoryPressure> memory_pressure(const Evidence& evidence);

// Parts of it, for one device.
PressureMoment moment_at(const Evidence& evidence, std::uint16_t device, std::uint32_t api);
std::vector<Growth> growth_of(const Evidence& evidence, std::uint16_t device,
                              std::uint64_t& iterations);
FailurePressure explain_failure(const Evidence& evidence, const FailedAllocation& failed,
                                std::uint16_t device);

// An allocator's segment; a block that a program has from it.
bool is_segment(const Object& object);
bool is_block(const Evidence& evidence, const Object& object);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Live bytes over issue order: who holds memory when, the highest peaks and who is live there.

#include <cstdint>
#include <functional>
#include <vector>

#include "offline/order/evidence.h"

namespace drgpum {

// Which objects hold memory: whole allocations, or the tensors inside pools with every allocation
// that holds none.
enum class MemoryLevel : std::uint8_t { kAllocation, kTensor };

// Tensors where there are any.
MemoryLevel finest_level(const Evidence& evidence);

// Whether the object holds memory of its device at this level. Pinned host memory does not, nor
// does memory that another process allocated.
bool holds_memory(const Object& object, MemoryLevel level);

enum class StateAtPeak : std::uint8_t {
  kUsed,    // a call between the peak and the next change of live bytes uses it
  kIdle,    // used before or after, not there
  kUnused,  // no launch and no copy ever reads or computes on it
  kLeaked,  // not used any more, and never freed
  kUnknown,  // the trace records no accesses, or none of this object's can be seen
};

struct LiveObject {
  std::uint32_t object = 0;
  StateAtPeak state = StateAtPeak::kIdle;
};

// Live bytes reach `bytes` with call `api` and stay there until call `until`.
struct Peak {
  std::uint64_t bytes = 0;
  std::uint32_t api = 0;
  std::uint32_t until = 0;
  std::uint16_t device = 0;
  std::vector<LiveObject> objects;  // largest first, then by index
};

struct LivePoint {
  std::uint32_t api = 0;
  std::uint64_t bytes = 0;  // live from this call to the next point
};

// The curve of one device: one point for each call that changes it. A sum beyond 2^64 - 1 stays
// there.
std::vector<LivePoint> live_curve(const Evidence& evidence, std::uint16_t device,
                                  MemoryLevel level);
// The curve of the objects that count, whatever they hold.
std::vector<LivePoint> curve_where(const Evidence& evidence,
                                   const std::function<bool(const Object&)>& counts);
// The curve of pinned host memory.
std::vector<LivePoint> pinned_curve(const Evidence& evidence);

// The `count` highest local maxima of all devices, highest first, then by call.
std::vector<Peak> top_peaks(const Evidence& evidence, MemoryLevel level, std::size_t count);

// The most bytes that one launch touches: what the program needs at least if nothing is swapped in
// parts. Of an object without an exact access map all bytes count.
std::uint64_t lower_bound_bytes(const Evidence& evidence, MemoryLevel level);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// What every pattern reads, and the questions that several of them ask.

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "offline/order/happens_before.h"
#include "offline/order/memory_timeline.h"
#include "offline/patterns/finding.h"

namespace drgpum {

struct Thresholds {
  std::uint64_t early_launches = 1;
  std::uint64_t late_launches = 1;
  std::uint64_t idle_launches = 1;
  double reuse_fit = 0.9;           // a guest fills at least this share of its host
  double accessed_share = 0.8;      // below it an object is over-allocated
  double count_variation = 0.2;     // above it access counts are uneven
  double largest_part_share = 0.5;  // of an object, that one launch of a structured access touches
};

// Which uses of an object its patterns judge. Host-to-device copies and sets before its first
// launch and device-to-host copies after its last are movable; all others are essential. Of an
// object that no launch touches, the copies that read it are essential.
// Places are places in the object's uses; kNone when there is no such use.
struct Essentials {
  std::uint32_t first = kNone;
  std::uint32_t last = kNone;
  std::uint32_t first_kernel = kNone;
  std::uint32_t last_kernel = kNone;
  bool is_essential(std::span<const Use> uses, std::uint32_t place) const;
};

Essentials essentials_of(std::span<const Use> uses);

struct PatternInput {
  const Evidence& evidence;
  const HappensBefore& order;
  const std::vector<Essentials>& essentials;  // by object
  MemoryLevel level = MemoryLevel::kAllocation;
  Thresholds thresholds;
  std::uint32_t missing_everywhere = 0;  // Missing bits that the whole trace shares
};

// Of coverage that names no single object or launch.
std::uint32_t missing_everywhere(const Evidence& evidence);

std::vector<Essentials> all_essentials(const Evidence& evidence);

// Memory of the device whose life the program decides.
bool is_judged(const PatternInput& in, std::uint32_t object);
// Of these, what the program allocates and frees with calls of its own: not module globals.
bool has_own_life(const PatternInput& in, std::uint32_t object);

// The last call in each chain of those added so far.
class Frontier {
 public:
  explicit Frontier(const HappensBefore& order) : order_(order) {}
  void add(std::uint32_t call);
  std::span<const std::uint32_t> calls() const { return calls_; }

 private:
  const HappensBefore& order_;
  std::vector<std::uint32_t> calls_;
};

// Of the uses the last in each chain, or the first; their calls, rising.
std::vector<std::uint32_t> last_per_chain(const PatternInput& in, std::span<const Use> uses);
std::vector<std::uint32_t> first_per_chain(const PatternInput& in, std::span<const Use> uses);
// Adds the launches issued in [begin, end) whose accesses are not known: they may be uses as well.
void add_unseen(const PatternInput& in, std::uint32_t begin, std::uint32_t end,
                std::vector<std::uint32_t>& calls);
bool all_before(const HappensBefore& order, std::span<const std::uint32_t> from,
                std::span<const std::uint32_t> to);

// What keeps any finding about this object from being proven, as bits of Missing.
std::uint32_t missing_for(const PatternInput& in, std::uint32_t object);
// Sets the certainty from what is missing and what has to move.
void settle(Finding& finding);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a pattern says about one object.

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "offline/order/evidence.h"
#include "offline/patterns/call_list.h"

namespace drgpum {

enum class Pattern : std::uint8_t {
  kEarlyAllocation,
  kLateDeallocation,
  kRedundantAllocation,
  kUnusedAllocation,
  kMemoryLeak,
  kTemporaryIdleness,
  kDeadWrite,
  kOverallocation,
  kNonUniformAccessFrequency,
  kStructuredAccess,
};
inline constexpr std::size_t kPatternCount = 10;

std::string_view name_of(Pattern pattern);  // as in the report: "early_allocation"
std::optional<Pattern> pattern_named(std::string_view name);

enum class Certainty : std::uint8_t { kPossible, kProven };

// Why a finding is not proven, as bits.
enum Missing : std::uint32_t {
  kMissingOrder = 1,         // nothing orders the accesses that the proof needs ordered
  kMissingLaunches = 2,      // launches in the object's life whose accesses were not recorded
  kMissingMove = 4,          // copies or sets have to move along
  kMissingManaged = 8,       // managed or imported memory: the driver or others use it too
  kMissingOpaque = 16,       // the object may be used in ways the tool cannot see
  kMissingEnd = 32,          // the trace ends early
  kMissingRanges = 64,       // byte ranges of some accesses are not known
  kMissingExactCells = 128,  // the access map is coarser than the accesses
  kMissingCounts = 256,      // access counts are not complete
  kMissingAddresses = 512,   // some accesses hit no object the tool knows
  kMissingRecords = 1024,    // records were lost
};

// Inside one object, from access maps.
struct IntraEvidence {
  std::uint32_t element_bytes = 0;  // the narrowest access seen
  std::uint64_t accessed_bytes = 0;
  std::uint64_t unaccessed_bytes = 0;
  std::uint64_t unaccessed_runs = 0;
  double fragmentation = 0;                  // 1 - largest unaccessed run / all unaccessed bytes
  std::vector<trace::ByteRange> unaccessed;  // the largest, at most 16, by offset
  double variation = 0;                      // population standard deviation / mean
  double mean_count = 0;
  std::uint64_t counted_elements = 0;
  trace::ByteRange hot;
  std::uint64_t parts = 0;  // launches' disjoint parts
  std::uint64_t smallest_part_bytes = 0;
  std::uint64_t largest_part_bytes = 0;
  bool equal_parts = false;
};

struct Gap {  // the object is not needed in [begin, end), in issue order
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

struct Finding {
  Pattern pattern = Pattern::kEarlyAllocation;
  Certainty certainty = Certainty::kPossible;
  bool cut = false;            // the interval was cut at a launch that was not recorded
  std::uint32_t object = 0;    // for a reuse, the guest
  std::uint32_t host = kNone;  // for a reuse, whose memory it could use
  // The calls that bound the interval: allocation to first access, last access to free, and so on.
  std::uint32_t from = kNone;
  std::uint32_t to = kNone;
  std::optional<std::uint64_t> distance;  // launches issued strictly between them
  std::uint64_t apis_between = 0;         // all calls strictly between them
  std::uint32_t count = 0;                // idle gaps, dead writes, launches judged
  std::uint64_t wasted_bytes = 0;
  std::uint32_t missing = 0;  // bits of Missing
  CallList must_move;         // copies and sets, rising
  std::vector<Gap> gaps;      // idleness: where the object is not needed
  CallList calls;             // dead writes; launches named as evidence; rising
  std::shared_ptr<const IntraEvidence> intra;

  std::uint64_t peak_saving_bytes = 0;
  std::uint64_t joint_saving_bytes = 0;
  std::uint64_t idle_at_peak_bytes = 0;
  std::uint32_t superseded_by = kNone;  // place in the ranked list
};

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Finds out which numbers a Sanitizer library speaks. No call tells its version and no struct its
// size, but get_callback_state succeeds exactly for the ids that exist, with no driver needed.

#include <string>

#include "proto/sanitizer/abi.h"

namespace drgpum::sanitizer {

// How many ids a library accepts, per domain.
struct AbiCounts {
  std::uint32_t resource = 0;
  std::uint32_t graphs = 0;
  std::uint32_t memcpy = 0;
  std::uint32_t external_memory = 0;
  std::uint32_t driver_api = 0;
  std::uint32_t runtime_api = 0;
  bool operator==(const AbiCounts&) const = default;
};

// As measured with the libraries of these releases.
inline constexpr AbiCounts kCounts11_8{23, 5, 1, 0, 676, 433};
inline constexpr AbiCounts kCounts12_4{28, 7, 1, 3, 753, 467};
inline constexpr AbiCounts kCounts13_0{28, 7, 1, 3, 806, 522};

struct AbiReport {
  Generation generation;
  AbiCounts counts;
  std::string warning;  // empty, or one line: what is assumed
};

AbiCounts count_ids(const SanitizerApi& api, Subscriber subscriber);

// kUnsupported for counts that belong to no known release and are no larger than the newest's.
Result<AbiReport> judge_counts(const AbiCounts& counts);

// Both. The subscriber must be live; nothing is enabled.
Result<AbiReport> probe_abi(const SanitizerApi& api, Subscriber subscriber);

}  // namespace drgpum::sanitizer

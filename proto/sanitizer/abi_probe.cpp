// SPDX-License-Identifier: Apache-2.0
// Counts ids and compares them with those of known releases.
#include "proto/sanitizer/abi_probe.h"

namespace drgpum::sanitizer {
namespace {

// Ids start at 1 and have gaps in the API domains only, none of them longer than this.
constexpr std::uint32_t kLongestGap = 64;

std::uint32_t count_domain(const SanitizerApi& api, Subscriber subscriber, Domain domain) {
  std::uint32_t count = 0;
  std::uint32_t enabled = 0;
  for (std::uint32_t id = 1, gap = 0; gap < kLongestGap; ++id) {
    const bool valid = api.get_callback_state(&enabled, subscriber, domain, id) == Code::kSuccess;
    count += valid ? 1 : 0;
    gap = valid ? 0 : gap + 1;
  }
  return count;
}

bool same_tables(const AbiCounts& a, const AbiCounts& b) {
  return a.resource == b.resource && a.graphs == b.graphs &&
         a.external_memory == b.external_memory && a.memcpy == b.memcpy;
}

bool nothing_smaller(const AbiCounts& a, const AbiCounts& b) {
  return a.resource >= b.resource && a.graphs >= b.graphs && a.memcpy >= b.memcpy &&
         a.external_memory >= b.external_memory;
}

std::string text_of(const AbiCounts& counts) {
  return std::to_string(counts.resource) + " resource, " + std::to_string(counts.graphs) +
         " graph, " + std::to_string(counts.memcpy) + " copy and " +
         std::to_string(counts.external_memory) + " external-memory callbacks";
}

}  // namespace

AbiCounts count_ids(const SanitizerApi& api, Subscriber subscriber) {
  return {.resource = count_domain(api, subscriber, Domain::kResource),
          .graphs = count_domain(api, subscriber, Domain::kGraphs),
          .memcpy = count_domain(api, subscriber, Domain::kMemcpy),
          .external_memory = count_domain(api, subscriber, Domain::kExternalMemory),
          .driver_api = count_domain(api, subscriber, Domain::kDriverApi),
          .runtime_api = count_domain(api, subscriber, Domain::kRuntimeApi)};
}

Result<AbiReport> judge_counts(const AbiCounts& counts) {
  if (same_tables(counts, kCounts11_8)) return AbiReport{Generation::kCuda11_8, counts, ""};
  if (same_tables(counts, kCounts13_0)) return AbiReport{Generation::kCuda12_4, counts, ""};
  if (nothing_smaller(counts, kCounts13_0))
    return AbiReport{Generation::kNewer, counts,
                     "this Sanitizer library is newer than CUDA 13.0 (" + text_of(counts) +
                         "); its additional callbacks are not used"};
  return Error{ErrorCode::kUnsupported,
               "this Sanitizer library (" + text_of(counts) +
                   ") is none that drgpum knows; use that of CUDA 11.8, or of 12.4 or later"};
}

Result<AbiReport> probe_abi(const SanitizerApi& api, Subscriber subscriber) {
  return judge_counts(count_ids(api, subscriber));
}

}  // namespace drgpum::sanitizer

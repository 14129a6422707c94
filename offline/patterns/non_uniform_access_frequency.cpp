// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>

#include "offline/patterns/intra_ranges.h"
#include "offline/patterns/patterns.h"

namespace drgpum {
namespace {

double variation_of(const trace::AccessMapRecord& map) {
  if (map.counted_cells == 0 || map.count_mean <= 0) return 0;
  return std::sqrt(std::max(map.count_variance, 0.0)) / map.count_mean;
}

// The parts that were counted may be narrower than elements: of those that it cuts it takes all.
trace::ByteRange whole_elements(trace::ByteRange range, std::uint64_t element, std::uint64_t size) {
  if (element == 0) return range;
  return {range.begin / element * element,
          std::min((range.end + element - 1) / element * element, size)};
}

}  // namespace

// Non-uniform access frequency: in one launch, the counts of the elements that it accesses vary by
// more than 20 % (population standard deviation / mean). A lane's load, store or atomic counts 1 on
// each element it covers. One finding per object: its most uneven launch, the number of uneven
// launches and the range that is accessed most. Source: DrGPUM (ASPLOS '23).
// Wasted: 0; it costs time, not memory. Fix: put the hot part in shared memory. No distance.
// Proven: counts are complete and cells are no wider than the accesses.
// What would make it wrong: counts that were off or saturated for part of the object.
std::vector<Finding> non_uniform_access_frequency(const PatternInput& in) {
  std::vector<Finding> findings;
  if (in.evidence.maps.empty()) return findings;
  std::set<std::uint32_t> without_counts;  // ids of objects
  for (const trace::CoverageRecord& gap : in.evidence.coverage)
    if (gap.kind == trace::CoverageKind::kNoCounts) without_counts.insert(gap.object.value);
  for (std::uint32_t o = 0; o < in.evidence.objects.size(); ++o) {
    if (!is_judged(in, o)) continue;
    Finding f;
    f.pattern = Pattern::kNonUniformAccessFrequency;
    f.object = o;
    const trace::AccessMapRecord* worst = nullptr;
    for (const Use& use : in.evidence.uses_of(o)) {
      if (!use.by_kernel() || !use.has_detail()) continue;
      const UseDetail& detail = in.evidence.details[use.detail()];
      if (detail.map == kNone) continue;
      const trace::AccessMapRecord& map = in.evidence.maps[detail.map];
      if (variation_of(map) <= in.thresholds.count_variation) continue;
      ++f.count;
      if (worst != nullptr && variation_of(map) <= variation_of(*worst)) continue;
      worst = &map;
      f.from = use.api;
    }
    if (worst == nullptr) continue;
    IntraEvidence intra;
    intra.element_bytes = in.evidence.objects[o].min_access_bytes;
    intra.variation = variation_of(*worst);
    intra.mean_count = worst->count_mean;
    const std::uint64_t wide = std::max<std::uint64_t>(intra.element_bytes, worst->cell_bytes);
    if (wide > 0) intra.counted_elements = worst->counted_cells * worst->cell_bytes / wide;
    intra.hot =
        whole_elements(worst->hot_range, intra.element_bytes, in.evidence.objects[o].size);
    f.intra = std::make_shared<IntraEvidence>(std::move(intra));
    f.calls = {f.from};
    f.missing = missing_for(in, o);
    if (!worst->exact) f.missing |= kMissingExactCells;
    if (worst->block_every.value_or(1) > 1) f.missing |= kMissingCounts;
    if (without_counts.count(in.evidence.objects[o].id) != 0) f.missing |= kMissingCounts;
    settle(f);
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "offline/patterns/intra_ranges.h"
#include "offline/patterns/patterns.h"

namespace drgpum {
namespace {

using trace::ByteRange;

// The parts that the launches of one kernel function touch.
struct Parts {
  std::vector<ByteRange> ranges;  // of all parts, each united in itself
  std::vector<std::uint64_t> bytes;
};

// A module that is loaded twice gives a function two kernel ids; its name stays.
std::string function_of(const PatternInput& in, std::uint32_t api) {
  const std::uint32_t kernel = in.evidence.apis[api].payload;
  return kernel < in.evidence.kernels.size() && !in.evidence.kernels[kernel].empty()
             ? in.evidence.kernels[kernel]
             : std::to_string(kernel);
}

bool collect(const PatternInput& in, std::uint32_t object, std::map<std::string, Parts>& parts) {
  for (const Use& use : in.evidence.uses_of(object)) {
    if (!use.by_kernel()) continue;
    if (whole_map(in, use) == nullptr) return false;
    std::vector<ByteRange> ranges;
    touched_by(in, use, ranges);
    ranges = united(std::move(ranges), in.evidence.objects[object].size);
    if (ranges.empty()) continue;
    Parts& of = parts[function_of(in, use.api)];
    of.bytes.push_back(bytes_of(ranges));
    of.ranges.insert(of.ranges.end(), ranges.begin(), ranges.end());
  }
  return !parts.empty();
}

bool are_disjoint(std::vector<ByteRange> ranges) {
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].begin < ranges[i - 1].end) return false;
  return true;
}

bool is_structured(const PatternInput& in, std::uint64_t size, const Parts& parts) {
  if (parts.bytes.size() < 2) return false;
  const auto limit = in.thresholds.largest_part_share * static_cast<double>(size);
  const bool small = std::all_of(parts.bytes.begin(), parts.bytes.end(),
                                 [&](std::uint64_t b) { return static_cast<double>(b) <= limit; });
  return small && are_disjoint(parts.ranges);
}

}  // namespace

// Structured access: every kernel function that touches the object does so in at least two
// launches, and the launches of one function touch pairwise disjoint parts, each at most half of
// the object. Source: DrGPUM (ASPLOS '23), which reads it off a heat map by hand.
// Wasted: the object less its largest part. Fix: keep one part. No distance.
// Proven: every launch in its life was recorded with an exact map.
// What would make it wrong: copies that need all parts at once; a launch that was not recorded.
std::vector<Finding> structured_access(const PatternInput& in) {
  std::vector<Finding> findings;
  if (in.evidence.maps.empty()) return findings;
  for (std::uint32_t o = 0; o < in.evidence.objects.size(); ++o) {
    const Object& object = in.evidence.objects[o];
    std::map<std::string, Parts> parts;
    // Launches that touch different parts of a pool share nothing but the pool.
    if (!is_judged(in, o) || object.has_children || !collect(in, o, parts)) continue;
    IntraEvidence intra;
    intra.smallest_part_bytes = object.size;
    bool structured = true;
    for (const auto& [function, of] : parts) {
      structured = structured && is_structured(in, object.size, of);
      intra.parts = std::max<std::uint64_t>(intra.parts, of.bytes.size());
      for (const std::uint64_t bytes : of.bytes) {
        intra.smallest_part_bytes = std::min(intra.smallest_part_bytes, bytes);
        intra.largest_part_bytes = std::max(intra.largest_part_bytes, bytes);
      }
    }
    if (!structured) continue;
    intra.equal_parts = intra.smallest_part_bytes == intra.largest_part_bytes;
    intra.element_bytes = in.evidence.objects[o].min_access_bytes;
    Finding f;
    f.pattern = Pattern::kStructuredAccess;
    f.object = o;
    f.from = object.alloc;
    f.to = object.free;
    f.count = static_cast<std::uint32_t>(intra.parts);
    f.wasted_bytes = object.size - intra.largest_part_bytes;
    f.gaps = {{object.alloc, object.end}};
    f.intra = std::make_shared<IntraEvidence>(std::move(intra));
    f.missing = missing_in_maps(in, o);
    settle(f);
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "offline/order/object_kinds.h"
#include "offline/patterns/patterns.h"

namespace drgpum {

// Unused allocation: no launch accesses the object and no copy reads it. Copies and sets into it do
// not make it used. Source: DrGPUM (ASPLOS '23), which ignores copies that read.
// Wasted: the whole object. Fix: drop it, and what fills it. No distance.
// Proven: every launch in its life was recorded and every access hit a known object.
// What would make it wrong: any launch in its life that was not recorded, or reads through
// textures; then nothing is said, nor of a trace without accesses.
std::vector<Finding> unused_allocation(const PatternInput& in) {
  std::vector<Finding> findings;
  if (!in.evidence.records_accesses()) return findings;
  for (std::uint32_t o = 0; o < in.evidence.objects.size(); ++o) {
    const Object& object = in.evidence.objects[o];
    if (!is_judged(in, o) || in.essentials[o].first != kNone) continue;
    if (is_used_unseen(object)) continue;
    if (in.evidence.first_unseen(object.alloc, object.end) != kNone) continue;
    Finding f;
    f.pattern = Pattern::kUnusedAllocation;
    f.object = o;
    f.from = object.alloc;
    f.to = object.free;
    f.wasted_bytes = object.size;
    f.gaps = {{object.alloc, object.end}};
    f.missing = missing_for(in, o);
    for (const Use& use : in.evidence.uses_of(o))
      f.calls.push_back(use.api);
    f.count = static_cast<std::uint32_t>(f.calls.size());
    settle(f);
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace drgpum

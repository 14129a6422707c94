// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "offline/patterns/patterns.h"

namespace drgpum {

// Memory leak: an object that is alive when its context is destroyed or the process ends. Pinned
// host memory leaks as well; module globals do not. Source: DrGPUM (ASPLOS '23).
// Wasted: the whole object. Fix: free it. No distance.
// Proven: the trace ended in order. Needs no access data, so unrecorded launches cannot make it
// wrong; a trace that ends early can. Of a program that lived on nothing is said.
std::vector<Finding> memory_leak(const PatternInput& in) {
  std::vector<Finding> findings;
  if (in.evidence.still_running()) return findings;
  for (std::uint32_t o = 0; o < in.evidence.objects.size(); ++o) {
    const Object& object = in.evidence.objects[o];
    const bool in_scope = has_own_life(in, o) || (!object.on_device() && object.size > 0);
    if (!in_scope || object.ended) continue;
    const auto uses = in.evidence.uses_of(o);
    Finding f;
    f.pattern = Pattern::kMemoryLeak;
    f.object = o;
    f.from = uses.empty() ? object.alloc : uses.back().api;
    f.wasted_bytes = object.size;
    std::vector<std::uint32_t> over = last_per_chain(in, uses);
    add_unseen(in, object.alloc, object.end, over);
    const std::uint32_t released =
        over.empty() ? object.alloc + 1 : in.order.released_after(over, object.end);
    if (released < object.end) f.gaps = {{released, object.end}};
    if (!in.evidence.has_end) f.missing |= kMissingEnd;
    if (object.kind == trace::ObjectKind::kManaged) f.missing |= kMissingManaged;
    settle(f);
    findings.push_back(std::move(f));
  }
  return findings;
}

}  // namespace drgpum

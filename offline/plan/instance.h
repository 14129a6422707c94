// SPDX-License-Identifier: Apache-2.0
#pragma once
// A planning problem as the planners see it: boxes over sections of time.

#include <cstdint>
#include <span>
#include <vector>

#include "offline/plan/problem.h"

namespace drgpum {

// Sections first..last-1.
struct SectionRange {
  std::int32_t first = 0;
  std::int32_t last = 0;
};

// A section is a stretch of time whose set of live objects is not contained in a neighbour's: two
// objects are live together at some time exactly if they share a section. At most one section per
// object. Objects of size 0 take no part and have no sections.
struct Instance {
  std::int32_t section_count = 0;
  std::int64_t load = 0;                   // max over section_load: the lower bound, bytes
  std::vector<std::int64_t> section_load;  // sum of live sizes per section
  std::vector<std::int64_t> size;          // per object, bytes
  std::vector<std::int64_t> alignment;
  std::vector<std::int64_t> fixed_offset;  // kNoOffset: free
  std::vector<std::int64_t> birth;         // start of life, on the planning axis
  std::vector<std::int64_t> length;        // of life, on the planning axis
  std::vector<std::uint32_t> range_begin;  // per object, and one more: into `ranges`
  std::vector<SectionRange> ranges;        // one per uninterrupted part of a life
  bool has_alignment = false;
  bool has_fixed = false;
  bool has_gaps = false;

  std::size_t count() const { return size.size(); }
  std::span<const SectionRange> ranges_of(std::uint32_t object) const {
    return {ranges.data() + range_begin[object], ranges.data() + range_begin[object + 1]};
  }
  // The sections from the object's first to its last, gaps included.
  SectionRange hull_of(std::uint32_t object) const {
    return {ranges[range_begin[object]].first, ranges[range_begin[object + 1] - 1].last};
  }
  std::int64_t aligned(std::uint32_t object, std::int64_t offset) const {
    const std::int64_t step = alignment[object];
    return step == 1 ? offset : (offset + step - 1) / step * step;
  }
};

Instance make_instance(const Problem& problem);

}  // namespace drgpum

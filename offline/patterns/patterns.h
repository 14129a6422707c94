// SPDX-License-Identifier: Apache-2.0
#pragma once
// The patterns: pure functions from evidence to findings, one file each. README.md lists them.

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "offline/patterns/pattern_input.h"

namespace drgpum {

std::vector<Finding> early_allocation(const PatternInput& in);
std::vector<Finding> late_deallocation(const PatternInput& in);
std::vector<Finding> redundant_allocation(const PatternInput& in);
std::vector<Finding> unused_allocation(const PatternInput& in);
std::vector<Finding> memory_leak(const PatternInput& in);
std::vector<Finding> temporary_idleness(const PatternInput& in);
std::vector<Finding> dead_write(const PatternInput& in);
std::vector<Finding> overallocation(const PatternInput& in);
std::vector<Finding> non_uniform_access_frequency(const PatternInput& in);
std::vector<Finding> structured_access(const PatternInput& in);

struct PatternEntry {
  Pattern pattern;
  std::string_view name;
  std::vector<Finding> (*find)(const PatternInput&);
};

// In the order in which findings of equal rank are shown.
inline constexpr std::array<PatternEntry, kPatternCount> kPatterns{{
    {Pattern::kEarlyAllocation, "early_allocation", early_allocation},
    {Pattern::kLateDeallocation, "late_deallocation", late_deallocation},
    {Pattern::kRedundantAllocation, "redundant_allocation", redundant_allocation},
    {Pattern::kUnusedAllocation, "unused_allocation", unused_allocation},
    {Pattern::kMemoryLeak, "memory_leak", memory_leak},
    {Pattern::kTemporaryIdleness, "temporary_idleness", temporary_idleness},
    {Pattern::kDeadWrite, "dead_write", dead_write},
    {Pattern::kOverallocation, "overallocation", overallocation},
    {Pattern::kNonUniformAccessFrequency, "non_uniform_access_frequency",
     non_uniform_access_frequency},
    {Pattern::kStructuredAccess, "structured_access", structured_access},
}};

// All findings of rules `strict`, pattern by pattern, unranked; the same on any number of threads.
// 0: as many as are worth it.
std::vector<Finding> strict_findings(const PatternInput& in, unsigned threads = 0);

// The published tool's seven patterns as its code has them, ties and all. See published_rules.cpp.
std::vector<Finding> published_findings(const PatternInput& in);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#include "offline/patterns/explain.h"

#include <array>

#include "offline/patterns/patterns.h"

namespace drgpum {
namespace {

constexpr std::string_view kPaper = "DrGPUM, ASPLOS 2023";

constexpr std::array<PatternText, kPatternCount> kTexts{{
    {Pattern::kEarlyAllocation, "Early allocation",
     "Kernel launches are issued between an object's allocation and its first essential access. "
     "Uploads and sets before the first launch that uses the object are not essential: they can "
     "move along.",
     "early_allocation=1: launches issued strictly between.",
     "Allocate just before the access, and move uploads and sets there.",
     "One such launch happens before the access, and nothing has to move.",
     "A launch in between that uses the object unseen. The interval ends at the first launch whose "
     "accesses were not recorded.",
     kPaper},
    {Pattern::kLateDeallocation, "Late deallocation",
     "Kernel launches are issued between an object's last essential access and its free. Downloads "
     "after the last launch that uses the object are not essential.",
     "late_deallocation=1: launches issued strictly between.",
     "Free just after the access, and move downloads before the free.",
     "Every access happens before one such launch, and nothing has to move.",
     "A launch in between that uses the object unseen. The interval begins at the last launch "
     "whose "
     "accesses were not recorded.",
     kPaper},
    {Pattern::kRedundantAllocation, "Redundant allocation",
     "Object B could use the memory of object A: A's last essential access is issued before B's "
     "first, A still holds its memory when B is allocated, and B fits into A and fills most of it. "
     "Each object has at most one host and one guest. An object that leaks is no host: it is to be "
     "freed first, and then the allocator hands its memory on.",
     "redundant_allocation=0.9: share of the host that the guest fills.", "Let B use A's memory.",
     "Every access of A happens before every access of B, and no copy has to move.",
     "Accesses that no order separates, or that were not recorded. Without order no saving is "
     "claimed.",
     "DrGPUM, ASPLOS 2023, whose code also pairs objects that one launch uses together; --rules "
     "drgpum does as it does"},
    {Pattern::kUnusedAllocation, "Unused allocation",
     "No launch accesses the object and no copy reads it. Copies and sets into it do not make it "
     "used.",
     "None.", "Drop it, and what fills it.",
     "Every launch of its life was recorded and every access hit a known object.",
     "A launch in its life that was not recorded; then nothing is said.", kPaper},
    {Pattern::kMemoryLeak, "Memory leak",
     "The object is alive when its context is destroyed or the process ends.", "None.", "Free it.",
     "The trace ended in order.", "A trace that ends early.", kPaper},
    {Pattern::kTemporaryIdleness, "Temporary idleness",
     "Kernel launches are issued between two consecutive essential accesses of an object. The "
     "longest gap and the number of gaps are reported.",
     "temporary_idleness=1: launches issued strictly between.",
     "Swap the object out in the gap, or free it and compute it again.",
     "One launch of the gap is ordered after all accesses before it and before all accesses after "
     "it.",
     "A launch in the gap that uses the object unseen; gaps with unrecorded launches are dropped.",
     kPaper},
    {Pattern::kDeadWrite, "Dead write",
     "All bytes that a copy or set writes are written again, or the object is freed, before "
     "anything reads one of them. Copies and sets overwrite; a launch only where an exact access "
     "map shows it.",
     "None.", "Drop the write.",
     "The write, what overwrites it and the object's reads are ordered.",
     "A launch between the two that was not recorded; then nothing is said.", kPaper},
    {Pattern::kOverallocation, "Overallocation",
     "Of an object that launches touch, only part of the elements is accessed by them over its "
     "life. Padding of pitched rows does not count; an element is as wide as the narrowest access. "
     "Fragmentation is 1 less the largest unaccessed run over all unaccessed bytes.",
     "overallocation=0.8: accessed share below which it is reported.",
     "Make it smaller (fragmentation below 0.2), or store it compactly.",
     "Every launch of its life was recorded with an exact map.",
     "Other inputs that touch more; launches that were not recorded.", kPaper},
    {Pattern::kNonUniformAccessFrequency, "Non-uniform access frequency",
     "In one launch, the access counts of the elements that it accesses vary: population standard "
     "deviation over mean. A lane's load, store or atomic counts 1 on each element.",
     "non_uniform_access_frequency=0.2: variation above which it is reported.",
     "Put the part that is accessed most in shared memory.",
     "Counts are complete and cells no wider than the accesses.",
     "Counts that were off for part of the object.", kPaper},
    {Pattern::kStructuredAccess, "Structured access",
     "Every kernel function that touches the object does so in at least two launches; launches of "
     "one function touch pairwise disjoint parts, each a small share of the object.",
     "structured_access=0.5: largest share of the object that one launch may touch.",
     "Keep one part at a time.", "Every launch of its life was recorded with an exact map.",
     "Copies that need all parts at once; launches that were not recorded.", kPaper},
}};

}  // namespace

const PatternText& text_of(Pattern pattern) {
  return kTexts.at(static_cast<std::size_t>(pattern));
}

std::string explain(Pattern pattern) {
  const PatternText& text = text_of(pattern);
  std::string out = std::string(text.title) + " (" + std::string(name_of(pattern)) + ")\n\n";
  const auto part = [&](std::string_view label, std::string_view words) {
    out += std::string(label) + ": " + std::string(words) + "\n";
  };
  part("When", text.when);
  part("Threshold", text.threshold);
  part("Fix", text.fix);
  part("Proven when", text.proven);
  part("What would make it wrong", text.wrong);
  part("Source", text.source);
  return out;
}

}  // namespace drgpum

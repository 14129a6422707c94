// SPDX-License-Identifier: Apache-2.0
// What to do about a finding, and why it may not be certain, in words.

#include <array>

#include "offline/report/report.h"
#include "offline/report/units.h"

namespace drgpum {
namespace {

constexpr double kShrinkBelow = 0.2;  // fragmentation
constexpr double kSpreadFrom = 0.4;   // of the accessed bytes, that half of the accesses fall on
constexpr std::uint64_t kMostShared = 227 << 10;  // bytes of shared memory, of a block on sm_90

struct MissingWord {
  std::uint32_t bit;
  const char* words;
};
constexpr std::array<MissingWord, 11> kMissingWords{{
    {kMissingOrder, "nothing orders the accesses that the proof needs"},
    {kMissingLaunches, "some launches were not recorded"},
    {kMissingMove, "copies or sets have to move along"},
    {kMissingManaged, "the memory is managed or imported"},
    {kMissingOpaque, "the object may be used in ways the tool cannot see"},
    {kMissingEnd, "the trace ends early"},
    {kMissingRanges, "byte ranges of some accesses are not known"},
    {kMissingExactCells, "the access map is coarser than the accesses"},
    {kMissingCounts, "access counts are not complete"},
    {kMissingAddresses, "some accesses hit no object that the tool knows"},
    {kMissingRecords, "the recording lost records"},
}};

std::string moved(const Report& report, const Finding& f, std::string_view where) {
  if (f.must_move.empty()) return {};
  return ", and move " + plural(f.must_move.size(), "copy") + " or set" +
         (f.must_move.size() == 1 ? "" : "s") + " " + std::string(where) +
         " (first: " + report.describe_call(f.must_move.front()) + ")";
}

// The name of one of two objects; with its number where both have the same.
std::string one_of(const Report& report, std::uint32_t object, std::uint32_t other) {
  std::string name = report.label(object);
  if (name == report.label(other))
    name += " (object " + std::to_string(report.evidence.objects[object].id) + ")";
  return name;
}

// " A is used last by call 3 fill at a.cu:8, B first by call 5 scale at a.cu:9."
std::string why_free(const Report& report, const Finding& f) {
  if (f.from == kNone) return {};
  return " " + one_of(report, f.host, f.object) + " is used last by " +
         report.describe_call(f.from) + ", " + one_of(report, f.object, f.host) + " first by " +
         report.describe_call(f.to) + ".";
}

std::string what_ends_it(const Report& report, const Finding& f) {
  if (!report.has_call(f.to)) return "nothing follows";
  const bool freed = report.evidence.apis[f.to].kind == trace::ApiKind::kFree;
  return report.describe_call(f.to) + (freed ? " frees it" : " overwrites it");
}

std::string advice_on_rest(const Report& report, const Finding& f) {
  const std::string name = report.label(f.object);
  const std::string bytes = iec_bytes(f.intra->unaccessed_bytes);
  if (f.intra->fragmentation < kShrinkBelow)
    return "Make " + name + " smaller: launches never touch " + bytes + " of it.";
  return "Store " + name + " compactly: launches never touch " + bytes + " of it, in " +
         plural(f.intra->unaccessed_runs, "run") + ".";
}

// The shortest run with half of the accesses is not hot where it is nearly half of what is accessed,
// and is of no use where it fits no shared memory: what is accessed repeatedly lies all over, as
// what neighbouring blocks share does.
std::string advice_on_hot(const Report& report, const Finding& f) {
  const IntraEvidence& intra = *f.intra;
  const std::string name = report.label(f.object);
  const std::uint64_t hot = intra.hot.end - intra.hot.begin;
  const double accessed =
      static_cast<double>(intra.counted_elements) * static_cast<double>(intra.element_bytes);
  const std::string where = " in shared memory for " + report.describe_call(f.from) + ".";
  const std::string counts =
      " Counts vary by " + fixed_number(intra.variation * 100, 0) + " % of their mean.";
  const bool spread = accessed > 0 && static_cast<double>(hot) >= kSpreadFrom * accessed;
  if (spread || hot > kMostShared)
    return "Keep what is accessed repeatedly of " + name + ", which lies all over it," + where +
           counts;
  return "Put the part of " + name + " that is accessed most, bytes " +
         exact_bytes(intra.hot.begin) + " to " + exact_bytes(intra.hot.end) + "," + where + counts;
}

}  // namespace

std::vector<std::string> missing_words(std::uint32_t missing) {
  std::vector<std::string> words;
  for (const MissingWord& word : kMissingWords)
    if (missing & word.bit) words.emplace_back(word.words);
  return words;
}

std::string reason_for(const Report&, const Finding& finding) {
  std::string text;
  for (const std::string& word : missing_words(finding.missing))
    text += (text.empty() ? "" : "; ") + word;
  return text;
}

std::string advice_for(const Report& report, const Finding& f) {
  const std::string name = report.label(f.object);
  const auto call = [&](std::uint32_t api) { return report.describe_call(api); };
  switch (f.pattern) {
    case Pattern::kEarlyAllocation:
      return "Allocate " + name + " just before " + call(f.to) +
             moved(report, f, "there from before it") + ".";
    case Pattern::kLateDeallocation:
      return "Free " + name + " just after " + call(f.from) + moved(report, f, "before the free") +
             ".";
    case Pattern::kRedundantAllocation:
      return "Let " + one_of(report, f.object, f.host) + " use the memory of " +
             one_of(report, f.host, f.object) + moved(report, f, "between the two uses") + "." +
             why_free(report, f);
    case Pattern::kUnusedAllocation:
      if (f.count == 0) return "Drop " + name + ": nothing uses it.";
      return "Drop " + name + " and the " +
             (f.count == 1 ? "call that fills it" : plural(f.count, "call") + " that fill it") +
             ": nothing reads it.";
    case Pattern::kMemoryLeak:
      return "Free " + name + " after " + call(f.from) + ": nothing ever does.";
    case Pattern::kTemporaryIdleness:
      return "Swap " + name + " out, or free it and compute it again, between " + call(f.from) +
             " and " + call(f.to) + ".";
    case Pattern::kDeadWrite:
      return "Drop the write to " + name + " by " + call(f.from) +
             (f.count > 1 ? " and " + exact_bytes(f.count - 1) + " more like it" : std::string()) +
             ": " + what_ends_it(report, f) + " before anything reads it.";
    case Pattern::kOverallocation:
      return advice_on_rest(report, f);
    case Pattern::kNonUniformAccessFrequency:
      return advice_on_hot(report, f);
    case Pattern::kStructuredAccess:
      return "Keep one part of " + name + " at a time, at most " +
             iec_bytes(f.intra->largest_part_bytes) + ": its launches touch " +
             plural(f.intra->parts, "disjoint part") + ".";
  }
  return {};
}

}  // namespace drgpum

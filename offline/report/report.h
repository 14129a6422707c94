// SPDX-License-Identifier: Apache-2.0
#pragma once
// What drgpum found in one process, for a reader: the evidence, the peaks, the ranked findings and
// what fixing them saves. Renderers turn it into JSON (proto/report.schema.json), text and more.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "offline/order/evidence.h"
#include "offline/order/memory_timeline.h"
#include "offline/order/pool_use.h"
#include "offline/patterns/finding.h"
#include "offline/patterns/savings.h"
#include "offline/report/line_fixes.h"
#include "offline/report/memory_pressure.h"
#include "offline/source/access_line.h"

namespace drgpum {

inline constexpr int kReportVersion = 1;

// A place in a source file; empty fields are not known, line 0 too.
struct SourceFrame {
  std::string function;
  std::string file;
  std::uint32_t line = 0;
};

// Turns call paths into source lines. The default knows nothing.
class SourceLookup {
 public:
  virtual ~SourceLookup() = default;
  // Innermost first.
  virtual std::vector<SourceFrame> frames(std::uint32_t call_path);
  // The place among its frames of the first outside functions that only wrap the allocation.
  virtual std::size_t site(std::uint32_t call_path);
  // The variable that the line of the site assigns; empty when it cannot be told.
  virtual std::string variable(const SourceFrame& site);
  // Lines of kernels that touch the object of that id in the trace, most accesses first.
  virtual std::vector<AccessLine> access_lines(std::uint32_t object);
};

enum class Rules : std::uint8_t { kStrict, kPublished };

struct CallPath {
  std::vector<SourceFrame> frames;  // innermost first
  std::size_t site = 0;             // in `frames`
};

// Findings that a suppression covers; counted, not shown.
struct SuppressionUse {
  std::string pattern;  // of the rule: globs
  std::string site;
  std::string reason;
  std::uint64_t count = 0;
};

// Where an object lies in a planned pool.
struct PoolPlace {
  std::uint32_t object = 0;
  std::uint64_t offset = 0;  // bytes
};

// A planned pool for the objects as they are, in bytes.
struct PoolSaving {
  std::uint64_t footprint_bytes = 0;
  std::uint64_t load_bytes = 0;         // the largest sum of live sizes
  std::uint64_t lower_bound_bytes = 0;  // proven: no layout needs less
  bool optimal = false;
  std::vector<PoolPlace> places;
  std::string planner;  // that gave it
};

// Planned swapping to host memory, of one iteration or the whole run, in bytes.
struct SwapSaving {
  std::uint64_t unlimited_peak_bytes = 0;  // without swapping
  std::uint64_t limit_bytes = 0;           // the lowest that was found to cost no time
  std::uint64_t peak_bytes = 0;
  std::uint64_t overhead_ns = 0;
  double overhead_percent = 0;
  std::uint64_t zero_stall_bound_bytes = 0;  // proven: without stalls no plan has a lower peak
  std::uint64_t pinned_bytes = 0;            // of the host
};

// What a timing run told of the kernels, copies and sets of the trace.
struct DeviceTimes {
  std::uint64_t device_calls = 0;
  std::uint64_t timed_calls = 0;
};

struct Report {
  Evidence evidence;
  bool complete = true;
  std::string incomplete_because;  // for a person; empty when complete
  MemoryLevel level = MemoryLevel::kAllocation;
  Rules rules = Rules::kStrict;
  std::vector<Peak> peaks;  // highest first
  std::uint64_t lower_bound_bytes = 0;
  std::uint64_t pinned_peak_bytes = 0;
  std::vector<Finding> findings;  // ranked
  Savings savings;
  std::vector<LineFixes> lines;
  std::optional<PoolUse> pools;  // of the device with the highest peak
  std::optional<PoolSaving> smartpool;
  std::optional<MemoryPressure> pressure;  // of an allocator whose blocks are known
  std::optional<SwapSaving> autoswap;
  std::optional<DeviceTimes> times;  // nothing without a timing run
  std::vector<std::string> kernel_names;                   // demangled, by kernel id
  std::vector<std::string> names;                          // of objects, by index; may be empty
  std::unordered_map<std::uint32_t, CallPath> call_paths;  // those of objects and named calls
  // Of the same objects, by index; none where the recording has no access sites.
  std::unordered_map<std::uint32_t, std::vector<AccessLine>> access_lines;
  std::vector<SuppressionUse> suppressions;

  std::uint64_t peak_bytes() const { return peaks.empty() ? 0 : peaks.front().bytes; }
  // Whom the report shows: the name, else "object 3".
  std::string label(std::uint32_t object) const;
  // The frame to show for a call; null when nothing is known.
  const SourceFrame* site_of(std::uint32_t api) const;
  std::string kernel_of(std::uint32_t api) const;  // demangled; empty for other calls
  const std::vector<AccessLine>& access_lines_of(std::uint32_t object) const;
  // "call 12 cudaMemcpy, main at 2mm.cu:112"
  std::string describe_call(std::uint32_t api) const;
  bool has_call(std::uint32_t api) const { return api < evidence.api_count(); }
};

struct Coverage {
  trace::CoverageKind kind = trace::CoverageKind::kLostRecords;
  std::string text;
  std::uint64_t count = 0;
};

// One entry for each kind and text, in order of first appearance.
std::vector<Coverage> coverage_of(const Evidence& evidence);

// One sentence: what to do, where. And one on why it is not proven; empty when it is.
std::string advice_for(const Report& report, const Finding& finding);
std::string reason_for(const Report& report, const Finding& finding);
// The pieces of the reason, one for each bit of Missing.
std::vector<std::string> missing_words(std::uint32_t missing);

}  // namespace drgpum

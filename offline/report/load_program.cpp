// SPDX-License-Identifier: Apache-2.0
#include "offline/report/load_program.h"

#include <algorithm>
#include <utility>

#include "offline/source/source_map.h"
#include "offline/source/variable_name.h"

namespace drgpum {
namespace {

bool loses_records(const trace::CoverageRecord& gap) {
  return gap.kind == trace::CoverageKind::kLostRecords ||
         gap.kind == trace::CoverageKind::kToolDisabled ||
         gap.kind == trace::CoverageKind::kSizeLimit;
}

// What the trace itself says is missing from it.
std::string loss_in(const Evidence& evidence) {
  const auto at = std::find_if(evidence.coverage.begin(), evidence.coverage.end(), loses_records);
  if (at == evidence.coverage.end()) return {};
  return at->text.empty() ? "the recording lost records" : at->text;
}

class TraceSources : public SourceLookup {
 public:
  TraceSources(const Trace& trace, SourcePlaces places)
      : map_(resolve_sources(trace, {})), text_(std::move(places)) {}

  std::vector<SourceFrame> frames(std::uint32_t call_path) override {
    std::vector<SourceFrame> frames;
    for (const PathFrame& frame : map_.path(CallPathId{call_path}).frames)
      frames.push_back({std::string(frame.function), std::string(frame.file), frame.line});
    return frames;
  }
  std::size_t site(std::uint32_t call_path) override {
    return map_.path(CallPathId{call_path}).site;
  }
  // Of several allocations on one line nothing tells which is meant.
  std::string variable(const SourceFrame& site) override {
    if (site.file.empty() || text_.allocations_on(site.file, site.line) > 1) return {};
    return variable_of(text_.statement(site.file, site.line));
  }
  std::string line(const SourceFrame& site) override {
    return site.file.empty() ? std::string() : std::string(text_.line(site.file, site.line));
  }

 private:
  SourceMap map_;
  SourceText text_;
};

}  // namespace

Result<LoadedProgram> load_program(const std::string& path, const LoadProgress& progress) {
  EvidenceBuilder builder;
  LoadOptions options;
  options.calls = false;
  options.also = [&](const trace::Record& record) { return builder.add(record); };
  options.progress = progress;
  ASSIGN_OR_RETURN(Trace trace, load_trace(path, options));
  LoadedProgram loaded{std::move(builder).finish(), std::move(trace), true, {}};
  const trace::ReadSummary& summary = loaded.trace.summary();
  loaded.evidence.path = path;
  loaded.evidence.file_bytes = summary.file_bytes;
  const bool whole = summary.completeness == trace::Completeness::kComplete;
  loaded.reason = whole ? loss_in(loaded.evidence) : summary.reason;
  loaded.complete = whole && loaded.reason.empty();
  return loaded;
}

std::unique_ptr<SourceLookup> sources_of(const Trace& trace, SourcePlaces places) {
  return std::make_unique<TraceSources>(trace, std::move(places));
}

}  // namespace drgpum

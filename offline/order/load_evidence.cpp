// SPDX-License-Identifier: Apache-2.0
#include "offline/order/load_evidence.h"

#include <algorithm>

#include "proto/trace/trace_reader.h"

namespace drgpum {
namespace {

constexpr std::uint64_t kRecordsPerTick = 1 << 16;

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

}  // namespace

Result<LoadedEvidence> load_evidence(const std::string& path, const LoadProgress& progress) {
  ASSIGN_OR_RETURN(trace::TraceReader reader, trace::TraceReader::open(path));
  EvidenceBuilder builder;
  trace::Record record;
  for (std::uint64_t count = 0; reader.next(record); ++count) {
    if (Status status = builder.add(record); !status)
      return std::move(status).error().while_doing("reading " + path);
    if (progress && count % kRecordsPerTick == 0)
      progress(reader.bytes_read(), reader.summary().file_bytes);
  }
  return finish_evidence(std::move(builder), reader.summary(), path);
}

LoadedEvidence finish_evidence(EvidenceBuilder&& builder, const trace::ReadSummary& summary,
                               const std::string& path) {
  LoadedEvidence loaded;
  loaded.evidence = std::move(builder).finish();
  loaded.evidence.path = path;
  loaded.evidence.file_bytes = summary.file_bytes;
  loaded.reason = summary.completeness == trace::Completeness::kComplete ? loss_in(loaded.evidence)
                                                                         : summary.reason;
  loaded.complete = loaded.reason.empty() && summary.completeness == trace::Completeness::kComplete;
  return loaded;
}

}  // namespace drgpum

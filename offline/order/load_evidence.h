// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the part of a trace file that order and patterns need, record by record.

#include <functional>
#include <string>
#include <vector>

#include "offline/order/evidence.h"
#include "proto/trace/trace_reader.h"

namespace drgpum {

struct LoadedEvidence {
  Evidence evidence;
  bool complete = true;
  std::string reason;  // why not, for a person
};

// Told the bytes read and the bytes there are, now and then.
using LoadProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

// What a builder gathered from a trace that was read to its end.
LoadedEvidence finish_evidence(EvidenceBuilder&& builder, const trace::ReadSummary& summary,
                               const std::string& path);

// A damaged or unfinished trace is loaded as far as it is good. kIo, kNotFound: the file cannot be
// read. kCorrupt: it is no trace. kUnsupported: of another major version, or too large.
Result<LoadedEvidence> load_evidence(const std::string& path, const LoadProgress& progress = {});

}  // namespace drgpum

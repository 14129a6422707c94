// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads a trace file for judging: its evidence, and what names its source lines.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "offline/order/evidence.h"
#include "offline/report/report.h"
#include "offline/source/source_text.h"
#include "offline/trace/trace.h"

namespace drgpum {

struct LoadedProgram {
  Evidence evidence;
  Trace trace;  // tables and call paths only; the calls are in the evidence
  bool complete = true;
  std::string reason;  // why not, for a person
};

// Told the bytes read and the bytes there are, now and then.
using LoadProgress = std::function<void(std::uint64_t done, std::uint64_t all)>;

// A damaged or unfinished trace is loaded as far as it is good. Errors as of load_trace;
// kUnsupported also: more than 2^16 contexts, threads or devices.
Result<LoadedProgram> load_program(const std::string& path, const LoadProgress& progress = {});

// The source lines of a trace, read from the modules it names and the sources on this machine.
std::unique_ptr<SourceLookup> sources_of(const Trace& trace, SourcePlaces places);

}  // namespace drgpum

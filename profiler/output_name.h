// SPDX-License-Identifier: Apache-2.0
#pragma once
// The name of a trace file from its template.

#include <cstdint>
#include <string>

#include "profiler/options.h"
#include "proto/base/result.h"

namespace drgpum::profiler {

struct ProcessIdentity {
  std::uint64_t pid = 0;
  std::string host;         // %h
  std::string application;  // %a: the executable's file name
};

// This process. Never fails: what is not known is "unknown".
ProcessIdentity this_process();

// The rank that an MPI or SLURM launcher gave this process, or "".
std::string rank_of(const Environment& environment);

// Replaces %p (pid), %h (host), %r (rank, "0" without one), %a (application), %q{NAME} (an
// environment variable, empty when unset) and %% in the template. kInvalidArgument for any other
// use of %.
Result<std::string> expand_output_name(const std::string& name_template,
                                       const ProcessIdentity& process,
                                       const Environment& environment);

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#pragma once
// `drgpum doctor [APP]`: what is installed, and whether a program can be profiled, with remedies.

#include <set>
#include <string>
#include <vector>

#include "profiler/launcher/locations.h"
#include "profiler/launcher/program_image.h"
#include "profiler/options.h"

namespace drgpum::profiler {

struct Diagnosis {
  std::vector<std::string> lines;  // "ok: ...", "note: ..." or "problem: ...", then remedies
  bool has_problem = false;
};

// This machine: the injected library, the device, the Sanitizer library, the emulated device.
Diagnosis diagnose_machine(const Locations& locations, const Environment& environment);

// A program, a library or a script. `served`: functions of the emulated CUDA libraries; empty: not known.
Diagnosis diagnose_program(const std::string& path, const ProgramImage& image,
                           const std::set<std::string>& served);

// Dynamic symbols that libraries of a folder define; empty when there are none.
std::set<std::string> functions_served_by(const std::string& emulator_folder);

}  // namespace drgpum::profiler

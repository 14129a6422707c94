// SPDX-License-Identifier: Apache-2.0
#pragma once
// The command line of `drgpum run`.

#include <string>
#include <utility>
#include <vector>

#include "proto/base/result.h"

namespace drgpum::profiler {

enum class DeviceChoice : unsigned char { kAuto, kGpu, kEmulated };

struct RunRequest {
  DeviceChoice device = DeviceChoice::kAuto;
  std::string output;    // a template; empty: the default
  std::string log_file;  // for the report; empty: stderr
  bool force = false;    // replace an existing output
  bool quiet = false;    // no report afterwards
  bool timing = false;   // run once more for the times of the work
  bool whitelist_peak = false;  // run once before, to find the one kernel to observe
  bool help = false;
  bool hooks = true;  // listen to NVTX, PyTorch, Kokkos
  bool application_only = false;    // not the processes that the program starts
  bool asks_for_emulation = false;  // an option that only the emulated device has was given
  std::vector<std::pair<std::string, std::string>> variables;  // for the program's environment
  std::vector<std::string> program;                            // and its arguments
};

// Arguments after `run`. Options end at the first word that is none, or at `--`. kInvalidArgument
// names the option and what it takes.
Result<RunRequest> parse_run_arguments(const std::vector<std::string>& arguments);

extern const char* const kRunHelp;

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#pragma once
// `drgpum run --timing`: the program once more, under CUPTI alone, for the times of its work.

#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

#include "profiler/launcher/child_process.h"
#include "profiler/launcher/command_line.h"
#include "profiler/launcher/locations.h"
#include "proto/base/result.h"

namespace drgpum::profiler {

struct TimingPlan {
  std::string cupti;                                           // the library that tells times
  std::string program;                                         // file to execute
  std::vector<std::pair<std::string, std::string>> variables;  // of the first run
  off_t input = -1;  // where standard input stood before the first run; -1: it cannot go back
};

// What has to be known before the first run. kNotFound when no CUPTI is there for the device that
// `variables` choose.
Result<TimingPlan> plan_timing(const Locations& locations, const std::string& program,
                               std::vector<std::pair<std::string, std::string>> variables);

// Runs the program again, its output thrown away and its input taken back to the beginning (empty
// where that cannot be), and adds times to the traces of the first run. An error says why there are
// none; the traces are as they were then.
Status time_traces(const TimingPlan& plan, const RunRequest& request,
                   const std::vector<std::string>& traces);

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#pragma once
// --whitelist-peak: which kernel works on the most bytes, found by running the program once at
// object level.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "profiler/launcher/command_line.h"
#include "profiler/launcher/silent_run.h"
#include "proto/base/result.h"

namespace drgpum::profiler {

struct PeakKernel {
  std::string name;         // mangled
  std::uint64_t bytes = 0;  // the sizes of the objects that one of its launches accesses
};

// The kernel of the launch whose objects sum to the most bytes, the first of equals; an empty name
// when no launch accesses anything. Pinned host memory does not count.
Result<PeakKernel> peak_kernel_of(const std::string& trace);

// A whitelist with that kernel, in a folder of its own.
struct PeakWhitelist {
  TemporaryFolder folder;
  std::string file;
  PeakKernel kernel;
};

// Runs the program with these variables, its output thrown away.
Result<PeakWhitelist> find_peak(const std::string& program, const RunRequest& request,
                                std::vector<std::pair<std::string, std::string>> variables);

}  // namespace drgpum::profiler

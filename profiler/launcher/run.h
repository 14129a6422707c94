// SPDX-License-Identifier: Apache-2.0
#pragma once
// `drgpum run`: prepares the environment, runs the program, reports.

#include <string>
#include <vector>

#include "profiler/launcher/command_line.h"

namespace drgpum::profiler {

// Returns the exit status; does not return when the program died by a signal.
int run(const RunRequest& request);

// Prints "drgpum: <message>" on stderr; returns `status`.
int fail(const std::string& message, int status);

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
// drgpum-run: what `drgpum run` hands over to.

#include <cstdio>

#include "profiler/launcher/child_process.h"
#include "profiler/launcher/command_line.h"
#include "profiler/launcher/run.h"

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  auto request = drgpum::profiler::parse_run_arguments(arguments);
  if (!request) {
    return drgpum::profiler::fail(request.error().message, drgpum::profiler::kToolFailed);
  }
  if (request->help) {
    std::fputs(drgpum::profiler::kRunHelp, stdout);
    return 0;
  }
  return drgpum::profiler::run(*request);
}

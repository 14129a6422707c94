// SPDX-License-Identifier: Apache-2.0
#pragma once
// The verbs of `drgpum` that this program holds itself. Each takes the arguments from its own name
// on and returns the exit status.

#include <array>
#include <string_view>

namespace drgpum {

// What every verb but `run` ends with.
enum ExitStatus : int {
  kExitOk = 0,
  kExitGate = 1,  // a --fail-on condition is true, or a plan does not fit
  kExitUsage = 2,
  kExitUnreadable = 3,  // input that cannot be read or is not supported
  kExitIncomplete = 4,  // a damaged or unfinished trace
};

int info_main(int argc, char** argv);
int report_main(int argc, char** argv);
int diff_main(int argc, char** argv);
int annotate_main(int argc, char** argv);
int bundle_main(int argc, char** argv);
int export_main(int argc, char** argv);
int import_main(int argc, char** argv);
int plan_main(int argc, char** argv);
int view_main(int argc, char** argv);

struct Verb {
  std::string_view name;
  std::string_view summary;
  int (*main)(int argc, char** argv);
};

}  // namespace drgpum

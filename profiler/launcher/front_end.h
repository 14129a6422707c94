// SPDX-License-Identifier: Apache-2.0
#pragma once
// The `compute-sanitizer` that knows one more tool. Its command line is NVIDIA's: Boost's
// program_options, where the first word that is no option begins the program, `--` is no
// terminator, and unambiguous beginnings of option names count (compute-sanitizer 11.8 to 13.0).

#include <string>
#include <vector>

#include "profiler/options.h"
#include "proto/base/result.h"

namespace drgpum::profiler {

// Whether the last --tool before the program is drgpum. Everything else is NVIDIA's business.
bool asks_for_drgpum(const std::vector<std::string>& arguments);

// The words for drgpum-run that mean the same; kInvalidArgument for an option that drgpum has no
// meaning for, with what to use instead where there is something.
Result<std::vector<std::string>> translate_to_run(const std::vector<std::string>& arguments);

// NVIDIA's binary: DRGPUM_REAL_COMPUTE_SANITIZER, else the first compute-sanitizer on PATH that is
// not `own_path` nor one of `front_ends` (links followed), else CUDA_HOME's. "" when there is none.
std::string find_real_compute_sanitizer(const std::string& own_path,
                                        const std::vector<std::string>& front_ends,
                                        const Environment& environment);

}  // namespace drgpum::profiler

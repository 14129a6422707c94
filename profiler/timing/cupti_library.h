// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where libcupti.so.13 may be.

#include <string>
#include <vector>

#include "profiler/options.h"

namespace drgpum::profiler {

// Files to try, best first: DRGPUM_CUPTI_LIB alone when it is set; else in the toolkits on this
// machine. Those that do not exist are left out, but for DRGPUM_CUPTI_LIB.
std::vector<std::string> cupti_library_candidates(const Environment& environment);

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where NVIDIA's libsanitizer-public.so may be.

#include <string>
#include <vector>

#include "profiler/options.h"

namespace drgpum::profiler {

// Files to try, best first: DRGPUM_SANITIZER_LIB alone when it is set; else the toolkit that
// CUDA_HOME or CUDA_PATH names, toolkits under /usr/local, beside `compute-sanitizer` on PATH, and
// Debian's package. Those that do not exist are left out, but for DRGPUM_SANITIZER_LIB.
std::vector<std::string> sanitizer_library_candidates(const Environment& environment);

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#pragma once
// CUDA toolkits on this machine.

#include <string>
#include <string_view>
#include <vector>

#include "profiler/options.h"

namespace drgpum::profiler {

// Root folders, best first: CUDA_HOME, CUDA_PATH, those under /usr/local.
std::vector<std::string> toolkit_roots(const Environment& environment);

// The readable ones among folder + name, each once, in their order. Folders end with '/'.
std::vector<std::string> readable_files(const std::vector<std::string>& folders,
                                        std::string_view name);

}  // namespace drgpum::profiler

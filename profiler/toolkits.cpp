// SPDX-License-Identifier: Apache-2.0
#include "profiler/toolkits.h"

#include <algorithm>

#include <glob.h>
#include <unistd.h>

namespace drgpum::profiler {

std::vector<std::string> toolkit_roots(const Environment& environment) {
  std::vector<std::string> roots;
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = environment(variable); root != nullptr && *root != '\0') {
      roots.emplace_back(root);
    }
  }
  glob_t found{};
  if (glob("/usr/local/cuda*", 0, nullptr, &found) == 0) {
    roots.insert(roots.end(), found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return roots;
}

std::vector<std::string> readable_files(const std::vector<std::string>& folders,
                                        std::string_view name) {
  std::vector<std::string> files;
  for (const std::string& folder : folders) {
    const std::string file = folder + std::string(name);
    const bool known = std::find(files.begin(), files.end(), file) != files.end();
    if (!known && access(file.c_str(), R_OK) == 0) files.push_back(file);
  }
  return files;
}

}  // namespace drgpum::profiler

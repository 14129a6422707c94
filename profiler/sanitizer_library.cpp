// SPDX-License-Identifier: Apache-2.0
#include "profiler/sanitizer_library.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <glob.h>
#include <unistd.h>

namespace drgpum::profiler {
namespace {

constexpr const char* kName = "libsanitizer-public.so";

std::vector<std::string> toolkits_in_usr_local() {
  std::vector<std::string> folders;
  glob_t found{};
  if (glob("/usr/local/cuda*", 0, nullptr, &found) == 0) {
    folders.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  }
  globfree(&found);
  return folders;
}

std::string folder_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

// The folder that a program on PATH really lies in, symbolic links followed; "" when there is none.
std::string real_folder_on_path(const char* path_variable, const std::string& program) {
  std::stringstream folders(path_variable == nullptr ? "" : path_variable);
  std::string folder;
  while (std::getline(folders, folder, ':')) {
    const std::string candidate = folder + "/" + program;
    if (access(candidate.c_str(), X_OK) != 0) continue;
    char* resolved = realpath(candidate.c_str(), nullptr);
    const std::string real = resolved == nullptr ? candidate : resolved;
    std::free(resolved);
    return folder_of(real);
  }
  return "";
}

}  // namespace

std::vector<std::string> sanitizer_library_candidates(const Environment& environment) {
  const char* chosen = environment("DRGPUM_SANITIZER_LIB");
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  std::vector<std::string> folders;
  const auto add_toolkit = [&](const std::string& root) {
    for (const char* sub : {"/compute-sanitizer/", "/extras/Sanitizer/", "/lib/"}) {
      folders.push_back(root + sub);
    }
  };
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const char* root = environment(variable); root != nullptr && *root != '\0') {
      add_toolkit(root);
    }
  }
  for (const std::string& root : toolkits_in_usr_local())
    add_toolkit(root);
  const std::string beside = real_folder_on_path(environment("PATH"), "compute-sanitizer");
  if (!beside.empty()) {
    folders.push_back(beside + "/");
    folders.push_back(beside + "/../compute-sanitizer/");
    folders.push_back(beside + "/../lib/");
  }
  folders.emplace_back("/usr/lib/nvidia-cuda-toolkit/compute-sanitizer/");
  std::vector<std::string> files;
  for (const std::string& folder : folders) {
    const std::string file = folder + kName;
    const bool known = std::find(files.begin(), files.end(), file) != files.end();
    if (!known && access(file.c_str(), R_OK) == 0) files.push_back(file);
  }
  return files;
}

}  // namespace drgpum::profiler

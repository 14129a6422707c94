// SPDX-License-Identifier: Apache-2.0
#include "profiler/sanitizer_library.h"

#include <cstdlib>
#include <sstream>

#include <unistd.h>

#include "profiler/toolkits.h"

namespace drgpum::profiler {
namespace {

constexpr const char* kName = "libsanitizer-public.so";

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
  for (const std::string& root : toolkit_roots(environment)) {
    for (const char* sub : {"/compute-sanitizer/", "/extras/Sanitizer/", "/lib/"}) {
      folders.push_back(root + sub);
    }
  }
  const std::string beside = real_folder_on_path(environment("PATH"), "compute-sanitizer");
  if (!beside.empty()) {
    folders.push_back(beside + "/");
    folders.push_back(beside + "/../compute-sanitizer/");
    folders.push_back(beside + "/../lib/");
  }
  folders.emplace_back("/usr/lib/nvidia-cuda-toolkit/compute-sanitizer/");
  return readable_files(folders, kName);
}

}  // namespace drgpum::profiler

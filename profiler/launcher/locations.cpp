// SPDX-License-Identifier: Apache-2.0
#include "profiler/launcher/locations.h"

#include <sstream>

#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

namespace drgpum::profiler {
namespace {

std::string parent(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

bool is_folder(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode);
}

bool is_file(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

}  // namespace

Locations locations_from(const std::string& program_path) {
  const std::string prefix = parent(parent(parent(program_path)));
  Locations found;
  found.drgpum = prefix + "/bin/drgpum";
  found.run = prefix + "/libexec/drgpum/drgpum-run";
  found.injected_library = prefix + "/lib/drgpum/libdrgpum.so";
  found.emulator = prefix + "/lib/drgpum/emulator";
  const std::string in_build_tree = prefix + "/emulator/lib";
  if (!is_folder(found.emulator) && is_folder(in_build_tree)) found.emulator = in_build_tree;
  return found;
}

std::string own_path() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  return length <= 0 ? "" : std::string(path, static_cast<std::size_t>(length));
}

std::string find_program(const std::string& word, const Environment& environment) {
  if (word.find('/') != std::string::npos) return access(word.c_str(), F_OK) == 0 ? word : "";
  const char* path = environment("PATH");
  std::stringstream folders(path == nullptr ? "/usr/local/bin:/usr/bin:/bin" : path);
  std::string folder, not_executable;
  while (std::getline(folders, folder, ':')) {
    const std::string candidate = (folder.empty() ? "." : folder) + "/" + word;
    if (!is_file(candidate)) continue;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    if (not_executable.empty()) not_executable = candidate;
  }
  return not_executable;
}

}  // namespace drgpum::profiler

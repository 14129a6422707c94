// SPDX-License-Identifier: Apache-2.0
// The places that GDB's manual ("Debugging Information in Separate Files") names.
#include "offline/source/find_debug_file.h"

#include <optional>

#include "offline/source/elf_file.h"

namespace drgpum {
namespace {

constexpr const char* kSystemDebug = "/usr/lib/debug";

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string name_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

bool has_lines(const ElfFile& file) {
  for (const char* section : {".debug_line", ".zdebug_line", ".debug_info", ".zdebug_info"})
    if (file.has_section(section)) return true;
  return false;
}

// The file, if it is there, is ELF and is the recorded one.
std::optional<ElfFile> open_matching(const std::string& path, const std::string& build_id,
                                     std::string& problem) {
  auto file = ElfFile::open(path);
  if (!file) {
    if (problem.empty() || file.error().code != ErrorCode::kNotFound)
      problem = path + ": " + file.error().message;
    return std::nullopt;
  }
  const std::string found = file->build_id();
  if (build_id.empty() || found == build_id) return *std::move(file);
  problem = path + " is another build than the one recorded (build id " +
            (found.empty() ? "none" : found) + ", not " + build_id + ")";
  return std::nullopt;
}

std::vector<std::string> by_build_id(const std::string& build_id,
                                     const std::vector<std::string>& symbol_paths) {
  std::vector<std::string> paths;
  if (build_id.size() < 3) return paths;
  const std::string below =
      "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
  for (const std::string& directory : symbol_paths) {
    paths.push_back(directory + below);
    paths.push_back(directory + "/" + build_id + ".debug");
  }
  paths.push_back(kSystemDebug + below);
  return paths;
}

std::vector<std::string> by_link(const std::string& code, const std::string& name,
                                 const std::vector<std::string>& symbol_paths) {
  const std::string directory = directory_of(code);
  std::vector<std::string> paths{directory + "/" + name, directory + "/.debug/" + name,
                                 kSystemDebug + directory + "/" + name};
  for (const std::string& at : symbol_paths)
    paths.push_back(at + "/" + name);
  return paths;
}

// The debug file that `code` links to: by build id where both have one, else by checksum.
std::string linked_file(const std::string& code, const ElfFile& file,
                        const std::vector<std::string>& symbol_paths) {
  const auto link = file.debug_link();
  if (!link || link->file.find('/') != std::string::npos) return "";
  const std::string build_id = file.build_id();
  for (const std::string& path : by_link(code, link->file, symbol_paths)) {
    if (path == code) continue;
    const auto found = ElfFile::open(path);
    if (!found || !has_lines(*found)) continue;
    const std::string other = found->build_id();
    if (!build_id.empty() && !other.empty() ? build_id == other : file_crc32(path) == link->crc)
      return path;
  }
  return "";
}

}  // namespace

DebugFiles find_debug_files(const std::string& path, const std::string& build_id,
                            const std::vector<std::string>& symbol_paths,
                            const std::string& debug_file) {
  DebugFiles files;
  std::optional<ElfFile> code = open_matching(path, build_id, files.problem);
  if (code) files.code = path;
  for (const std::string& directory : symbol_paths) {
    if (code) break;
    const std::string candidate = directory + "/" + name_of(path);
    if (!(code = open_matching(candidate, build_id, files.problem))) continue;
    files.code = candidate;
  }
  if (code) files.problem.clear();
  if (code && has_lines(*code)) {
    files.lines = files.code;
    return files;
  }
  const std::string id = build_id.empty() && code ? code->build_id() : build_id;
  std::vector<std::string> candidates = by_build_id(id, symbol_paths);
  if (!debug_file.empty()) candidates.push_back(debug_file);
  for (const std::string& candidate : candidates) {
    std::string ignored;
    const auto found = open_matching(candidate, id, ignored);
    if (!found || !has_lines(*found)) continue;
    files.lines = candidate;
    return files;
  }
  if (code) files.lines = linked_file(files.code, *code, symbol_paths);
  if (files.lines.empty() && files.problem.empty())
    files.problem =
        "has no line information: compile with -g, or give its debug file with "
        "--symbol-path";
  return files;
}

}  // namespace drgpum

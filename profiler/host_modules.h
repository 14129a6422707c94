// SPDX-License-Identifier: Apache-2.0
#pragma once
// The ELF files mapped into the program, followed through dlopen and dlclose without interposing
// either: the dynamic linker counts both, and dl_iterate_phdr tells the counts.

#include <cstdint>
#include <string>
#include <vector>

#include "proto/base/strong_id.h"

namespace drgpum::profiler {

enum class FrameKind : std::uint8_t {
  kProgram,  // the program's own code, and libraries that are not ours to hide
  kCuda,     // the tool, the CUDA runtime and driver, the Sanitizer library
  kLibc,     // glibc: start-up code at the outer end of every path
};

struct HostModule {
  ModuleId id;
  std::string path;
  std::string build_id;     // lower-case hex, or empty
  std::uint64_t begin = 0;  // mapped addresses [begin, end)
  std::uint64_t end = 0;
  std::uint64_t load_bias = 0;
  FrameKind kind = FrameKind::kProgram;
};

struct ModuleChanges {
  std::vector<HostModule> loaded;
  std::vector<ModuleId> unloaded;
};

FrameKind kind_of_file(const std::string& path);

// Not thread-safe. Takes the dynamic linker's lock for a short while.
class HostModules {
 public:
  // What came and went since the last call; cheap when nothing did.
  ModuleChanges refresh();

  [[nodiscard]] const HostModule* find(std::uint64_t address) const;
  [[nodiscard]] FrameKind kind_of(std::uint64_t address) const;

 private:
  std::vector<HostModule> modules_;  // sorted by begin
  std::uint64_t loads_ = 0;          // the dynamic linker's counts at the last look
  std::uint64_t unloads_ = 0;
  std::uint32_t next_id_ = 0;
};

}  // namespace drgpum::profiler

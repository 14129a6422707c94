// SPDX-License-Identifier: Apache-2.0
#pragma once
// Lines that were found once, kept by the module's build id, so that a second report need not read
// the debug information again.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "offline/source/dwarf_lines.h"

namespace drgpum {

// Frames by virtual address of the file.
using CachedFrames = std::map<std::uint64_t, std::vector<AddressFrame>>;

class SymbolCache {
 public:
  // Of what a program found that this one would find otherwise.
  enum class Older : std::uint8_t { kForgotten, kTaken };
  // An empty directory: nothing is read or kept.
  explicit SymbolCache(std::string directory, Older older = Older::kForgotten)
      : directory_(std::move(directory)), older_(older) {}

  // What is known of a module; a file that is damaged, of another format, another user's or one
  // that others may write counts as none.
  [[nodiscard]] CachedFrames read(const std::string& build_id) const;
  // Replaces what was kept, whole or not at all; a failure costs only the next report's time.
  void write(const std::string& build_id, const CachedFrames& frames) const;

 private:
  [[nodiscard]] std::string path_of(const std::string& build_id) const;
  std::string directory_;
  Older older_;
};

// What lines that travel with a trace are kept under: the build id, or a sum of the path.
std::string lines_key(const std::string& build_id, const std::string& path);

// DRGPUM_CACHE_DIR, else XDG_CACHE_HOME/drgpum, else HOME/.cache/drgpum; empty without any, or when
// DRGPUM_CACHE_DIR is set and empty.
std::string default_cache_directory();

}  // namespace drgpum

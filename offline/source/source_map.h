// SPDX-License-Identifier: Apache-2.0
#pragma once
// The source lines of a trace's host call paths.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "offline/trace/trace.h"

namespace drgpum {

// Strings live in the SourceMap.
struct PathFrame {
  std::string_view function;  // demangled; a module's name and offset where nothing is known
  std::string_view file;      // empty: not known
  std::uint32_t line = 0;
  bool inlined = false;  // into the frame that follows
  bool of_framework = false;  // of a frame that came with its line: is_framework_frame()
};

struct PathFrames {
  std::vector<PathFrame> frames;  // innermost first
  // The place of the allocation, or of another call: the first frame outside functions that only
  // wrap it. frames.size() when there are no frames.
  std::size_t site = 0;
};

// What became of one host module that call paths go through.
struct ModuleNote {
  std::string path;
  std::uint64_t addresses = 0;
  std::uint64_t with_lines = 0;
  std::string problem;  // empty: nothing is amiss
};

struct SourceOptions {
  std::vector<std::string> symbol_paths;  // where modules and their debug files may also be
  std::string cache_directory;            // see symbol_cache.h; empty: nothing is kept
  std::string bundled_directory;  // lines that came with the trace, by lines_key(); empty: none
  std::string keep_directory;     // where such lines are to be left; empty: nowhere
  bool debuginfod = false;        // ask servers for debug files that are not here
  bool full_stacks = false;       // also frames of system libraries, headers and program start
  std::function<void(std::string_view module)> progress;
};

class SourceMap {
 public:
  [[nodiscard]] const PathFrames& path(CallPathId id) const;  // of an unknown id: no frames
  [[nodiscard]] std::span<const ModuleNote> modules() const { return modules_; }

 private:
  friend class PathResolver;
  std::unordered_map<std::uint32_t, PathFrames> paths_;
  std::vector<ModuleNote> modules_;
  std::unordered_map<std::string, int> strings_;  // nodes never move
};

// Reads the modules that the trace names, in limited children: bad files cost their lines, not the
// process. A module that is not there, or is another build, is noted.
SourceMap resolve_sources(const Trace& trace, const SourceOptions& options);

}  // namespace drgpum

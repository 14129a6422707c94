// SPDX-License-Identifier: Apache-2.0
#pragma once
// Functions, lines and inline chains of addresses in one ELF file, in limited children, so that no
// file can harm the caller.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "offline/source/dwarf_lines.h"
#include "offline/source/limited_child.h"

namespace drgpum {

struct ModuleRequest {
  std::string path;
  std::string build_id;                   // recorded; empty: any file at `path` will do
  std::vector<std::uint64_t> addresses;   // virtual addresses of the file, rising, none twice
  std::vector<std::string> symbol_paths;  // directories to look for the file and its debug file in
  std::string debug_file;  // to be tried where the module has no lines; empty: none
};

struct ModuleLines {
  // By address as in the request, innermost first; empty where nothing was found. Functions are
  // demangled; without line information they come from the symbol table, with no file.
  std::vector<std::vector<AddressFrame>> frames;
  std::string lines_from;  // the file that had the line information; empty: none did
  std::string problem;     // why lines are missing, for a person; empty: nothing is amiss
};

ModuleLines symbolize_module(const ModuleRequest& request, const ChildLimits& limits);

// Limits that fit the file: 10 s, and more for files over 100 MiB.
ChildLimits limits_for(const std::string& path);

}  // namespace drgpum

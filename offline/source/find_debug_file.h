// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the code and the line information of a recorded module are on this machine.

#include <string>
#include <vector>

#include "proto/base/result.h"

namespace drgpum {

struct DebugFiles {
  std::string code;     // the module itself, or empty when only its debug file was found
  std::string lines;    // the file with .debug_info or .debug_line; may be `code`; empty: none
  std::string problem;  // why `lines` is empty or `code` was refused
};

// Looks, in this order, at: `path`; in each of `symbol_paths` the file's name and
// .build-id/ab/cdef....debug; /usr/lib/debug/.build-id; the module's .gnu_debuglink beside it, in
// .debug/ beside it, below /usr/lib/debug; `debug_file`, when it is not empty. A file with another build id than the recorded one is
// refused. Reads ELF files: to be used in a limited child only.
DebugFiles find_debug_files(const std::string& path, const std::string& build_id,
                            const std::vector<std::string>& symbol_paths,
                            const std::string& debug_file = "");

}  // namespace drgpum

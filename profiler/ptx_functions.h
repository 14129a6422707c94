// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where the instructions of PTX functions stand in their text.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drgpum::profiler {

struct PtxFunction {
  std::string name;                  // mangled
  std::vector<std::uint32_t> lines;  // of each instruction in order, from 1
};

// Entries and functions with a body, in the text's order; of equal names the first. Declarations,
// labels and directives are no instructions. Never fails: what is not understood is skipped.
std::vector<PtxFunction> functions_in_ptx(std::string_view text);

}  // namespace drgpum::profiler

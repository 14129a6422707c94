// SPDX-License-Identifier: Apache-2.0
#pragma once
// The global variables of a device module, as its image names them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace drgpum::profiler {

struct ModuleGlobal {
  std::string name;  // mangled
  std::uint64_t size = 0;
  bool is_constant = false;  // in .const: kernels read it without the tool seeing it
};

// Of PTX text: variables in .global and .const space, in the order of their declarations; those
// declared elsewhere (.extern) are left out. Machine code lays variables out in one block for which
// the driver tells one allocation, so none is named for it.
std::vector<ModuleGlobal> globals_in_ptx(std::string_view image);

// Which of `globals` belong to allocations of `sizes`, told in the same order: for each size, the
// index of a variable of exactly that size that is not taken yet; else globals.size().
std::vector<std::size_t> match_globals(const std::vector<ModuleGlobal>& globals,
                                       const std::vector<std::uint64_t>& sizes);

}  // namespace drgpum::profiler

// SPDX-License-Identifier: Apache-2.0
#pragma once
// A line of device code that touched an object.

#include <cstdint>
#include <string>

namespace drgpum {

struct AccessLine {
  std::string kernel;    // the function that holds the instructions, demangled
  std::string function;  // the one whose line it is: inlined into `kernel`, or that; demangled
  std::string file;      // empty: not known
  std::uint32_t line = 0;
  std::uint64_t reads = 0;  // by lanes; an atomic counts in both
  std::uint64_t writes = 0;
  std::uint64_t launches = 0;  // in which the instruction that ran in most touched the object
};

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the program says that it is doing: NVTX ranges, the phases of drgpum.h, annotations of a
// snapshot.

#include <cstdint>
#include <vector>

#include "offline/order/evidence.h"

namespace drgpum {

// Calls [begin, end), from the mark that begins it to the one that ends it.
struct Phase {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint32_t name = 0;    // in the evidence's names
  std::uint32_t row = 0;     // no two of a row overlap; what lies within another is in a later row
  std::uint16_t thread = 0;  // each has rows of its own
};

// By rising begin. An end with a name closes the latest open phase of that name, of any thread;
// one without the innermost of its thread (NVTX push and pop); one that closes nothing is dropped.
// What nothing closes lasts to the end of the trace.
std::vector<Phase> phases_of(const Evidence& evidence);

}  // namespace drgpum

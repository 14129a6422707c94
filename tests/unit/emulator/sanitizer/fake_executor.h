// SPDX-License-Identifier: Apache-2.0
#pragma once
// Stands in for the executor: keeps what patches are called with, as text, and lets a test say
// what memory a warp sees. A test program links this or the real executor.

#include <string>

#include "emulator/exec/executor.h"

namespace drgpum::emulator::exec {

class WarpContext {
 public:
  AddressSpace* memory = nullptr;
  std::string calls;  // "name(lane-0 arguments ...) mask\n"
};

}  // namespace drgpum::emulator::exec

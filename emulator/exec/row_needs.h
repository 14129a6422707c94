// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an instruction or a type asks of the rows it uses.

#include "emulator/ptx/program.h"

namespace drgpum::emulator::exec {

// Instructions that may stop the warp or move lanes: guards become branches around them.
bool transfers_control(const ptx::Instruction& instruction);
// Bytes of one lane in a register row: 8-bit registers take two; 0 for predicates.
unsigned row_bytes(ptx::Type type);

}  // namespace drgpum::emulator::exec

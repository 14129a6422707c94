// SPDX-License-Identifier: Apache-2.0
#pragma once
// A Program back to PTX text.

#include <string>

#include "emulator/ptx/program.h"

namespace drgpum::emulator::ptx {

// Text that parse() reads back to the same program, but for blocks' nesting, label names, what
// parse() drops, and functions without a body, which come first. Labels are $LBL_<instruction>,
// tables of labels $TBL_<index>.
std::string to_text(const Program& program);
std::string to_text(const Program& program, const Function& function);

// One instruction as it stands in the text, without location and label; for messages.
std::string to_text(const Function& function, const Instruction& instruction);

}  // namespace drgpum::emulator::ptx

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Declarations of variables and parameters. Source: PTX ISA 9.0, chapter 5.

#include <vector>

#include "emulator/ptx/cursor.h"
#include "emulator/ptx/program.h"

namespace drgpum::emulator::ptx {

// The word of a state space stands at the cursor: .global .align 4 .u32 a[2] = {1, 2}, b;
void parse_variables(Cursor& cursor, Linkage linkage, std::vector<Variable>& variables);

// "(" .param ... ")" with offsets by the layout rules; returns the bytes of the whole buffer.
std::uint32_t parse_parameters(Cursor& cursor, std::vector<Parameter>& parameters);

}  // namespace drgpum::emulator::ptx

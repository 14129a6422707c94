// SPDX-License-Identifier: Apache-2.0
#pragma once
// PTX text to its typed form. Source: PTX ISA 9.0.

#include <string_view>

#include "emulator/ptx/program.h"
#include "proto/base/result.h"

namespace drgpum::emulator::ptx {

// `text` may end in NULs, as in a fatbin. Unknown opcodes are kept as kOther. Names of other
// functions and of module variables stay kUnresolved until link(). The error is one line,
// "name:line:column: what, found 'token'".
Result<Program> parse(std::string_view text, std::string_view name = "ptx");

}  // namespace drgpum::emulator::ptx

// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a linked program keeps the rules that the executor relies on.

#include "emulator/ptx/program.h"
#include "proto/base/result.h"

namespace drgpum::emulator::ptx {

// Number and kind of operands, widths and classes of registers against instruction types (PTX ISA
// 9.0, 9.5), labels inside the function, predicates as guards, calls against the called function's
// parameters. Opcodes without a signature (signature.h) are taken as they are. The error is one
// line: "name: function f, line 12: 'add.s32 %r1, %p1, 1;': what".
Status verify(const Program& program);

}  // namespace drgpum::emulator::ptx

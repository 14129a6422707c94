// SPDX-License-Identifier: Apache-2.0
#pragma once
// Joins the PTX texts of one module (-rdc) into one program with one symbol table.

#include <vector>

#include "emulator/ptx/program.h"
#include "proto/base/result.h"

namespace drgpum::emulator::ptx {

// Also one text has to pass here: it settles the Symbols that parse() left kUnresolved. Visible
// definitions beat weak ones, weak ones common ones; of equals the first stands, of common ones the
// largest. Names without linkage stay apart: from the second unit on they get "$<unit>" where they
// would collide. Functions that only the device runtime has (vprintf, malloc, __assertfail ...)
// stay without a body; .extern .shared arrays stay as they are. Accesses without a state space to a
// named variable get that variable's. Errors name the symbol and unit.
Result<Program> link(std::vector<Program> units);

}  // namespace drgpum::emulator::ptx

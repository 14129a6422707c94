// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions that CUDA's device runtime provides without PTX of their own.

#include <string>
#include <string_view>

#include "emulator/exec/block.h"

namespace drgpum::emulator::exec {

// kUnresolved for names that nothing provides: calling one is a fault.
Builtin builtin_named(std::string_view name);

const Op* call_builtin(WarpContext& warp, const Op* op, const CallSite& site);

// Formats one printf call as CUDA does. `arguments` reads the next argument: 4 bytes for integers
// below 64 bits, else 8; `text` reads a string of the device.
struct PrintfSource {
  virtual ~PrintfSource() = default;
  virtual std::uint64_t next(unsigned bytes) = 0;
  virtual std::string text(std::uint64_t address) = 0;
};
// Returns how many arguments were converted.
int format_printf(std::string_view format, PrintfSource& source, std::string& out);

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
#pragma once
// The whole way from PTX texts to a program with blocks, as the emulated device goes it.

#include <span>
#include <string_view>
#include <vector>

#include "emulator/ptx/control_flow.h"
#include "emulator/ptx/linker.h"
#include "emulator/ptx/parser.h"
#include "emulator/ptx/verifier.h"

namespace drgpum::emulator::ptx {

inline Result<Program> load_texts(const std::vector<std::string_view>& texts) {
  std::vector<Program> units;
  for (const std::string_view text : texts) {
    ASSIGN_OR_RETURN(Program unit, parse(text, "text"));
    units.push_back(std::move(unit));
  }
  ASSIGN_OR_RETURN(Program program, link(std::move(units)));
  RETURN_IF_ERROR(verify(program));
  for (Function& function : program.functions)
    analyze_control_flow(function);
  return program;
}

}  // namespace drgpum::emulator::ptx

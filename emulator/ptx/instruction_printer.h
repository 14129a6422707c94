// SPDX-License-Identifier: Apache-2.0
#pragma once
// How constants look in PTX text.

#include <cstdint>
#include <string>

#include "emulator/ptx/program.h"

namespace drgpum::emulator::ptx {

// 0f3F800000 for f32, 0d... for f64, an unsigned decimal number for every other type.
std::string constant_text(std::uint64_t bits, Type type);

}  // namespace drgpum::emulator::ptx

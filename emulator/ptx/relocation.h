// SPDX-License-Identifier: Apache-2.0
#pragma once
// Addresses inside the initial values of variables.

#include <bit>
#include <cstdint>

#include "emulator/ptx/program.h"

namespace drgpum::emulator::ptx {

// What to store, in the low Relocation::size bytes, once the symbol's address is known: the bits
// that the mask selects, moved down to bit 0 (0xFF00(symbol) is the second byte of the address).
inline std::uint64_t value_of(const Relocation& relocation, std::uint64_t address) {
  const std::uint64_t sum = address + static_cast<std::uint64_t>(relocation.addend);
  return relocation.mask == 0 ? 0 : (sum & relocation.mask) >> std::countr_zero(relocation.mask);
}

}  // namespace drgpum::emulator::ptx

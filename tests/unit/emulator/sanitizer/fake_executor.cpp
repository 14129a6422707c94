// SPDX-License-Identifier: Apache-2.0
// Writes calls down.
#include "tests/unit/emulator/sanitizer/fake_executor.h"

namespace drgpum::emulator::exec {

std::array<std::uint32_t, 32> call_device_function(
    WarpContext& warp, const Executable& executable, std::uint32_t function, std::uint32_t mask,
    std::span<const std::array<std::uint64_t, 32>> arguments) {
  warp.calls += executable.program().functions[function].name;
  for (const auto& argument : arguments)
    warp.calls += ' ' + std::to_string(argument[0]);
  warp.calls += " mask " + std::to_string(mask) + '\n';
  return {};
}

WarpPlace place_of(const WarpContext&) {
  return {};
}

AddressSpace& memory_of(const WarpContext& warp) {
  return *warp.memory;
}

}  // namespace drgpum::emulator::exec

// SPDX-License-Identifier: Apache-2.0
// Static facts of functions.

#include "emulator/machine/module.h"

#include <algorithm>

namespace drgpum::emulator {

const ptx::Function& Function::code() const {
  return module->image.program->functions[index];
}

std::uint32_t Function::static_shared() const {
  return module->executable->static_shared_bytes(index);
}

std::uint32_t Function::registers() const {
  return module->executable->registers(index);
}

std::uint32_t Function::local() const {
  return module->executable->local_bytes(index);
}

int Function::max_threads(int device_limit) const {
  const auto volume = [](const std::uint32_t(&extent)[3]) {
    return extent[0] == 0
               ? 0
               : static_cast<int>(extent[0] * std::max(extent[1], 1u) * std::max(extent[2], 1u));
  };
  for (const int stated : {volume(code().required_threads), volume(code().max_threads)})
    if (stated != 0) return std::min(stated, device_limit);
  return device_limit;
}

}  // namespace drgpum::emulator

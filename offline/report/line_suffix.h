// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace drgpum {

// ":12" behind the name of a file; nothing for line 0: not known.
inline std::string line_suffix(std::uint32_t line) {
  return line == 0 ? std::string() : ":" + std::to_string(line);
}

}  // namespace drgpum

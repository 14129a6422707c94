// SPDX-License-Identifier: Apache-2.0
#pragma once
// A line of source code as a terminal can show it.

#include <cstddef>
#include <string>
#include <string_view>

namespace drgpum {

// Tabs as blanks, control bytes made visible, cut at `columns` (counted in code points).
std::string code_text(std::string_view line, std::size_t columns);

}  // namespace drgpum

// SPDX-License-Identifier: Apache-2.0
#pragma once
// What libdwarf's version 20210528 gets wrong in line programs of DWARF 5: it lets each sequence
// begin with file 0, the standard (6.2.2) with file 1.

#include <cstdint>
#include <span>
#include <vector>

namespace drgpum {

// For each row of the program at `offset` of .debug_line, in its order: whether no instruction of
// its sequence named a file before it. Empty: the program is not of DWARF 5, or damaged.
std::vector<bool> rows_of_first_file(std::span<const std::uint8_t> section, std::uint64_t offset);

}  // namespace drgpum

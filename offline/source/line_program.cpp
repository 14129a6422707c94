// SPDX-License-Identifier: Apache-2.0
#include "offline/source/line_program.h"

#include <libdwarf/dwarf.h>

#include "offline/source/byte_cursor.h"

namespace drgpum {
namespace {

constexpr std::uint32_t kLongLength = 0xffffffff;

struct Program {
  ByteCursor instructions{{}};
  std::vector<std::uint8_t> operands;  // of each standard opcode from 1
};

Program program_at(std::span<const std::uint8_t> section, std::uint64_t offset) {
  Program program;
  if (offset >= section.size()) return program;
  ByteCursor at(section, static_cast<std::size_t>(offset));
  std::uint64_t length = at.take<std::uint32_t>();
  const bool is_long = length == kLongLength;
  if (is_long) length = at.take<std::uint64_t>();
  ByteCursor unit = at.part(length);
  if (unit.take<std::uint16_t>() != 5) return program;
  unit.skip(2);  // sizes of addresses and segments
  const std::uint64_t header_bytes =
      is_long ? unit.take<std::uint64_t>() : unit.take<std::uint32_t>();
  ByteCursor header = unit.part(header_bytes);
  header.skip(5);  // of instructions, operations and lines
  const auto first_special = header.take<std::uint8_t>();
  for (unsigned opcode = 1; opcode < first_special; ++opcode)
    program.operands.push_back(header.take<std::uint8_t>());
  if (!header.failed() && first_special > 0) program.instructions = unit;
  return program;
}

}  // namespace

std::vector<bool> rows_of_first_file(std::span<const std::uint8_t> section, std::uint64_t offset) {
  Program program = program_at(section, offset);
  ByteCursor& at = program.instructions;
  std::vector<bool> rows;
  bool is_first = true;
  while (!at.done()) {
    const auto opcode = at.take<std::uint8_t>();
    if (opcode > program.operands.size() || opcode == DW_LNS_copy) {
      rows.push_back(is_first);
    } else if (opcode == DW_LNS_set_file) {
      at.take_uleb();
      is_first = false;
    } else if (opcode == DW_LNS_fixed_advance_pc) {
      at.skip(2);
    } else if (opcode == 0) {
      ByteCursor extended = at.part(at.take_uleb());
      if (extended.take<std::uint8_t>() != DW_LNE_end_sequence) continue;
      rows.push_back(is_first);
      is_first = true;
    } else {
      for (std::uint8_t left = program.operands[opcode - 1]; left > 0; --left)
        at.take_uleb();
    }
  }
  if (at.failed()) rows.clear();
  return rows;
}

}  // namespace drgpum

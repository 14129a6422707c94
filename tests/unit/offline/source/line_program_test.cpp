// SPDX-License-Identifier: Apache-2.0
// Which rows of a line program are of the file that a sequence begins with.
#include "offline/source/line_program.h"

#include <algorithm>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <libdwarf/dwarf.h>

namespace drgpum {
namespace {

using Bytes = std::vector<std::uint8_t>;

// After four bytes of another unit: a header of `version` with 10 standard opcodes, then the program.
Bytes section(std::uint8_t version, const Bytes& program) {
  const Bytes header{1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1};
  const auto header_bytes = static_cast<std::uint8_t>(header.size());
  const auto length = static_cast<std::uint8_t>(2 + 2 + 4 + header.size() + program.size());
  Bytes bytes{9, 9, 9, 9, length, 0, 0, 0, version, 0, 8, 0, header_bytes, 0, 0, 0};
  std::copy(header.begin(), header.end(), std::back_inserter(bytes));
  std::copy(program.begin(), program.end(), std::back_inserter(bytes));
  return bytes;
}

std::string text_of(const std::vector<bool>& rows) {
  std::string text;
  for (const bool row : rows)
    text += row ? '1' : '.';
  return text;
}

const Bytes kProgram{0, 9, DW_LNE_set_address, 1, 2, 3, 4, 5, 6, 7, 8,
                     DW_LNS_advance_pc, 0x80, 1,
                     DW_LNS_copy, 200,
                     DW_LNS_set_file, 2,
                     DW_LNS_fixed_advance_pc, DW_LNS_copy, DW_LNS_copy,
                     200, DW_LNS_negate_stmt, 201,
                     0, 1, DW_LNE_end_sequence,
                     100,
                     0, 1, DW_LNE_end_sequence};

TEST(LineProgramTest, FilesThatWereNotNamedAreToldApart) {
  EXPECT_EQ(text_of(rows_of_first_file(section(5, kProgram), 4)), "11...11");
}

TEST(LineProgramTest, OtherVersionsAndDamageGiveNothing) {
  const Bytes good = section(5, kProgram);
  EXPECT_TRUE(rows_of_first_file(section(4, kProgram), 4).empty());
  EXPECT_TRUE(rows_of_first_file(good, good.size()).empty());
  for (std::size_t size = 0; size < good.size(); ++size)
    EXPECT_TRUE(rows_of_first_file(std::span(good).first(size), 4).empty()) << size;
}

}  // namespace
}  // namespace drgpum

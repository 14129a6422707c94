// SPDX-License-Identifier: Apache-2.0
// Every kind of entry of a range list, and lists that are cut or lead nowhere.
#include "offline/source/range_lists.h"

#include <string>

#include <gtest/gtest.h>

namespace drgpum {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::optional<std::uint64_t> address_at(std::uint64_t index) {
  if (index >= 4) return std::nullopt;
  return 0x1000 * (index + 1);
}

void append_word(Bytes& bytes, std::uint64_t value, int size) {
  for (int k = 0; k < size; ++k)
    bytes.push_back(static_cast<std::uint8_t>(value >> 8 * k));
}

// A table of one list.
Bytes with_header(const Bytes& list) {
  Bytes bytes;
  append_word(bytes, 8 + 4 + list.size(), 4);
  append_word(bytes, 5, 2);
  bytes.push_back(8);
  bytes.push_back(0);
  append_word(bytes, 1, 4);
  append_word(bytes, 4, 4);
  bytes.insert(bytes.end(), list.begin(), list.end());
  return bytes;
}

std::string text_of(const Bytes& bytes, std::uint64_t index = 0) {
  std::string text;
  for (const AddressRange& range : RangeLists(bytes).list(index, 0x100, address_at))
    text += std::to_string(range.begin) + "-" + std::to_string(range.end) + " ";
  return text;
}

TEST(RangeListsTest, EveryKindOfEntry) {
  Bytes list{DW_RLE_offset_pair,   1, 5,        // from the unit's address
             DW_RLE_base_addressx, 1,           // 0x2000
             DW_RLE_offset_pair,   0, 0x80, 2,  // 256 long
             DW_RLE_startx_endx,   0, 1,
             DW_RLE_startx_length, 2, 16,
             DW_RLE_startx_length, 9, 16};  // has no address
  list.push_back(DW_RLE_base_address);
  append_word(list, 0x10000, 8);
  list.insert(list.end(), {DW_RLE_offset_pair, 1, 2, DW_RLE_start_end});
  append_word(list, 7, 8);
  append_word(list, 9, 8);
  list.push_back(DW_RLE_start_length);
  append_word(list, 20, 8);
  list.insert(list.end(), {3, DW_RLE_offset_pair, 4, 4, DW_RLE_end_of_list, DW_RLE_offset_pair, 1, 2});
  EXPECT_EQ(text_of(with_header(list)),
            "257-261 8192-8448 4096-8192 12288-12304 65537-65538 7-9 20-23 ");
}

TEST(RangeListsTest, WhatIsNotThereHasNoRanges) {
  const Bytes good = with_header({DW_RLE_offset_pair, 1, 5, DW_RLE_end_of_list});
  EXPECT_EQ(text_of(good), "257-261 ");
  EXPECT_EQ(text_of(good, 1), "");
  EXPECT_EQ(text_of(good, ~std::uint64_t{0}), "");
  EXPECT_EQ(text_of({}), "");
  for (std::size_t size = 0; size < good.size() - 1; ++size)
    EXPECT_EQ(text_of(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size))), "")
        << size;
  EXPECT_EQ(text_of(with_header({99, 1, 2})), "");
}

}  // namespace
}  // namespace drgpum

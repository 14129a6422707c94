// SPDX-License-Identifier: Apache-2.0
#include "offline/source/range_lists.h"

#include "offline/source/byte_cursor.h"

namespace drgpum {
namespace {

constexpr std::uint32_t kLongLength = 0xffffffff;
constexpr std::size_t kMostRanges = 1'000'000;

// Where the list begins, in the part; beyond its end where there is no such list.
std::uint64_t beginning(std::span<const std::uint8_t> bytes, std::uint64_t index) {
  ByteCursor header(bytes);
  const bool is_long = header.take<std::uint32_t>() == kLongLength;
  const std::size_t offset_bytes = is_long ? 8 : 4;
  const std::size_t table = (is_long ? 12 : 4) + 2 + 1 + 1 + 4;  // after lengths, version and sizes
  const auto count = ByteCursor(bytes, std::min(table - 4, bytes.size())).take<std::uint32_t>();
  if (index >= count || table + (index + 1) * offset_bytes > bytes.size()) return bytes.size();
  ByteCursor entry(bytes, table + static_cast<std::size_t>(index) * offset_bytes);
  return table + (is_long ? entry.take<std::uint64_t>() : entry.take<std::uint32_t>());
}

}  // namespace

std::vector<AddressRange> RangeLists::list(std::uint64_t index, std::uint64_t base,
                                           const AddressAt& address_at) const {
  std::vector<AddressRange> ranges;
  const std::uint64_t begin = beginning(bytes_, index);
  if (begin >= bytes_.size()) return ranges;
  ByteCursor entries(bytes_, static_cast<std::size_t>(begin));
  const auto add = [&](std::optional<std::uint64_t> from, std::optional<std::uint64_t> to) {
    if (from && to && *from < *to) ranges.push_back({*from, *to});
  };
  const auto after = [](std::optional<std::uint64_t> from, std::uint64_t length) {
    return from ? std::optional(*from + length) : from;
  };
  while (!entries.failed() && ranges.size() < kMostRanges) {
    switch (entries.take<std::uint8_t>()) {
      case DW_RLE_base_addressx:
        base = address_at(entries.take_uleb()).value_or(0);
        break;
      case DW_RLE_startx_endx: {
        const auto from = address_at(entries.take_uleb());
        add(from, address_at(entries.take_uleb()));
        break;
      }
      case DW_RLE_startx_length: {
        const auto from = address_at(entries.take_uleb());
        add(from, after(from, entries.take_uleb()));
        break;
      }
      case DW_RLE_offset_pair: {
        const std::uint64_t from = base + entries.take_uleb();
        add(from, base + entries.take_uleb());
        break;
      }
      case DW_RLE_base_address:
        base = entries.take<std::uint64_t>();
        break;
      case DW_RLE_start_end: {
        const auto from = entries.take<std::uint64_t>();
        add(from, entries.take<std::uint64_t>());
        break;
      }
      case DW_RLE_start_length: {
        const auto from = entries.take<std::uint64_t>();
        add(from, from + entries.take_uleb());
        break;
      }
      default:  // the end of the list, or what the standard does not know
        return ranges;
    }
  }
  return ranges;
}

}  // namespace drgpum

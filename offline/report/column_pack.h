// SPDX-License-Identifier: Apache-2.0
#pragma once
// Columns of whole numbers as bytes, which a browser reads a million of in a tenth of a second; and
// bytes in pieces that each cross a connection on their own.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "offline/report/json_writer.h"

namespace drgpum {

// A column is, for each value, its difference from the one before (modulo 2^64), zigzagged
// (0, -1, 1, -2 to 0, 1, 2, 3), in groups of seven bits, lowest first, the eighth bit set where
// more follow (as protocol buffers' sint64).
class ColumnPack {
 public:
  // Appends a column and writes its place: {"at", "bytes", "count"}.
  template <typename Value>
  void write(std::size_t count, JsonWriter& json, Value value) {
    const std::size_t at = bytes_.size();
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto now = static_cast<std::uint64_t>(value(static_cast<std::uint32_t>(i)));
      append(now - before);
      before = now;
    }
    json.begin_object();
    json.field("at", at);
    json.field("bytes", bytes_.size() - at);
    json.field("count", count);
    json.end_object();
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void append(std::uint64_t difference) {
    const bool negative = (difference >> 63) != 0;
    std::uint64_t left = difference << 1 ^ (negative ? ~std::uint64_t{0} : 0);
    for (; left >= 128; left >>= 7)
      bytes_ += static_cast<char>(left | 128);
    bytes_ += static_cast<char>(left);
  }

  std::string bytes_;
};

// Of a piece before it is deflated: what crosses a connection at once stays below 1 MiB.
inline constexpr std::size_t kPieceBytes = 1'000'000;

// The length of `head` in four bytes, lowest first, then `head`, then `columns`.
std::string container_of(std::string_view head, std::string_view columns);
// Deflated whole (RFC 1951).
std::string deflated(std::string_view bytes);
// Cut into pieces of kPieceBytes, each deflated by itself.
std::vector<std::string> deflated_pieces(std::string_view bytes);

}  // namespace drgpum

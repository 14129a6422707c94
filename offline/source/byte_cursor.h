// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads little-endian numbers off untrusted bytes. Past the end it reads zeros and says so.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

namespace drgpum {

class ByteCursor {
 public:
  explicit ByteCursor(std::span<const std::uint8_t> bytes, std::size_t at = 0)
      : bytes_(bytes), at_(at) {
    if (at > bytes.size()) fail();
  }

  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool done() const { return failed_ || at_ >= bytes_.size(); }
  [[nodiscard]] std::size_t position() const { return at_; }

  template <typename T>
  T take() {
    T value{};
    if (bytes_.size() - at_ < sizeof value) return fail(), value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::uint64_t take_uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !done(); shift += 7) {
      const auto byte = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
    fail();
    return 0;
  }
  std::int64_t take_sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; !done();) {
      const auto byte = take<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if (byte >= 0x80) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
    fail();
    return 0;
  }
  // Up to a zero byte, which is taken too.
  std::string_view take_text() {
    const char* begin = reinterpret_cast<const char*>(bytes_.data()) + at_;
    const std::size_t left = bytes_.size() - at_;
    const void* zero = left == 0 ? nullptr : std::memchr(begin, 0, left);
    if (zero == nullptr) return fail(), std::string_view();
    const auto length = static_cast<std::size_t>(static_cast<const char*>(zero) - begin);
    at_ += length + 1;
    return {begin, length};
  }
  // The next `size` bytes as a cursor of their own.
  ByteCursor part(std::uint64_t size) {
    if (size > bytes_.size() - at_) return fail(), ByteCursor({});
    const ByteCursor inner(bytes_.subspan(at_, static_cast<std::size_t>(size)));
    at_ += static_cast<std::size_t>(size);
    return inner;
  }
  void skip(std::uint64_t size) { static_cast<void>(part(size)); }

 private:
  void fail() {
    failed_ = true;
    at_ = bytes_.size();
  }
  std::span<const std::uint8_t> bytes_;
  std::size_t at_;
  bool failed_ = false;
};

}  // namespace drgpum
